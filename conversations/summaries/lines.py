"""A summary with a line for each turn, by a model too small to keep notes. Pure functions over strings.

A line has what was asked, in the words of whoever asked, and what the answer comes to, in a sentence of the model. So
the model is asked about one short text at a time, and what it says can be held against that text.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from conversations.providers.wrappings import is_refusal, unwrapped
from conversations.summaries.grounding import goes_in_circles, invented, strays
from conversations.summaries.wording import WITHOUT_WORDS, defused
from conversations.text import clean, estimate_tokens, is_blank, preview

INSTRUCTIONS = (
    "You shorten answers. Say in one short sentence what the answer says, in its own words and in its language. "
    "Add nothing."
)
ASKED = "In one short sentence:"
EXAMPLES = (
    (
        """\
Plants make food by photosynthesis. They take in water through their roots and carbon dioxide through their leaves.
Sunlight turns these into sugar and oxygen.

The sugar feeds the plant, and the oxygen goes into the air.""",
        "Plants use sunlight to turn water and carbon dioxide into sugar and oxygen.",
    ),
    (
        """\
Here are some tips for a good night:

1. Go to bed at the same time every day.
2. Keep the room dark and cool.
3. Drink no coffee in the afternoon.

With these tips you will sleep better.""",
        "Go to bed at the same time, keep the room dark and cool, and drink no coffee in the afternoon.",
    ),
)
"""Shown before the answer, as if they had been asked: the model follows an example where it follows no instruction.
After one in German it goes on in German, whatever it is shown."""

SHOWN = 900
"""Characters of an answer that the model is shown: what it is about stands at its beginning."""
MOST_TOKENS = 70
"""Of a sentence, written by the model. What is behind its last whole sentence is cut off."""
MOST_WORDS = 30
ENOUGH_WORDS = 5
"""Of a sentence; behind a shorter one the next is told as well."""
LEAST_WORDS = 3
SHORT = 120
"""Characters of an answer that is its own summary."""
MOST_ASKED = 200
"""Characters of a question in a line."""
NEWEST = 3
"""Lines that keep their answers whatever room there is."""

TEMPERATURES = (0.2, 0.5)
"""One after the other, until a sentence is good."""

_CODE = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_MARK = re.compile(r"^[\s>*#_-]+|^\s*\d{1,2}[.)]\s+|[*_`]{2,}")
_LABEL = re.compile(
    r"\A(?:the )?(?:answer|summary|short(?:ened)?|antwort|in one short sentence)\s*[:：]\s*", re.IGNORECASE
)
_END = re.compile(r"(?<=[.!?。！？…])[\"'”’»)]*(?=\s|\Z)|(?<=[。！？])")
_QUESTION = ("?", "？", "؟")
_ANSWERED = "” – "


@dataclass(frozen=True, slots=True)
class Exchange:
    """A turn as a line tells of it; without an answer it was stopped before it began."""

    question: str
    answer: str


@dataclass(frozen=True, slots=True)
class Sentence:
    """What the model said of an answer, and `ok` or in a word why it is no use."""

    text: str
    outcome: str


def exchanges(said: Sequence[tuple[str, str]]) -> list[Exchange]:
    """Messages, role and text of each, as turns: a question and all that answered it."""
    found: list[Exchange] = []
    for role, text in said:
        if role == "user" or not found:
            found.append(Exchange(text if role == "user" else "", "" if role == "user" else text))
        else:
            found[-1] = Exchange(found[-1].question, f"{found[-1].answer}\n{text}".strip())
    return found


def says_nothing(answer: str) -> bool:
    """Whether an answer is none that a line could tell of: there is none, it refuses, or goes in circles."""
    return is_blank(answer) or is_refusal(answer) or goes_in_circles(answer[:SHOWN])


def is_short(answer: str) -> bool:
    """Whether it says what it says in a line already."""
    return len(answer.strip()) <= SHORT


def shown(answer: str) -> str:
    """An answer as the model is shown it; programs in it say nothing that a sentence could."""
    words = _CODE.sub("", answer).strip() or answer.strip()
    return f"{defused(preview_of(words, SHOWN))}\n\n{ASKED}"


def preview_of(text: str, characters: int) -> str:
    """Its beginning, up to the end of a sentence or line where there is one in the second half."""
    if len(text) <= characters:
        return text
    begun = text[:characters]
    ends = [match.end() for match in _END.finditer(begun)] + [match.start() for match in re.finditer("\n", begun)]
    at = max((end for end in ends if end > characters // 2), default=0)
    return begun[:at].rstrip() if at else begun.rstrip()


def sentence_in(said: str, *, was_cut_off: bool, turn: Exchange) -> Sentence:
    """The sentence in a model's answer, when it says of the turn what the turn says.

    A model that was cut off had gone on; the whole sentences before that are as good as any.
    """
    rows = [row for row in map(_bare, unwrapped(clean(said)).splitlines()) if not is_blank(row)]
    if not rows:
        return Sentence("", "empty")
    if any(map(is_refusal, _sentences(rows[0]))):
        return Sentence("", "refused_in_words")
    text = _whole(rows[0], is_open=was_cut_off and len(rows) == 1)
    if not text:
        return Sentence("", "cut_off")
    return Sentence(text, "ok") if (fault := _fault(text, turn)) is None else Sentence("", fault)


def _bare(row: str) -> str:
    return _LABEL.sub("", _MARK.sub("", row).strip()).strip(' "“”„»«')


def _whole(row: str, *, is_open: bool) -> str:
    """Its first whole sentence, with those behind it while it is too short; of one that is `open` the last may be a
    half."""
    ends = [match.end() for match in _END.finditer(row)]
    if not is_open and (not ends or ends[-1] < len(row)):
        ends.append(len(row))
    enough = next((end for end in ends if len(row[:end].split()) >= ENOUGH_WORDS), ends[-1] if ends else 0)
    return row[:enough].strip()


def _fault(text: str, turn: Exchange) -> str | None:
    told = f"{turn.question}\n{turn.answer}"
    words = text.split()
    if len(words) > MOST_WORDS or len(text) >= len(turn.answer):
        return "too_long"
    if len(words) < LEAST_WORDS and len(text) < 2 * LEAST_WORDS:
        return "too_short"
    if invented(text, told):
        return "invented"
    is_example = text in [sentence for _, sentence in EXAMPLES]
    is_astray = is_example or text.endswith(":") or goes_in_circles(text) or strays(text, turn.answer)
    return "strayed" if is_astray else None


def line_of(turn: Exchange, sentence: str) -> str:
    """The line of a turn; without a sentence it has what was asked alone."""
    asked = _asked(turn.question)
    return f"- “{asked}{_ANSWERED}{sentence}" if sentence else f"- “{asked}”"


def _asked(question: str) -> str:
    """On one line, so that no row of it can be taken for another line; of a long one its beginning and end."""
    text = " ".join(defused(question).split()) or WITHOUT_WORDS
    text = text.replace("“", "‘").replace("”", "’")
    if len(text) <= MOST_ASKED:
        return text
    parts = _sentences(text)
    both = f"{parts[0]} … {parts[-1]}"
    return both if len(parts) > 1 and len(both) <= MOST_ASKED else preview(text, MOST_ASKED)


def _sentences(text: str) -> list[str]:
    ends = [match.end() for match in _END.finditer(text)]
    parts = [text[begin:end].strip() for begin, end in zip([0, *ends], [*ends, len(text)], strict=True)]
    return [part for part in parts if part]


def fitted(notes: str, *, most: int) -> str:
    """The lines in at most so many tokens: older ones lose first their answers, then go, and those in which somebody
    told something go last, as what an owner wrote does. Empty when not even one line fits."""
    rows = [row for row in notes.splitlines() if row.strip()]
    while rows and estimate_tokens("\n".join(rows)) > most:
        answered = next((at for at, row in enumerate(rows[:-NEWEST]) if _is_line(row) and _ANSWERED in row), None)
        if answered is not None:
            rows[answered] = rows[answered].partition(_ANSWERED)[0] + "”"
            continue
        del rows[next((at for at, row in enumerate(rows[:-NEWEST]) if not _tells(row)), 0)]
    return "\n".join(rows)


def _is_line(row: str) -> bool:
    return row.startswith("- “")


def _tells(row: str) -> bool:
    """Whether somebody says something in it, and does not only ask."""
    if not _is_line(row):
        return True
    asked = row.removeprefix("- “").partition("”")[0]
    return any(not part.endswith((*_QUESTION, "…")) and len(part.split()) > LEAST_WORDS for part in _sentences(asked))
