"""A tree of messages, as other products keep them, becomes messages and turns as we do.

Theirs have messages that nobody sees, parents that are missing, replies that fork in the middle. Ours: each question
begins a turn, a reply is a chain below its question, and a fork of it is another attempt to answer.
"""

import heapq
import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from conversations.blocks import Block
from conversations.transfer.incoming.limits import LIMITS, Limits, Unfit
from conversations.transfer.incoming.values import NewMessage, NewTurn, Role

UNANSWERED = {"error_code": "not_in_file"}

MOST_THOUGHTS = 50
"""Kept of those that led to one message, the last."""


@dataclass(frozen=True, slots=True)
class Node:
    """A message where it came from. Without blocks it is not shown, and what hangs off it moves up to its parent."""

    key: str
    parent: str | None
    role: Role = "assistant"
    blocks: tuple[Block, ...] = ()
    at: datetime | None = None
    model: str = ""
    thoughts: tuple[Block, ...] = ()
    """Of one that is not shown: they belong to what follows."""
    was_stopped: bool = False
    was_cut_off: bool = False


@dataclass(frozen=True, slots=True)
class Grown:
    messages: tuple[NewMessage, ...]
    turns: tuple[NewTurn, ...]
    head: int | None


def grown(nodes: Iterable[Node], *, head: str | None, begun: datetime, limits: Limits = LIMITS) -> Grown:
    """`head` names the newest node of the branch its owner was on; `begun` stands where no time is known.

    Raises:
        Unfit: more messages than are taken, or more that several answers begin with.
    """
    known = {node.key: node for node in nodes}
    room = _Room(limits.conversation_bytes)
    shown = _shown(known, room)
    if len(shown) > limits.messages:
        raise Unfit(too_many_messages(len(shown), limits))
    builder = _Builder(begun, limits, room)
    for node in _in_order(shown):
        builder.add(node)
    return builder.result(_visible(head, known) if head in known else None)


def too_many_messages(count: int, limits: Limits) -> str:
    return f"It has {count:,} messages; {limits.messages:,} are the most."


class _Room:
    """For what is told again in each of several versions: a long answer, or thought, may fork thousands of times."""

    def __init__(self, most: int) -> None:
        """`most`: characters, as JSON."""
        self._most = self._left = most

    def spend(self, blocks: tuple[Block, ...]) -> None:
        """Raises `Unfit`: there is no more of it."""
        self._left -= len(json.dumps(blocks, ensure_ascii=False))
        if self._left < 0:
            raise Unfit(f"Versions of its answers share more than {self._most:,} characters, which is the most.")


def _shown(known: Mapping[str, Node], room: _Room) -> list[Node]:
    """Those with something in them, each below the next one that has, with the thoughts that led to it."""
    resolved: dict[str, tuple[str | None, tuple[Block, ...]]] = {}
    found = []
    for node in known.values():
        if not node.blocks:
            continue
        parent, thoughts = _above(node, known, resolved)
        blocks = node.blocks
        if thoughts and node.role == "assistant":
            room.spend(thoughts)
            blocks = (*thoughts, *blocks)
        found.append(replace(node, parent=parent, blocks=blocks))
    return found


def _above(
    node: Node, known: Mapping[str, Node], resolved: dict[str, tuple[str | None, tuple[Block, ...]]]
) -> tuple[str | None, tuple[Block, ...]]:
    """The nearest that is shown, and the thoughts on the way; a circle, or a parent that is missing, is a beginning."""
    way: list[Node] = []
    seen = {node.key}
    at = node.parent
    while at is not None and at in known and at not in seen and at not in resolved and not known[at].blocks:
        seen.add(at)
        way.append(known[at])
        at = known[at].parent
    if at is None or at not in known or at in seen:
        end: tuple[str | None, tuple[Block, ...]] = (None, ())
    else:
        end = resolved.get(at, (at, ()))
    for hidden in reversed(way):
        end = (end[0], (*end[1], *hidden.thoughts)[-MOST_THOUGHTS:])
        resolved[hidden.key] = end
    return end


def _visible(key: str | None, known: Mapping[str, Node]) -> str | None:
    if key is None or known[key].blocks:
        return key
    return _above(known[key], known, {})[0]


def _in_order(nodes: Sequence[Node]) -> Iterable[Node]:
    """Parents before children, otherwise by time, otherwise as they stood."""
    keys = {node.key for node in nodes}
    below: dict[str | None, list[tuple[float, int, Node]]] = defaultdict(list)
    for place, node in enumerate(nodes):
        parent = node.parent if node.parent in keys else None
        below[parent].append((node.at.timestamp() if node.at else 0.0, place, replace(node, parent=parent)))
    waiting = below.pop(None, [])
    heapq.heapify(waiting)
    while waiting or below:
        if not waiting:  # What is left hangs in circles: somewhere they have to begin.
            _, loose = below.popitem()
            waiting = [(at, place, replace(node, parent=None)) for at, place, node in loose]
            heapq.heapify(waiting)
        _, _, node = heapq.heappop(waiting)
        yield node
        for child in below.pop(node.key, ()):
            heapq.heappush(waiting, child)


class _Builder:
    """Numbers the nodes as they come, and gives each a turn."""

    def __init__(self, begun: datetime, limits: Limits, room: _Room) -> None:
        self._begun, self._limits, self._room = begun, limits, room
        self._messages: list[NewMessage] = []
        self._turns: list[NewTurn] = []
        self._places: dict[str, int] = {}
        self._ends: dict[int, int] = {}
        """The newest message of each turn."""
        self._answered: set[int] = set()

    def add(self, node: Node) -> None:
        parent = self._places.get(node.parent) if node.parent else None
        at = node.at or (self._messages[parent].created_at if parent is not None else self._begun)
        if node.role == "user" or parent is None:
            turn = self._begin(len(self._messages), at)
        else:
            parent, turn = self._place_of_reply(parent, at)
        self._append(node.role, node.blocks, parent, turn, at)
        self._places[node.key] = len(self._messages) - 1
        if node.role != "user":
            self._tell(turn, node)

    def result(self, head: str | None) -> Grown:
        for number, turn in enumerate(self._turns):
            if number not in self._answered:
                self._turns[number] = replace(turn, status="failed", facts=UNANSWERED)
        newest = len(self._messages) - 1 if self._messages else None
        return Grown(tuple(self._messages), tuple(self._turns), self._places.get(head, newest) if head else newest)

    def _place_of_reply(self, parent: int, at: datetime) -> tuple[int, int]:
        """Where it hangs, and its turn: that of its parent where it goes on with it, else an attempt of its own."""
        above = self._messages[parent]
        if self._ends[above.turn] == parent:
            return parent, above.turn
        prompt = self._turns[above.turn].prompt
        chain = []
        while parent != prompt:
            chain.append(self._messages[parent])
            above_parent = self._messages[parent].parent
            assert above_parent is not None
            parent = above_parent
        turn = self._begin(prompt, at)
        for one in reversed(chain):
            self._room.spend(one.content)
            self._append(one.role, one.content, parent, turn, one.created_at)
            parent = len(self._messages) - 1
        return parent, turn

    def _begin(self, prompt: int, at: datetime) -> int:
        self._turns.append(NewTurn(len(self._turns), prompt, at))
        return len(self._turns) - 1

    def _append(self, role: Role, blocks: tuple[Block, ...], parent: int | None, turn: int, at: datetime) -> None:
        number = len(self._messages)
        if number >= self._limits.messages:
            raise Unfit(too_many_messages(number + 1, self._limits))
        self._messages.append(NewMessage(number, parent, turn, role, blocks, at))
        self._ends[turn] = number

    def _tell(self, number: int, node: Node) -> None:
        self._answered.add(number)
        turn = self._turns[number]
        facts: dict[str, Any] = {"was_cut_off": True} if node.was_cut_off else {}
        self._turns[number] = replace(
            turn,
            model=node.model or turn.model,
            status="stopped" if node.was_stopped else turn.status,
            facts=turn.facts | facts,
        )
