"""Reading what others wrote: whatever a field holds, a value of the kind that is meant comes of it, or none."""

from datetime import UTC, datetime
from typing import Any

from conversations.blocks import Block

EARLIEST = datetime(2000, 1, 1, tzinfo=UTC)
MILLISECONDS = 1e11
"""A number of seconds beyond this is one of milliseconds."""
NANOSECONDS = 1e16

SIGNATURES = {
    b"\x89PNG\r\n\x1a\n": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"GIF87a": "image/gif",
    b"GIF89a": "image/gif",
}


def text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def items(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def moment(value: Any, *, now: datetime) -> datetime | None:
    """Seconds since 1970, milliseconds, or ISO 8601. None for what is no time, or none a chat can be of."""
    try:
        if isinstance(value, str):
            found = datetime.fromisoformat(value)
        elif isinstance(value, int | float) and not isinstance(value, bool):
            found = datetime.fromtimestamp(_seconds(value), UTC)
        else:
            return None
        found = found.astimezone(UTC) if found.tzinfo else found.replace(tzinfo=UTC)
    except (ValueError, OverflowError, OSError):
        return None
    return found if EARLIEST <= found <= now else None


def _seconds(value: float) -> float:
    if value > NANOSECONDS:
        return value / 1e9
    return value / 1e3 if value > MILLISECONDS else value


def said(words: str) -> tuple[Block, ...]:
    """None for no words."""
    return ({"type": "text", "text": words},) if words.strip() else ()


def thought(words: str) -> tuple[Block, ...]:
    return ({"type": "thinking", "text": words},) if words.strip() else ()


def picture_kind(data: bytes) -> str:
    """Told from its first bytes: names lie. Empty: none that is shown."""
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    return next((kind for signature, kind in SIGNATURES.items() if data.startswith(signature)), "")
