"""`make bench-recall DATA=file`: how often recall finds what answers a question, arm by arm.

The file holds `{"conversations": [{"messages": […], "questions": […]}]}`: a message is `{"id", "speaker", "text"}`,
a question `{"question", "evidence"}`, the ids of the messages that answer it. One whose evidence is not among the
messages is left out.
"""

import json
import os
import statistics
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

import numpy as np
import pytest

from conversations import index, meaning
from conversations.models import Conversation, Message, Turn
from conversations.recall.scores import Candidates, Floats, by_words, standardised
from tests.factories import make_conversation, make_user

pytestmark = pytest.mark.django_db

KS = (4, 5, 8, 16)
OURS = "ours: words, neighbours' + meaning"


@dataclass
class Arm:
    """What one way of scoring found."""

    ranks: list[list[int]] = field(default_factory=list)
    """Of each question: the places of its evidence, from 0."""

    def take(self, order: Sequence[int], evidence: set[int]) -> None:
        self.ranks.append([order.index(pk) for pk in evidence])

    def take_with_turns(self, order: Sequence[int], evidence: set[int]) -> None:
        """A hit counts for the message before and the one behind it, too: what was asked, and what was answered.

        Speakers take turns, and either may ask; ids follow each other.
        """
        place = {pk: at for at, pk in enumerate(order)}
        self.ranks.append([min(place.get(pk + step, len(order)) for step in (-1, 0, 1)) for pk in evidence])

    def line(self) -> str:
        first = [min(ranks) for ranks in self.ranks]
        shares = [f"any@{k} {_percent([rank < k for rank in first])}" for k in KS]
        shares.append(f"all@8 {_percent([max(ranks) < 8 for ranks in self.ranks])}")
        shares.append(f"MRR {100 * statistics.mean(1 / (rank + 1) for rank in first):5.1f}")
        return "  ".join(shares)


def _percent(hits: Sequence[bool]) -> str:
    return f"{100 * sum(hits) / len(hits):5.1f}"


def stored(messages: Sequence[Mapping[str, Any]]) -> tuple[Conversation, list[int]]:
    """A conversation of these messages, and their ids."""
    conversation = make_conversation(make_user())
    turn = Turn(conversation=conversation, request_key=str(uuid4()), lease_until="2000-01-01T00:00Z")
    ids: list[int] = []
    for message in messages:
        text = f"{message['speaker']}: {message['text']} {message.get('caption') or ''}".strip()
        row = Message.objects.create(
            conversation=conversation,
            turn_id=turn.pk,
            parent_id=ids[-1] if ids else None,
            role=Message.Role.USER,
            content=[{"type": "text", "text": text}],
        )
        ids.append(row.pk)
    turn.prompt_id, turn.status, turn.finished_at = ids[0], Turn.Status.COMPLETE, "2000-01-01T00:00Z"
    turn.save(force_insert=True)
    index.write(Message.objects.filter(conversation=conversation).order_by("pk"))
    return conversation, ids


def bench_recall() -> None:
    if not os.environ.get("DATA"):
        pytest.skip("It needs questions with known answers: make bench-recall DATA=file")
    with open(os.environ["DATA"]) as file:  # noqa: PTH123  # a name from the command line
        data = json.load(file)
    arms: dict[str, Arm] = {}
    free = Arm()
    took: list[float] = []
    for spoken in data["conversations"]:
        conversation, ids = stored(spoken["messages"])
        place = {message["id"]: pk for message, pk in zip(spoken["messages"], ids, strict=True)}
        for question in spoken["questions"]:
            evidence = {place[one] for one in question["evidence"] if one in place}
            if not evidence or len(evidence) < len(set(question["evidence"])):
                continue
            began = time.perf_counter()
            branch = index.branch_of(conversation.pk, ids[-1])
            vector = meaning.of_question(conversation.pk, question["question"])
            found = index.candidates(branch, question["question"], vector)
            index.ranked(found, most=8)
            took.append(time.perf_counter() - began)
            for name, scores in arms_of(found).items():
                order = found.ids[np.argsort(-scores, kind="stable")].tolist()
                arms.setdefault(name, Arm()).take(order, evidence)
                if name == OURS:
                    free.take_with_turns(order, evidence)
    for name, arm in arms.items():
        say(f"{name:34} {arm.line()}")
    say(f"{'ours, with the whole turn free':34} {free.line()}")
    say(f"questions {len(took)}, median {statistics.median(took) * 1000:.1f} ms a recall")


def arms_of(found: Candidates) -> dict[str, Floats]:
    alone, words, meaning = by_words(found.says, borrowed=0), by_words(found.says), found.likeness
    return {
        "words": alone,
        "words, neighbours'": words,
        "meaning": meaning,
        "words + meaning": standardised(alone) + standardised(meaning),
        OURS: standardised(words) + standardised(meaning),
        "reciprocal ranks, k = 60": _reciprocal(words) + _reciprocal(meaning),
    }


def _reciprocal(scores: Floats) -> Floats:
    ranks = np.empty(len(scores))
    ranks[np.argsort(-scores, kind="stable")] = np.arange(len(scores))
    inverse: Floats = 1 / (60 + ranks)
    return inverse


def say(line: str) -> None:
    print(line)  # noqa: T201  # the whole purpose
