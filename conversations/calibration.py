"""Estimates of tokens, calibrated: what providers reported of earlier requests makes the next estimate of the same
model better.

Estimates stand where nobody has counted yet: for a system prompt, descriptions of tools, a new question.
"""

import time
from dataclasses import asdict, dataclass, fields
from statistics import median

from django.db import transaction

from conversations.context.measured import Measured
from conversations.context.scale import Scale, Sums
from conversations.context.values import Toolbox
from conversations.models import TokenScale
from conversations.text import estimate_tokens

FRESH = 60.0
"""Seconds that a process goes on with the scales it has read: they move slowly, and requests need no query."""

RECENT = 200
"""Requests whose errors are kept for each model."""

UNCALIBRATED = Scale()


@dataclass(frozen=True, slots=True)
class Estimates:
    """What a request's own parts were estimated at before any factor; 0: it has no such part."""

    system: int
    tools: int
    prompt: int

    @property
    def messages(self) -> int:
        return sum(bool(part) for part in (self.system, self.prompt))


@dataclass(slots=True)
class _Known:
    scales: dict[str, Scale]
    until: float


_known = _Known({}, until=0.0)


def scale_of(model: str) -> Scale:
    """What is known by now, at most a minute old."""
    if time.monotonic() >= _known.until:
        _known.scales = {row.model: sums_of(row).scale for row in TokenScale.objects.all()}
        _known.until = time.monotonic() + FRESH
    return _known.scales.get(model, UNCALIBRATED)


def forget() -> None:
    """Read the scales anew when they are needed next."""
    _known.until = 0.0


def message_tokens(text: str, model: str) -> int:
    """About what a message of these words takes with the model; 0 for none."""
    return scale_of(model).of_message(estimate_tokens(text))


def calibrated(tools: Toolbox, model: str) -> Toolbox:
    """The same tools, with about what they take with the model."""
    if tools.is_calibrated:
        return tools
    return Toolbox(tools.specs, scale_of(model).of_tools(tools.tokens), is_calibrated=True)


def sums_of(row: TokenScale) -> Sums:
    return Sums(**{field.name: getattr(row, field.name) for field in fields(Sums)})


@dataclass(frozen=True, slots=True)
class EstimateError:
    """How far our count of the last requests was from the provider's, in percent of the latter."""

    requests: int
    mean_ratio: float
    """Our count by the provider's."""
    median: float
    most: float
    """95 of 100 requests are below."""


def error_of(row: TokenScale, *, uncalibrated: bool = False) -> EstimateError | None:
    """None when nothing was compared yet. `uncalibrated`: as it would have been without factors."""
    ratios = [pair[1 if uncalibrated else 0] for pair in row.recent]
    if not ratios:
        return None
    errors = sorted(abs(ratio - 1) * 100 for ratio in ratios)
    return EstimateError(
        requests=len(ratios),
        mean_ratio=sum(ratios) / len(ratios),
        median=median(errors),
        most=errors[min(len(errors) * 95 // 100, len(errors) - 1)],
    )


def learn(model: str, asked: Measured, estimates: Estimates, *, question: int | None) -> None:
    """Compare the first request of a turn with what was reported of it, once.

    `question`: the tokens of the question, where they were measured.
    """
    if not asked.reported or asked.record.truncated:
        return
    with transaction.atomic():
        TokenScale.objects.get_or_create(model=model)
        row = TokenScale.objects.select_for_update().get(model=model)
        for name, value in asdict(learned(sums_of(row), asked, estimates, question=question)).items():
            setattr(row, name, value)
        row.requests += 1
        row.recent = [*row.recent, _compared(asked, estimates)][-RECENT:]
        row.save()


def learned(sums: Sums, asked: Measured, estimates: Estimates, *, question: int | None) -> Sums:
    """What a request teaches: the question, where its own tokens were measured; all of it, where all was estimated.

    The first request of a conversation with tools teaches about the tools alone, as far as the words are known.
    """
    if question is not None:
        return sums.with_messages(estimates.prompt, 1, question)
    record = asked.record
    if len(record.sent) > 1 or record.summary is not None or record.recalled or asked.reported is None:
        return sums
    words = estimates.system + estimates.prompt
    if not record.tokens_of("tools"):
        return sums.with_messages(words, estimates.messages, asked.reported)
    scale = sums.scale
    others = scale.of_message(estimates.system) + scale.of_message(estimates.prompt)
    return sums.with_tools(estimates.tools, asked.reported - others)


def _compared(asked: Measured, estimates: Estimates) -> list[float]:
    """Our count by the provider's; and what it would have been without factors."""
    record, reported = asked.record, asked.reported or 1
    plain = estimates.system + estimates.prompt + (estimates.tools if record.tokens_of("tools") else 0)
    factored = sum(record.tokens_of(name) for name in ("system", "tools", "prompt"))
    return [round(total / reported, 4) for total in (record.tokens, record.tokens - factored + plain)]
