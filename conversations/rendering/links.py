"""Which addresses become links: http, https and mailto, written out with their scheme.

A bare `example.com` stays text, since `main.py` and `README.md` are names of files far more often than hosts.
"""

import re
from collections.abc import Iterator
from html import escape

_LINKABLE = re.compile(r"(?:https?://|mailto:)[^\s]", re.IGNORECASE)
_LONGEST_ADDRESS = 2_048

# Quotes, angle brackets and the punctuation of Chinese and Japanese end an address.
_ADDRESS = re.compile(r"(?<![A-Za-z0-9_/.@-])https?://[^\s<>\"`\u3000-\u303f\uff00-\uffef]+", re.IGNORECASE)
_NOT_LAST = ".,;:!?'*_~\\"
_PAIRS = {")": "(", "]": "[", "}": "{"}


def is_linkable(address: str) -> bool:
    return _LINKABLE.match(address) is not None


def addresses(text: str) -> Iterator[tuple[int, int]]:
    """Start and end of each http(s) address written out in a text, without the punctuation after it."""
    for found in _ADDRESS.finditer(text):
        if len(found[0]) > _LONGEST_ADDRESS:
            continue
        length = _without_tail(found[0])
        if not found[0][:length].endswith("//"):
            yield found.start(), found.start() + length


def _without_tail(address: str) -> int:
    """The length of an address without closing punctuation; a bracket opened inside it may close."""
    end = len(address)
    while end:
        last = address[end - 1]
        unpaired = last in _PAIRS and address.count(last, 0, end) > address.count(_PAIRS[last], 0, end)
        if last not in _NOT_LAST and not unpaired:
            break
        end -= 1
    return end


def link(address: str) -> str:
    """The anchor of an address, escaped. What every link carries besides is set by the sanitiser."""
    escaped = escape(address)
    return f'<a href="{escaped}">{escaped}</a>'
