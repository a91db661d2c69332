"""What of a conversation is sent with a question, before it is put into words."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from conversations.context.recalled import NOTE_TOKENS
from conversations.context.record import NEVER_SENT, LeftOut, Section
from conversations.context.shortened import shortened_to
from conversations.context.values import (
    Budget,
    Past,
    Recollection,
    StoredMessage,
    StoredTurn,
    Summary,
    SystemPrompt,
    Toolbox,
    Window,
    WindowPolicy,
)
from conversations.context.windows import begin_of, tokens_of
from conversations.refusals import PromptTooLong

NO_TOOLS = Toolbox()


@dataclass(frozen=True, slots=True)
class Choice:
    """Everything that is sent, and why the rest is not."""

    system: SystemPrompt
    tools: Toolbox
    summary: Summary | None
    window: Window
    recalled: tuple[Recollection, ...]
    prompt: StoredMessage
    rounds: tuple[StoredMessage, ...]
    left_out: tuple[LeftOut, ...]
    room: int
    """Tokens there were for the window."""

    @property
    def earlier(self) -> list[StoredMessage]:
        return messages_of(self.window.turns)

    @property
    def sections(self) -> tuple[Section, ...]:
        """The sizes of the parts, in the order in which they are sent."""
        parts = (
            Section("system", self.system.tokens),
            Section("tools", self.tools.tokens),
            Section("summary", self.summary.tokens if self.summary else 0),
            Section("window", tokens_of(self.window.turns)),
            Section("recalled", _size(self.recalled)),
            Section("prompt", self.prompt.tokens),
            Section("rounds", sum(message.tokens for message in self.rounds)),
        )
        return tuple(part for part in parts if part.tokens or part.name in ("system", "window", "prompt"))


def choose(
    past: Past,
    prompt: StoredMessage,
    *,
    system: SystemPrompt,
    budget: Budget,
    policy: WindowPolicy,
    tools: Toolbox,
    rounds: Sequence[StoredMessage],
) -> Choice:
    """Share the model's tokens out, first come first served: system prompt and question, tools, the question's own
    rounds, the window, the summary, recollections.

    Raises:
        PromptTooLong: the question does not fit beside the system prompt and the reply.
    """
    largest = budget.largest_prompt(system=system.tokens)
    if prompt.tokens > largest:
        raise PromptTooLong(size=prompt.tokens, limit=largest, unit="tokens")
    if prompt.tokens + tools.tokens > largest:
        tools = NO_TOOLS
    fixed = system.tokens + tools.tokens
    rounds = shortened_to(budget.largest_prompt(system=fixed) - prompt.tokens, rounds)
    own = prompt.tokens + sum(message.tokens for message in rounds)
    room = budget.history_beside(system=fixed, prompt=own)
    window = policy(past, room)
    begins = begin_of(past.turns, window.turns)
    left_out = _left_out(past, window, begins)
    # The rounds may have taken some of what was kept for the past.
    retrieved = min(budget.retrieved, budget.largest_prompt(system=fixed) - own)
    is_missing_something = begins > 0 or past.unread is not None
    summary = _standing_in(past.summaries, window, left_out, retrieved) if is_missing_something else None
    sent = {prompt.id, *(message.id for message in messages_of(window.turns))}
    recalled = _recalled(past.recollections, sent, retrieved - (summary.tokens if summary else 0))
    return Choice(system, tools, summary, window, recalled, prompt, rounds, left_out, room)


def _left_out(past: Past, window: Window, begins: int) -> tuple[LeftOut, ...]:
    """What is not sent: all before the window, and what the policy passes over behind its beginning."""
    before = [message.id for message in messages_of(past.turns[:begins])]
    sent = {turn.ids for turn in window.turns}
    skipped = [message.id for message in messages_of(turn for turn in past.turns[begins:] if turn.ids not in sent)]
    unread = [] if past.unread is None else [past.unread]
    spans = (
        LeftOut(past.opening, "no_question"),
        LeftOut((*unread, *before), window.reason, and_before=bool(unread)),
        LeftOut(tuple(skipped), "not_complete"),
    )
    return tuple(span for span in spans if span.ids)


def _standing_in(
    summaries: Sequence[Summary], window: Window, left_out: Sequence[LeftOut], tokens: int
) -> Summary | None:
    """Of the summaries that end before the window the one that stands for most, when it has words and fits.

    One that was written ahead ends inside the window and waits until that is cut, so that requests go on beginning
    alike. It does not wait where messages before the window would be told by neither: a window that slides leaves out
    some each time. What its owner wrote waits for nothing: they would meet their correction's mistake again.
    """
    begins = window.turns[0].ids[0] if window.turns else None
    ending_before = [one for one in summaries if begins is None or one.through < begins or one.is_owners]
    nearest = max(ending_before, key=lambda one: one.through, default=None)
    if nearest is None or nearest.through < _newest_left_out(left_out):
        ahead = [one for one in summaries if one not in ending_before and one.text.strip()]
        nearest = min(ahead, key=lambda one: one.through, default=nearest)
    return nearest if nearest and nearest.text.strip() and nearest.tokens <= tokens else None


def _newest_left_out(left_out: Sequence[LeftOut]) -> int:
    """Before the window, of those that could have been sent."""
    return max((span.ids[-1] for span in left_out if span.reason not in NEVER_SENT), default=0)


def _recalled(recollections: Sequence[Recollection], sent: set[int], tokens: int) -> tuple[Recollection, ...]:
    """Those with the best scores that fit, oldest first; what is sent anyway, or says nothing, is not brought back."""
    taken = set(sent)
    chosen: list[Recollection] = []
    for one in sorted(recollections, key=lambda one: one.score, reverse=True):
        if taken.isdisjoint(one.turn.ids) and one.has_words and _size([*chosen, one]) <= tokens:
            chosen.append(one)
            taken.update(one.turn.ids)
    return tuple(sorted(chosen, key=lambda one: one.turn.ids))


def _size(recalled: Sequence[Recollection]) -> int:
    return sum(one.tokens for one in recalled) + NOTE_TOKENS if recalled else 0


def messages_of(turns: Iterable[StoredTurn]) -> list[StoredMessage]:
    return [message for turn in turns for message in turn.messages]
