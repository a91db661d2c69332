"""The formats that are read, told apart by what is in them and not by what a file is called.

To add one: a module with `NAME`, `LABEL`, `is_one` and `read`, named here.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Protocol

from conversations.transfer.incoming.containers import Container
from conversations.transfer.incoming.formats import chatgpt, claude, open_webui, own
from conversations.transfer.incoming.values import NewConversation


class Format(Protocol):
    NAME: str
    """Stored with what was brought in: it never changes."""
    LABEL: str

    def is_one(self, value: Any) -> bool:
        """Whether a value is a conversation of this format."""
        ...

    def read(self, value: dict[str, Any], container: Container, *, now: datetime) -> NewConversation:
        """Raises `Unfit`. Times after `now` are no times."""
        ...


FORMATS: Mapping[str, Format] = {one.NAME: one for one in (own, chatgpt, claude, open_webui)}

EXPECTED = (
    "Expected is a conversation or an export of PocketChat, an export of ChatGPT or Claude (the ZIP as it was sent to "
    "you, or conversations.json out of it), or chats exported from Open WebUI as JSON."
)


def format_of(value: Any) -> Format | None:
    return next((one for one in FORMATS.values() if one.is_one(value)), None)


def label_of(name: str) -> str:
    return FORMATS[name].LABEL if name in FORMATS else ""
