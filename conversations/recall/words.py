"""The words by which a text is found: one way to cut it, for what was said and for what is asked.

PostgreSQL takes over from here: it stems words and drops those that say nothing. Where a word begins and ends is not
left to it. It takes an address for one word, what stands in angle brackets for none and the month of a date for a
negative number, and knows no script without spaces.
"""

import re
from collections.abc import Iterator
from itertools import pairwise
from unicodedata import category, normalize

MOST_CHARACTERS = 20_000
"""Of a message that are indexed, the first. PostgreSQL refuses more lexemes than a megabyte."""

LONGEST = 100
"""Characters of a word; what is longer is no word, and the same for as long as it begins alike."""

LONGEST_NAME = 40
"""Characters of a word that is taken apart, which is a name that somebody made up; longer ones are keys."""

UNSPACED_RANGES = (
    "\u0e01-\u0e3a\u0e40-\u0e4e\u0e50-\u0e59\u0e81-\u0edf"  # Thai, Lao
    "\u1000-\u1049\u1050-\u109f\ua9e0-\ua9fe\uaa60-\uaa7f"  # Burmese
    "\u1780-\u17d3\u17d7\u17dc-\u17ef"  # Khmer
    "\u1950-\u19df\u1a20-\u1aad\ua000-\ua4cf\ua980-\ua9df\uaa00-\uaa5f\uaa80-\uaadf"  # Tai, Yi, Javanese, Cham
    "\u3005-\u3007\u3041-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3105-\u312f\u31a0-\u31bf\u31f0-\u31ff"  # kana, Bopomofo
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Chinese characters
)
UNSPACED = re.compile(f"[{UNSPACED_RANGES}]")
"""A character of a script that sets no spaces between words: full text takes such a sentence for one word."""

PAIRED_RANGES = f"{UNSPACED_RANGES}\u1100-\u11ff\u3131-\u318e\ua960-\ua97c\uac00-\ud7fb"
PAIRED = re.compile(f"[{PAIRED_RANGES}]")
"""The same, or of Korean, which sets spaces and hangs particles on its words."""


def _marks() -> str:
    """The characters that belong to the one before them, as a class of `re`, which has no name for them."""
    return "".join(map(chr, filter(lambda code: category(chr(code))[0] == "M", range(0x300, 0x12000))))


MARKS = _marks()
_LETTER = rf"(?![{PAIRED_RANGES}])[^\W_]"
_LETTERS = rf"(?:{_LETTER}[{MARKS}]*)+"

_UNSEEN = re.compile("[\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufe00-\ufe0f\ufeff]")
"""Hyphens that show at the end of a line alone, joiners, marks of direction: two spellings of one word."""

_TOKEN = re.compile(
    rf"(?P<run>[{PAIRED_RANGES}][{PAIRED_RANGES}{MARKS}]*)"
    rf"|[vV]?(?P<version>\d+(?:\.\d+)+)(?![^\W_])"
    rf"|(?P<initials>(?:[^\W\d_]\.){{2,}})"
    rf"|(?P<word>{_LETTERS}(?:[-_]{_LETTERS})*)"
)
_CLUSTER = re.compile(f".[{MARKS}]*", re.DOTALL)
"""A character with the signs that are set above, below or around it; a half of that is nothing one looks for."""


def said(text: str) -> str:
    """The words of what was said, with spaces between them. In the scripts of `PAIRED` pairs of characters stand for
    words: they overlap, and so find any word of two characters or more inside a sentence. The last character of such a
    run follows alone, so that every single one of them begins something that is indexed: see `is_beginning`.
    """
    return " ".join(_words(text, with_ends=True))


def asked(text: str) -> str:
    """The words of a question, as `said` has them, without those that are there for single characters alone."""
    return " ".join(_words(text, with_ends=False))


def is_beginning(word: str) -> bool:
    """Whether a word of `asked` is a single character of `PAIRED`, which is found in the pairs that begin with it."""
    return bool(PAIRED.match(word) and _CLUSTER.fullmatch(word))


def folded(text: str) -> str:
    """The same for all spellings of a text that look alike: composed or not, half or full width, small or large."""
    return normalize("NFKC", text.casefold()).replace("i\u0307", "i")  # The latter is what becomes of a Turkish İ.


def _words(text: str, *, with_ends: bool) -> Iterator[str]:
    seen = _UNSEEN.sub("", normalize("NFKC", text[:MOST_CHARACTERS]))[:MOST_CHARACTERS]
    for token in _TOKEN.finditer(seen):
        if run := token["run"]:
            yield from _pairs(_CLUSTER.findall(folded(run)), with_end=with_ends)
        elif version := token["version"]:
            yield from _versions(version)
        elif initials := token["initials"]:
            yield folded(initials.replace(".", ""))
        else:
            yield from _names(token["word"])


def _pairs(clusters: list[str], *, with_end: bool) -> Iterator[str]:
    for first, second in pairwise(clusters):
        yield first + second
    if with_end or len(clusters) == 1:
        yield clusters[-1]


def _versions(version: str) -> Iterator[str]:
    """3.11.2 is 3, 3.11 and 3.11.2: whoever names one may know less of it, or say more."""
    numbers = version[:LONGEST].split(".")
    for count in range(1, len(numbers) + 1):
        yield ".".join(numbers[:count])


def _names(word: str) -> Iterator[str]:
    """A word; one that is put together also as its parts, so that `snake_case`, `camelCase`, e-mail and email meet."""
    if len(word) > LONGEST_NAME:
        yield from (folded(piece)[:LONGEST] for piece in re.split("[-_]", word))
        return
    parts = [part for piece in re.split("[-_]", word) for part in _humps(piece)]
    yield from map(folded, parts)
    if len(parts) > 1:
        yield folded("".join(parts))


def _humps(word: str) -> list[str]:
    """Where small letters end and large ones begin, and where numbers do: parseHTMLPage2 is parse HTML Page 2."""
    if word.isalpha() and (word[1:].islower() or word.isupper()):
        return [word]
    cuts = [0, *(at for at in range(1, len(word)) if _is_cut(word[at - 1], word[at], word[at + 1 : at + 2])), len(word)]
    return [word[start:end] for start, end in pairwise(cuts)]


def _is_cut(before: str, here: str, after: str) -> bool:
    if before.isdigit() != here.isdigit():
        return not _is_mark(here)
    return here.isupper() and (before.islower() or (before.isupper() and after.islower()))


def _is_mark(character: str) -> bool:
    return character in MARKS
