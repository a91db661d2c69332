"""How much of each request a provider's prompt cache knows from the one before, in a long conversation.

Nothing here depends on the machine: the sizes of the messages are drawn once, from a fixed beginning.
"""

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from genai_prices import Usage, calc_price

from conversations.context.assemble import assemble
from conversations.context.record import Record
from conversations.context.values import (
    Budget,
    Past,
    StoredMessage,
    StoredTurn,
    Summary,
    SystemPrompt,
    Window,
    WindowPolicy,
)
from conversations.context.windows import stepped
from conversations.providers.values import ChatMessage
from conversations.summaries.spans import FULL, end_ahead

TURNS = 200
SYSTEM = SystemPrompt("You are a helpful assistant. Answer clearly and briefly.", 12)

LARGE = Budget(window=400_000, reply=2000, history=12_000, retrieved=3000)
"""Of a large model."""
BUNDLED = Budget(window=8192, reply=2000, history=12_000, retrieved=1024)
"""Of the bundled model."""

CACHED_FROM, CACHED_BY = 1024, 128
"""Tokens: the shortest beginning that OpenAI keeps, and the step in which a longer one counts."""

SUMMARY = 500
"""Tokens of each summary."""

NextPolicy = Callable[[Record | None], WindowPolicy]


@dataclass(frozen=True)
class Prompt:
    """Tokens of one request, those among them that are the beginning of the request before, and whether earlier turns
    were left out."""

    tokens: int
    repeated: int
    overflowed: bool


def conversation() -> tuple[StoredTurn, ...]:
    """200 turns as people write them: most questions short, now and then a pasted text; answers up to 1,500 tokens."""
    draw = random.Random(7)
    turns = []
    for number in range(TURNS):
        asked = min(max(round(draw.lognormvariate(3.4, 0.9)), 3), 1500)
        answered = min(max(round(draw.lognormvariate(5.3, 0.7)), 30), 1500)
        question = StoredMessage(2 * number + 1, "user", f"<{2 * number + 1}>", asked)
        turns.append(
            StoredTurn((question, StoredMessage(2 * number + 2, "assistant", f"<{2 * number + 2}>", answered)))
        )
    return tuple(turns)


def even_conversation() -> tuple[StoredTurn, ...]:
    """200 turns of 300 tokens each."""
    return tuple(
        StoredTurn((StoredMessage(at, "user", f"<{at}>", 50), StoredMessage(at + 1, "assistant", f"<{at + 1}>", 250)))
        for at in range(1, 2 * TURNS, 2)
    )


def in_steps(before: Record | None) -> WindowPolicy:
    """The product's window."""
    return stepped(before.start, reason=before.reason) if before else stepped()


def sliding(_: Record | None) -> WindowPolicy:
    """The newest turns that fit, each time anew."""

    def newest(past: Past, room: int) -> Window:
        kept: list[StoredTurn] = []
        for turn in reversed(past.turns):
            if sum(one.tokens for one in kept) + turn.tokens > room:
                break
            kept.insert(0, turn)
        return Window(tuple(kept), "history_budget")

    return newest


def prompts(
    next_policy: NextPolicy, budget: Budget, history: Sequence[StoredTurn], *, is_summarised: bool = False
) -> Iterator[Prompt]:
    """Every request of the conversation; `is_summarised`: each summary is there as soon as it is due."""
    sizes = {message.text: message.tokens for turn in history for message in turn.messages}
    summaries: tuple[Summary, ...] = ()
    last: tuple[ChatMessage, ...] = ()
    before: Record | None = None
    for number, turn in enumerate(history):
        past = Past(tuple(history[:number]), summaries=summaries)
        made = assemble(past, turn.messages[0], system=SYSTEM, budget=budget, policy=next_policy(before))
        sent = made.request.messages
        same = next((at for at, (new, old) in enumerate(zip(sent, last, strict=False)) if new != old), len(last))
        tokens = [SYSTEM.tokens + made.record.tokens_of("summary"), *(sizes[message.text] for message in sent[1:])]
        yield Prompt(sum(tokens), sum(tokens[:same]), overflowed=bool(made.record.left_out))
        last, before = sent, made.record
        if is_summarised:
            summaries = (*summaries, *_due(history[: number + 1], made.record, summaries))


def _due(turns: Sequence[StoredTurn], record: Record, summaries: Sequence[Summary]) -> list[Summary]:
    """As `end_of_next`, without the tables."""
    at = next(at for at, turn in enumerate(turns) if record.start in turn.ids)
    left_out = [turns[at - 1].ids[-1]] if at else []
    window = turns[at:]
    share, of = FULL
    is_full = of * sum(turn.tokens for turn in window) >= share * record.history
    through = [one.through for one in summaries]
    ahead = end_ahead(window, record.history, through=through) if is_full else None
    ends = [end for end in left_out if end not in through] or ([ahead] if ahead else [])
    return [Summary(end, f"Summary through {end}.", SUMMARY, through=end) for end in ends]


def repeated_share(made: list[Prompt]) -> float:
    """Of the tokens sent since the window first overflowed."""
    since = [prompt for prompt in made if prompt.overflowed]
    return sum(prompt.repeated for prompt in since) / sum(prompt.tokens for prompt in since)


def openai_dollars(made: list[Prompt], model: str) -> float:
    """What the prompts cost; OpenAI keeps beginnings by itself."""
    return sum(_price(model, "openai", prompt.tokens, read=_kept(prompt.repeated)) for prompt in made)


def anthropic_dollars(made: list[Prompt], model: str, *, caches: bool = True) -> float:
    """What the prompts cost. Where a request asks for it, Anthropic keeps all of it, which costs a quarter more."""
    if not caches:
        return sum(_price(model, "anthropic", prompt.tokens) for prompt in made)
    return sum(
        _price(model, "anthropic", prompt.tokens, read=prompt.repeated, written=prompt.tokens - prompt.repeated)
        for prompt in made
    )


def _kept(tokens: int) -> int:
    return tokens // CACHED_BY * CACHED_BY if tokens >= CACHED_FROM else 0


def _price(model: str, provider: str, tokens: int, *, read: int = 0, written: int = 0) -> float:
    usage = Usage(input_tokens=tokens, cache_read_tokens=read, cache_write_tokens=written, output_tokens=0)
    return float(calc_price(usage, model, provider_id=provider).total_price)
