"""Text as it is stored: clean, at the one point where messages are written; shortened to a line; measured in tokens.

Pure functions over strings, total for every `str` Python can hold.
"""

import math
import re
import unicodedata
from typing import Any

ELLIPSIS = "…"

# Tab and newline are the only C0 controls that mean something in a message.
_CONTROL = re.compile(r"\r\n?|[\x00-\x08\x0b\x0c\x0e-\x1f]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_HALF = re.compile("[\r\ud800-\udbff]")


def clean(text: str) -> str:
    """The text as PostgreSQL, JSON and UTF-8 accept it.

    CRLF and CR become LF. NUL and the other C0 controls are removed, except tab and newline. A surrogate pair that
    arrived in halves becomes the character it stands for; a lone half becomes U+FFFD. All else stays as it is:
    direction marks, joiners and combining characters carry meaning.

    Give it whole texts: a pair or a line end that is cut by a fragment's edge can only be mended in the whole.
    """
    text = _CONTROL.sub(lambda found: "\n" if found[0][0] == "\r" else "", text)
    if not _SURROGATE.search(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


class Cleaner:
    """Cleans a text that comes in fragments: all that was fed, joined, is `clean` of the whole.

    Half a pair, or the first half of a line end, waits for the next fragment. One that is never followed is lost.
    """

    def __init__(self) -> None:
        self._held = ""

    def feed(self, fragment: str) -> str:
        text = self._held + fragment
        whole = len(text) - 1 if _HALF.match(text[-1:]) else len(text)
        self._held = text[whole:]
        return clean(text[:whole])


def line(text: str) -> str:
    """The text as a title is kept: clean, on one line; empty when there is nothing to see in it."""
    text = _one_line(clean(text))
    return "" if is_blank(text) else text


_UNSEEN_CATEGORIES = frozenset({"Cc", "Cf", "Zs", "Zl", "Zp"})
_UNSEEN = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)
"""Letters, marks and a Braille pattern without any ink."""


def is_blank(text: str) -> bool:
    """Whether there is nothing to see in it."""
    return not any(map(_is_visible, text))


def _is_visible(character: str) -> bool:
    return unicodedata.category(character) not in _UNSEEN_CATEGORIES and not _UNSEEN.match(character)


def clean_blocks(value: Any) -> Any:
    """A copy of JSON-like content in which every string, keys too, is clean.

    NaN and the infinities become null, since JSONB refuses them. Two keys that differ only in what cleaning removes
    become one, and the later value stays.
    """
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, dict):
        return {clean(key): clean_blocks(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [clean_blocks(inner) for inner in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


# What stands before the words of a line.
_LINE_MARK = re.compile(
    r"""
    ^[ \t]*
    (?: (?:```|~~~) [\w+\#.-]* [ \t]* $               # a fence with its language
      | \#{1,6} (?=[ \t])                             # a heading
      | (?: > [ \t]? )+                               # a quotation
      | (?: [-*+] | \d{1,9}[.)] ) [ \t]+              # an item,
        (?: \[[ xX]\] [ \t]+ )?                       # perhaps with a box
    )
    """,
    re.MULTILINE | re.VERBOSE,
)
_LINK = re.compile(r"!?\[([^\[\]\n]{1,200})\]\([^()\s]{0,500}\)")
# Underscores stay: in a question they are more often part of a name, as in __init__.
_EMPHASIS = re.compile(r"(?<![\w*~`])([*~`]{1,3})(?=[^\s*~`])([^*~`\n]+)(?<=\S)\1(?![\w*~`])")


def preview(text: str, limit: int) -> str:
    """The first words of a text on one line of at most `limit` characters, an ellipsis included.

    Common Markdown marks are dropped. The cut falls between words, or, in a long word or a script without
    spaces, between characters as the reader sees them; only one that alone exceeds the limit is cut inside.
    """
    if limit < 1:
        raise ValueError("A preview needs room for at least one character.")
    # The marks of a line seldom outweigh its words, so a start of this size is enough and a huge paste stays cheap.
    start = text.lstrip()[: 20 * limit + 1000]
    line = _one_line(_unmarked(start)) or _one_line(start)
    if len(line) <= limit:
        return line
    return line[: _cut(line, limit - 1)].rstrip() + ELLIPSIS


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _unmarked(text: str) -> str:
    text = _LINE_MARK.sub("", text)
    text = _LINK.sub(r"\1", text)
    return _EMPHASIS.sub(r"\2", text)


def _cut(line: str, room: int) -> int:
    """Where to cut: at the last space that leaves a third of the room, else at the edge of a visible character."""
    space = line.rfind(" ", 0, room + 1)
    if space > room // 3:
        return space
    edge = room
    while edge > 0 and _joined(line, edge):
        edge -= 1
    return edge or room


_ZERO_WIDTH_JOINER = "\u200d"
_VIRAMA = 9  # the combining class of the sign that binds two Indic consonants


def _joined(text: str, index: int) -> bool:
    """Whether the characters on both sides of the index are seen as one: the common cases of UAX #29."""
    before, after = text[index - 1], text[index]
    if after == _ZERO_WIDTH_JOINER or before == _ZERO_WIDTH_JOINER:
        return True
    if unicodedata.category(after).startswith("M") or unicodedata.combining(before) == _VIRAMA:
        return True
    # Skin tones and the tags that spell a regional flag extend an emoji; vowels and finals extend a Hangul syllable.
    if "\U0001f3fb" <= after <= "\U0001f3ff" or "\U000e0020" <= after <= "\U000e007f" or "\u1160" <= after <= "\u11ff":
        return True
    return _is_regional(after) and _regionals_before(text, index) % 2 == 1


def _is_regional(character: str) -> bool:
    return "\U0001f1e6" <= character <= "\U0001f1ff"


def _regionals_before(text: str, index: int) -> int:
    start = index
    while start > 0 and _is_regional(text[start - 1]):
        start -= 1
    return index - start


# Hundredths of a token a character is worth, told from the first byte of its UTF-8 form.
_HUNDREDTHS = (
    (b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ", 25),
    (b"0123456789", 60),
    (b"!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~\n", 50),
    (b" \t", 2),  # a space mostly rides on the token of the next word
    (bytes(range(0xC2, 0xC8)), 90),  # Latin letters with marks
    (bytes(range(0xC8, 0xE0)), 50),  # Greek, Cyrillic, Hebrew, Arabic
    (bytes(range(0xE0, 0xEE)), 85),  # India and South-East Asia; Chinese, Japanese, Korean
    (bytes(range(0xEE, 0xF0)), 100),  # full-width forms
    (bytes(range(0xF0, 0xF5)), 200),  # emoji and rare ideographs
)


def estimate_tokens(text: str) -> int:
    """About how many tokens a tokenizer makes of a text: at least one unless it is empty.

    For use until a provider reports the truth. The weights were fitted to samples of ours (chat, code, JSON and
    interface texts in 31 languages) counted by real tokenizers. Estimate divided by truth:

    ============================  ===========  ===========
    text                          o200k_base   cl100k_base
    ============================  ===========  ===========
    English, Markdown, code       0.95–1.13    0.95–1.11
    JSON                          0.74–0.84    0.74–0.84
    languages in Latin letters    0.83–1.16    0.68–0.94
    Chinese, Japanese, Korean     1.08–1.18    0.68–0.88
    Greek, Russian, Arabic        1.04–1.61    0.46–1.10
    Hindi, Malayalam, Georgian    1.86–2.15    0.41–0.72
    ============================  ===========  ===========

    SmolLM2, the embedded model, knows English and code (0.75–1.00); in other languages it makes about
    twice as many tokens as estimated.

    Estimates add up: that of two texts joined is at most the sum of theirs, and never less than either.
    """
    if not text:
        return 0
    raw = text.encode("utf-8", "replace")
    hundredths = sum((len(raw) - len(raw.translate(None, kind))) * weight for kind, weight in _HUNDREDTHS)
    return max(1, -(-hundredths // 100))


_RUN = re.compile(r"(.)\1{3,}", re.DOTALL)
_UNSURE = re.compile("[\u0200-\u2fff\ue000-\U0010ffff]+")
"""Neither Latin letters nor those of East Asia, where the estimate is at most a fifth too high."""


def least_tokens(text: str) -> int:
    """Tokens that any tokenizer in use makes of a text at least: what is reported below that was not read whole.

    Two thirds of the estimate, two fifths for scripts where it may be twice too high. A run of one character, such as
    a line of dashes, may be a single token.
    """
    text = _RUN.sub(r"\1", text)
    sure = estimate_tokens(_UNSURE.sub("", text))
    return sure * 2 // 3 + max(estimate_tokens(text) - sure, 0) * 2 // 5
