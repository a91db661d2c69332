"""Where a text says what was looked for: a few words around it, with the places marked. Pure functions."""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

from conversations.recall.lexemes import Sought, folded, words_in
from conversations.recall.words import UNSPACED

WIDTH = 240
"""Characters of an excerpt."""

BEFORE = 70
"""Of these, in front of the first place."""

FARTHEST = 50_000
"""Characters that are looked through for a place where letters are written in another form than in the query."""


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of an excerpt."""

    text: str
    is_match: bool = False


def marked(text: str, looked_for: Sought) -> tuple[Part, ...]:
    """All of a short text in pieces."""
    text, at = unicodedata.normalize("NFC", text), 0
    parts: list[Part] = []
    for start, end in _places(text, looked_for):
        parts += [Part(text[at:start]), Part(text[start:end], is_match=True)]
        at = end
    return tuple(part for part in (*parts, Part(text[at:])) if part.text)


def excerpt(text: str, looked_for: Sought) -> tuple[Part, ...]:
    """A line of a long text, from a little before the first place in it; its beginning where there is none."""
    text = unicodedata.normalize("NFC", text)
    start = max(_first_place(text, looked_for) - BEFORE, 0)
    end = min(start + WIDTH, len(text))
    start, end = _at_spaces(text, start, end)
    line = " ".join(text[start:end].split())
    return marked(("… " if start else "") + line + (" …" if end < len(text) else ""), looked_for)


def _first_place(text: str, looked_for: Sought) -> int:
    """Of the longest of the words, which tells the most, if it is written as in the query; else of any."""
    names = sorted({*looked_for.words, *looked_for.runs, looked_for.prefix} - {""}, key=len, reverse=True)
    for name in names:
        if as_written := re.search(rf"(?<!\w){re.escape(name)}", text, re.IGNORECASE):
            return as_written.start()
    for name in looked_for.runs:
        if (at := text.find(name)) >= 0:
            return at
    return next((start for start, _ in _places(text[:FARTHEST], looked_for)), 0)


def _at_spaces(text: str, start: int, end: int) -> tuple[int, int]:
    """Words are not cut, where there are spaces."""
    if start and (space := text.find(" ", start, start + BEFORE // 2)) >= 0:
        start = space + 1
    if end < len(text) and (space := text.rfind(" ", end - BEFORE // 2, end)) >= 0:
        end = space
    return start, end


def _places(text: str, looked_for: Sought) -> Iterator[tuple[int, int]]:
    """Where words of the query begin and end, in order."""
    for found in words_in(text):
        word = folded(found[0])
        if UNSPACED.search(word):
            yield from _inside(found.start(), word, looked_for)
        elif word in looked_for.words or (looked_for.prefix and word.startswith(looked_for.prefix)):
            yield found.span()


def _inside(offset: int, word: str, looked_for: Sought) -> Iterator[tuple[int, int]]:
    """Of a sentence without spaces; each of its characters is one in the text, too."""
    names = [re.escape(name) for name in (*looked_for.runs, *looked_for.words, looked_for.prefix) if name]
    longest_first = "|".join(sorted(names, key=len, reverse=True))
    for found in re.finditer(longest_first, word) if longest_first else ():
        yield offset + found.start(), offset + found.end()
