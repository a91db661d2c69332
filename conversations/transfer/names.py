"""Names of files made of titles: in any script, on any system, leading nowhere."""

import re
import unicodedata

MOST_BYTES = 120
"""Of a name without its ending; file systems take 255, and unpacked archives stand in deep folders."""

_FORBIDDEN = re.compile(r'[\x00-\x1f\x7f-\x9f/\\:*?"<>|]+')
"""By Linux, macOS or Windows."""
_UNSEEN = re.compile("[\u061c\u200b\u200e\u200f\u2028\u2029\u202a-\u202e\u2060\u2066-\u2069\ufeff\ufff9-\ufffb]")
"""Marks that turn the direction of what is read: with them `exe.txt` may be shown for `txt.exe`. Joiners, which
Persian and emoji need, stay."""
_RESERVED = re.compile(r"(con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³])(?=\.|$)", re.IGNORECASE)
_HALVES = "\u200c\u200d\ufe0f"


def safe_name(title: str, *, otherwise: str) -> str:
    """The title as a name without an ending; `otherwise` where nothing of it can stay."""
    text = unicodedata.normalize("NFC", title.encode("utf-8", "ignore").decode())
    text = " ".join(_FORBIDDEN.sub(" ", _UNSEEN.sub("", text)).split())
    text = _cut(text.strip(". ")).strip(". ")
    if _RESERVED.match(text):
        text = f"_{text}"
    return text or otherwise


def _cut(text: str) -> str:
    """At most so many bytes, not in the middle of a character, nor behind a half of one."""
    if len(text.encode()) <= MOST_BYTES:
        return text
    text = text.encode()[:MOST_BYTES].decode("utf-8", "ignore")
    return text.rstrip(_HALVES)
