"""A conversation as people have them, long enough that a small window does not hold it."""

from pathlib import Path

from conversations.models import Conversation
from tests.factories import exchange

TALK = (Path(__file__).parent / "bread.md").read_text().removeprefix("## ").split("\n## ")
BREAD = tuple((question, reply.strip()) for question, _, reply in (turn.partition("\n") for turn in TALK))
"""Questions, and what was answered."""


def talk_about_bread(conversation: Conversation) -> None:
    for question, reply in BREAD:
        exchange(conversation, question, reply)
