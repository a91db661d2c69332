"""What a tool is, and what it may know of the turn it is called in."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from conversations.models import Turn
from conversations.providers.values import ToolSpec

Arguments = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Scene:
    """The turn that is being answered, and the time."""

    turn: Turn
    now: datetime


class ToolFault(Exception):
    """The tool did not do what it was asked; the sentence is for the model."""


class Tool(Protocol):
    """Something a model may call. It runs on the event loop of the replies and must not hold it up."""

    @property
    def spec(self) -> ToolSpec: ...

    async def run(self, arguments: Arguments, scene: Scene) -> str:
        """What the model is told; `arguments` fit the schema.

        Raises:
            ToolFault: with a sentence for the model. Whatever else is raised is told in general words.
        """
        ...
