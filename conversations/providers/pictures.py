"""Images as providers take them: one of four formats, told from the bytes and not from what was said of them."""

import binascii
from base64 import b64decode
from dataclasses import dataclass

from conversations.providers.values import Image

UNREADABLE = "[An image is left out: it cannot be read.]"

MOST_BYTES = 5_000_000
"""Anthropic refuses larger ones; others take somewhat more."""

BEGINNINGS = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
)


@dataclass(frozen=True, slots=True)
class Picture:
    """An image that can be sent."""

    media_type: str
    data: bytes


def readable(image: Image) -> Picture | None:
    """None for what a provider would refuse the whole request for: broken base64, another format, one too large."""
    try:
        data = b64decode("".join(image.data.split()), validate=True)
    except (binascii.Error, ValueError):
        return None
    media_type = _told_by(data)
    return Picture(media_type, data) if media_type and len(data) <= MOST_BYTES else None


def _told_by(data: bytes) -> str:
    """A format that was claimed and is another one is refused by Anthropic. Empty: none that is taken everywhere."""
    if data.startswith(b"RIFF") and data[8:12] == b"WEBP":
        return "image/webp"
    return next((media_type for beginning, media_type in BEGINNINGS if data.startswith(beginning)), "")
