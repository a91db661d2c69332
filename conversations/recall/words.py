"""A text in the words by which it is found, for PostgreSQL's full text search."""

import re

UNSPACED_RANGES = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
UNSPACED = re.compile(f"[{UNSPACED_RANGES}]")
"""A character of a script that sets no spaces between words: full text takes such a sentence for one word."""

UNSPACED_RUN = re.compile(f"[{UNSPACED_RANGES}]+")

MOST_CHARACTERS = 20_000
"""Of a message that are indexed, the first. PostgreSQL refuses more lexemes than a megabyte."""


def spaced(text: str) -> str:
    """The text with the scripts that set no spaces cut into pairs of characters, which stand for words.

    PostgreSQL has no dictionary that knows where a Chinese or Japanese word ends; pairs that overlap find any word of
    two characters or more inside a sentence.
    """
    return UNSPACED_RUN.sub(lambda run: f" {' '.join(_pairs(run[0]))} ", text[:MOST_CHARACTERS])


def _pairs(run: str) -> list[str]:
    return [run[at : at + 2] for at in range(max(len(run) - 1, 1))]
