"""Whether a model says what it was told, and no more. Pure functions over strings."""

import re
from collections.abc import Iterator

LEAST_SHARED = 0.7
"""Of the longer words of a text, those that what it is made of has as well; a model that goes its own way has fewer."""
ROOT = 4
"""Letters by which two forms of a word are the same."""

LEAST_RUNS = 6
LEAST_NEW = 0.7
"""Of the runs of three words in a text that gets somewhere, those that differ."""

_WORD = re.compile(r"[^\W_][\w'’-]*")
_LONG_WORD = re.compile(r"[^\W\d_]{4,}")
_SENTENCE = re.compile(r"(?:\A|[.!?:\n])[\s\"'“”*-]*")
"""What comes before the first word of a sentence."""


def invented(notes: str, told: str) -> list[str]:
    """The names and numbers in a text that were not told: words with a capital inside a sentence, or with a digit.

    In a language that writes all nouns with a capital, or translates names, it finds too many.
    """
    known = {_bare(word) for word in _WORD.findall(told)}
    begun = {match.end() for match in _SENTENCE.finditer(notes)}
    return [
        word
        for word, at in ((match[0], match.start()) for match in _WORD.finditer(notes))
        if (any(map(str.isdigit, word)) or (word[0].isupper() and at not in begun)) and _bare(word) not in known
    ]


def _bare(word: str) -> str:
    return word.casefold().removesuffix("'s").removesuffix("’s")


def strays(text: str, told: str) -> bool:
    """Whether a text speaks of something else than what it is made of."""
    known = set(_roots(told))
    roots = list(_roots(text))
    return sum(root in known for root in roots) < LEAST_SHARED * len(roots)


def goes_in_circles(text: str) -> bool:
    """Whether it says the same again and again, as a small model does that has lost itself."""
    words = [word.casefold() for word in _WORD.findall(text)]
    runs = list(zip(words, words[1:], words[2:], strict=False))
    return len(runs) >= LEAST_RUNS and len(set(runs)) < LEAST_NEW * len(runs)


def _roots(text: str) -> Iterator[str]:
    return (word.casefold()[:ROOT] for word in _LONG_WORD.findall(text))
