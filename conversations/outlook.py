"""The context that lies ahead: what the model of a conversation would be sent next, before anything is sent.

Made by the function that the worker uses, of the rows it would read. What is shown on a page, told by the API and sent
in the end is one thing.
"""

from dataclasses import dataclass

from django.db.models import Q

from conversations import calibration
from conversations.context.record import Record
from conversations.context.values import StoredMessage
from conversations.contexts import Question, context_of, question_of
from conversations.models import Conversation, Turn
from conversations.prompts import cleaned_prompt, model_for
from conversations.tools.toolbox import toolbox_before

UNSENT = 0
"""Stands in a record for the question that has no row yet."""


@dataclass(frozen=True, slots=True)
class Outlook:
    """The record of a request that may come, the model it goes to, the question as it would be stored.

    `turn` is the live turn whose request it is: nothing else is sent before that has ended.
    """

    record: Record
    model: str
    prompt: str = ""
    turn: Turn | None = None


def next_context(conversation: Conversation | None, text: str = "", *, model: str = "") -> Outlook:
    """Of the question `text` behind the newest message of the branch one is on, for the conversation's own model or
    for `model`. None: of a conversation that is about to begin. Three queries at most; five more where
    something is left out, for what stands for it and what the question may bring back.

    Raises:
        PromptTooLong
    """
    prompt, model = cleaned_prompt(text), model or model_for(conversation)
    unsent = StoredMessage(UNSENT, "user", prompt, calibration.message_tokens(prompt, model))
    question = Question(conversation, conversation.head_id if conversation else None, unsent, model)
    tools = toolbox_before(conversation.pk if conversation else None, model=model)
    return Outlook(context_of(question, tools=tools, only_record=True).record, model, prompt)


def context_ahead(conversation: Conversation | None, text: str = "", *, model: str = "") -> Outlook:
    """Of the turn that is live on the branch one is on, else of the question `text`, as in `next_context`. Four
    queries at most, and what is brought back.

    Raises:
        PromptTooLong
    """
    live = _live_turn_of(conversation) if conversation else None
    return live_context(live) if live else next_context(conversation, text, model=model)


def live_context(turn: Turn) -> Outlook:
    """Of a turn that is being answered: what was recorded, or will be once a worker begins.

    Raises:
        PromptTooLong: then the worker will find the same.
    """
    if recorded := recorded_context(turn):
        return recorded
    tools = toolbox_before(turn.conversation_id, model=turn.model)
    return Outlook(
        context_of(question_of(turn), tools=tools, only_record=True).record, turn.model, turn.prompt.text, turn
    )


def recorded_context(turn: Turn) -> Outlook | None:
    """Of the newest request that was made for the turn; None: none was made yet."""
    record = Record.from_json(turn.context)
    return Outlook(record, turn.model, turn.prompt.text, turn) if record else None


def _live_turn_of(conversation: Conversation) -> Turn | None:
    head = conversation.head_id
    live = Turn.objects.live().filter(Q(prompt=head) | Q(messages=head), conversation=conversation)
    found: Turn | None = live.select_related("conversation", "prompt").first()
    return found
