"""The words by which all of a person's conversations are searched: as they are written, in any language.

Unlike recall, which asks what has to do with a question, whoever searches knows a word and wants the places where it
stands. So there are no stems: capitals, accents and forms of the same character are told apart by nobody, all else is.
"""

import functools
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

from conversations.recall.words import MARKS, UNSPACED, UNSPACED_RANGES

MOST_CHARACTERS = 200_000
"""Of a message that are searched, the first."""

LONGEST = 64
"""Characters of a word that count; what is longer is no word."""

MOST_SOUGHT = 20
"""Words of a query that count, the first."""

SHORTEST_PREFIX = 2
"""Letters with which a word may begin to be looked for; one letter stands for itself."""

_UNSEEN = re.compile(
    "[\u0300-\u036f"  # accents
    "\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u064b-\u0652"  # vowels, which Hebrew and Arabic mostly leave out
    "\u0640"  # the line that makes an Arabic word longer
    "\u00ad\u200b-\u200f\u2060\ufeff]"  # hyphens, joiners and marks of direction that nobody sees
)


def folded(text: str) -> str:
    """The text as it is compared: without capitals and accents, one form of each character."""
    if text.isascii():
        return text.lower()
    bare = _UNSEEN.sub("", unicodedata.normalize("NFKD", text))
    return unicodedata.normalize("NFC", bare.casefold())


@functools.cache
def _word() -> re.Pattern[str]:
    """Letters and digits of any script, with the vowels and marks that Indian ones are written with."""
    return re.compile(rf"[\w{MARKS}]+")


def words_in(text: str) -> Iterator[re.Match[str]]:
    """Where words stand in a text; `snake_case` is two of them."""
    return _word().finditer(text.replace("_", " "))


def lexemes(text: str, *, most: int = MOST_CHARACTERS) -> set[str]:
    """What a text is found by: its words; of scripts without spaces, each two characters that stand side by side."""
    return set(_lexemes(folded(text[:most])))


def _lexemes(text: str) -> Iterator[str]:
    for word in (found[0] for found in words_in(text)):
        if UNSPACED.search(word):
            for part in _parts(word):
                # The last one alone, too: one character is looked for as a beginning.
                yield from [*_pairs(part), part[-1]] if UNSPACED.match(part) else [part[:LONGEST]]
        else:
            yield word[:LONGEST]


def _parts(word: str) -> list[str]:
    """Where a script without spaces meets another."""
    return [part for part in re.split(f"([{UNSPACED_RANGES}]+)", word) if part]


def _pairs(run: str) -> list[str]:
    return [run[at : at + 2] for at in range(len(run) - 1)]


@dataclass(frozen=True, slots=True)
class Sought:
    """What a query looks for: all of its words, and one that begins with `prefix`. `runs` are words inside of
    sentences without spaces."""

    words: tuple[str, ...] = ()
    runs: tuple[str, ...] = ()
    prefix: str = ""

    @property
    def exact(self) -> tuple[str, ...]:
        """The lexemes that a text must have."""
        pairs = [pair for run in self.runs for pair in _pairs(run)]
        return tuple(dict.fromkeys([*self.words, *pairs]))

    @property
    def beginnings(self) -> tuple[str, ...]:
        """A text must have a lexeme that begins with each of these."""
        return (*(run for run in self.runs if len(run) == 1), *([self.prefix] if self.prefix else []))

    @property
    def is_empty(self) -> bool:
        return not (self.words or self.runs or self.prefix)

    def matches(self, text: str) -> bool:
        """Whether a folded text has all of it; for short texts."""
        if not all(part in text for part in (*self.words, *self.runs, self.prefix)):
            return False
        has = set(_lexemes(text))
        return has.issuperset(self.exact) and all(any(one.startswith(it) for one in has) for it in self.beginnings)


def sought(query: str) -> Sought:
    """What a query looks for. The last word may be the beginning of one: it may still be being typed."""
    parts = [part for found in words_in(folded(query)) for part in _parts(found[0])][:MOST_SOUGHT]
    runs = tuple(part for part in parts if UNSPACED.match(part))
    words = [part[:LONGEST] for part in parts if not UNSPACED.match(part)]
    last = parts[-1][:LONGEST] if parts and not UNSPACED.match(parts[-1]) else ""
    if len(last) < SHORTEST_PREFIX:
        return Sought(tuple(words), runs)
    return Sought(tuple(words[:-1]), runs, prefix=last)
