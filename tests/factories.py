"""Rows for tests, in as few words as the test needs."""

from itertools import count
from typing import Any
from uuid import uuid4

from django.contrib.auth.hashers import PBKDF2PasswordHasher

from accounts.models import User
from conversations import asking, branches, turns
from conversations.models import Conversation, Message, Summary, Turn
from conversations.text import estimate_tokens

PASSWORD = "correct horse battery staple"
_numbers = count(1)


class QuickHasher(PBKDF2PasswordHasher):
    """Passwords that any process of the product can check, and that take no time to make."""

    iterations = 1


def make_user(email: str = "") -> User:
    return User.objects.create_user(email or f"person{next(_numbers)}@example.org", PASSWORD)


def make_conversation(owner: User, **fields: object) -> Conversation:
    return Conversation.objects.create(owner=owner, request_key=str(uuid4()), **fields)


def ask(conversation: Conversation, text: str = "Why?") -> Turn:
    """A queued turn behind whatever the conversation's newest message is."""
    head = Conversation.objects.values_list("head_id", flat=True).get(pk=conversation.pk)
    key = str(uuid4())
    return asking.ask(conversation.pk, text=text, request_key=key, parent_id=head, model="openai:scripted").turn


def answer(turn: Turn, text: str = "Because.", *, status: Turn.Status = Turn.Status.COMPLETE, **facts: Any) -> Turn:
    """End a queued turn as a worker would; an empty text leaves it without an answer."""
    if turn.status == Turn.Status.QUEUED:
        turns.claim(turn.pk, lease=asking.QUEUE_PATIENCE)
    content = [{"type": "text", "text": text}] if text else []
    turns.finish(turn, turns.Outcome(status, content, **facts))
    turn.refresh_from_db()
    return turn


def exchange(conversation: Conversation, question: str = "Why?", reply: str = "Because.") -> Turn:
    """A whole turn: asked and answered."""
    return answer(ask(conversation, question), reply)


def regenerate(turn: Turn, reply: str = "") -> Turn:
    """Another attempt at a turn's question, answered when there is a reply."""
    again = asking.retry(turn, request_key=str(uuid4()), model="openai:scripted").turn
    return answer(again, reply) if reply else again


def edit(question: Message, text: str, reply: str = "") -> Turn:
    """The question in other words, answered when there is a reply."""
    asked = branches.edit(question, text=text, request_key=str(uuid4()), model="openai:scripted")
    return answer(asked.turn, reply) if reply else asked.turn


def reply_of(turn: Turn) -> Message:
    """The first message of what answered it."""
    reply: Message = Message.objects.get(turn=turn, parent_id=turn.prompt_id)
    return reply


def branch_texts(conversation: Conversation) -> list[str]:
    """The active branch, from the first word to the last."""
    conversation.refresh_from_db()
    return [message.text for message in Message.objects.branch(conversation.head_id, rows=10_000)]


def make_summary(turn: Turn, text: str = "They spoke of bees.", *, source: str = "model", **fields: Any) -> Summary:
    """A version of the summary of everything up to and including a turn."""
    through = Message.objects.filter(turn=turn).latest("pk")
    return Summary.objects.create(
        conversation_id=turn.conversation_id,
        through_message=through,
        text=text,
        tokens=estimate_tokens(text),
        source=source,
        model="openai:small" if source == "model" else "",
        **fields,
    )
