"""A conversation as the workers live through it, without the workers."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from conversations.context.record import Record
from conversations.context.values import StoredMessage, Toolbox
from conversations.contexts import Question, context_of, question_of, record_context
from conversations.models import Conversation, Message, Turn
from conversations.prompts import model_for
from conversations.providers.chat import StreamedChatModel
from conversations.providers.loop import models_loop
from conversations.providers.registry import chat_model, small_model_name
from conversations.providers.values import ChatModel
from tests.factories import answer, ask


@contextmanager
def fresh_small_model() -> Iterator[None]:
    """The small model belongs to the test's provider, and is closed before that is gone."""
    chat_model.cache_clear()
    yield
    asyncio.run_coroutine_threadsafe(_close(chat_model(small_model_name())), models_loop()).result()
    chat_model.cache_clear()


async def _close(model: ChatModel) -> None:
    assert isinstance(model, StreamedChatModel)
    await model.close()


def lived(
    conversation: Conversation, turns: int, *, question: str = "", reply: str = "", tokens: int = 10, **ended: Any
) -> list[Record]:
    """So many turns more, with the record of the request of each; question and answer take `tokens` each."""
    return [_lived(conversation, question, reply, tokens, ended) for _ in range(turns)]


def _lived(conversation: Conversation, question: str, reply: str, tokens: int, ended: dict[str, Any]) -> Record:
    number = Turn.objects.filter(conversation=conversation).count()
    turn = ask(conversation, question or f"Question {number}?")
    Turn.objects.filter(pk=turn.pk).update(model=model_for(conversation))
    turn.refresh_from_db()
    record = context_of(question_of(turn), tools=Toolbox()).record
    record_context(turn, record.as_json())
    answer(turn, reply or f"Answer {number}.", **ended)
    Message.objects.filter(turn=turn).update(tokens=tokens)
    return record


def sent_next(conversation: Conversation) -> str:
    """What the model would be told before the window with the next question."""
    conversation.refresh_from_db()
    prompt = StoredMessage(10**12, "user", "Next?", 5)
    asked = Question(conversation, conversation.head_id, prompt, model_for(conversation))
    return context_of(asked, tools=Toolbox()).request.messages[0].text
