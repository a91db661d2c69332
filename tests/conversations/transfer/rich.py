"""A conversation with something of everything that a transcript may hold."""

from typing import Any

from conversations import tree
from conversations.answers import Said, write
from conversations.models import Conversation, Message, Turn
from tests.factories import answer, ask, edit, exchange, make_conversation, make_summary, regenerate

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
"""The smallest PNG, in base64."""

CALL = {"type": "tool_use", "id": "call_1", "name": "search_conversation", "input": {"query": "بيتزا 披萨 🍕"}}
RESULT = {
    "type": "tool_result",
    "tool_use_id": "call_1",
    "name": "search_conversation",
    "content": "Found:\n```\n1 pizza\n```",
    "is_error": False,
}


def make_rich(owner: Any, **fields: Any) -> Conversation:
    """Versions of a question and of an answer, tools, a picture, thinking; turns stopped, failed and cut off."""
    conversation = make_conversation(
        owner, title="Bread & <b>bees</b>", title_source="user", system_prompt="Speak of bread.", **fields
    )
    first = exchange(conversation, "What is bread?", "Flour, water, salt.")
    regenerate(first, "**Bread** is baked dough.")
    edit(first.prompt, "What is good bread?", "Crust.\n\n```python\nprint('''\n~~~\n''')\n```")
    with_tools(conversation)
    with_picture(conversation)
    answer(ask(conversation, "And then?"), "It was a dark and", status=Turn.Status.STOPPED)
    answer(ask(conversation, "Go on."), "", status=Turn.Status.FAILED, error_code="dropped")
    last = exchange(conversation, "Try <again>.", "Done.")
    Turn.objects.filter(pk=last.pk).update(
        was_cut_off=True,
        input_tokens=70,
        output_tokens=5,
        cached_tokens=9,
        cost="0.00001230",
        context={"sent": [last.prompt_id], "start": last.prompt_id, "sections": {"prompt": 5}, "digits": 0.1},
    )
    older = make_summary(first, "They spoke of flour.")
    make_summary(first, "They spoke of bread.", source="user", follows=older)
    conversation.refresh_from_db()
    return conversation


def with_tools(conversation: Conversation) -> Turn:
    """A reply that called a tool between its words, after some thought."""
    turn = ask(conversation, "What did I say of pizza?")
    said = [
        Said(
            Message.Role.ASSISTANT,
            [{"type": "thinking", "text": "They want pizza."}, {"type": "text", "text": "Let me look."}, CALL],
        ),
        Said(Message.Role.TOOL, [RESULT]),
    ]
    write(turn, said)
    turn.refresh_from_db()
    return answer(turn, "One pizza.", earlier=said)


def with_picture(conversation: Conversation) -> Turn:
    turn = ask(conversation, "What is this?")
    picture = {"type": "image", "media_type": "image/png", "data": PIXEL}
    prompt = turn.prompt
    prompt.content = [*prompt.content, picture]
    prompt.save(update_fields=["content"])
    return answer(turn, "A pixel.")


def go_back(conversation: Conversation, message: Message) -> None:
    """To another branch, as its owner does: where the one that is left was left is remembered."""
    tree.move_head(conversation, message.pk)
