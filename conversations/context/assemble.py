"""The product's own policy: a request to a model and the record of what it contains, made from one choice."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from conversations.context.choice import NO_TOOLS, Choice, choose
from conversations.context.recalled import with_recollections
from conversations.context.record import Recalled, Record
from conversations.context.summarised import summary_message
from conversations.context.transcript import as_chat
from conversations.context.values import (
    Abilities,
    Assembly,
    Budget,
    Past,
    StoredMessage,
    StoredTurn,
    SystemPrompt,
    Toolbox,
    WindowPolicy,
)
from conversations.context.windows import stepped
from conversations.providers.values import ChatMessage, ChatRequest

NOTHING_ASKED = "[This message is empty.]"
"""In the place of a question that came without words, as some have that were brought from elsewhere."""


def as_turns(branch: Iterable[StoredMessage]) -> tuple[StoredTurn, ...]:
    """Group a branch, oldest first, into turns: each question begins one.

    What stands before the first question belongs to a turn whose beginning was not read, and is left out. So are system
    messages, which some branches brought from elsewhere hold: the system prompt is the conversation's.
    """
    turns: list[list[StoredMessage]] = []
    for message in branch:
        if message.role == "user":
            turns.append([])
        if turns and message.role != "system":
            turns[-1].append(message)
    return tuple(StoredTurn(tuple(messages)) for messages in turns)


def assemble(
    past: Past,
    prompt: StoredMessage,
    *,
    system: SystemPrompt,
    budget: Budget,
    policy: WindowPolicy | None = None,
    takes_images: bool = False,
    tools: Toolbox = NO_TOOLS,
    rounds: Sequence[StoredMessage] = (),
    must_answer: bool = False,
) -> Assembly:
    """Choose what is sent with `prompt`, and say what was chosen.

    `policy` chooses the earlier turns that are sent, whole and without a gap (None: `stepped`, as for a first
    request). The system prompt and the question are never trimmed. A summary is sent when something before the window
    is not, and of the recollections those with the best scores that the window does not hold anyway. `rounds` are
    the answers and results of the question's own turn: they get room before the window does, and only results are
    shortened when there is too little. Tools are offered where they leave room for the question.

    Any history gives a request that its model accepts.

    Raises:
        PromptTooLong: the question does not fit beside the system prompt and the reply.
    """
    choice = choose(past, prompt, system=system, budget=budget, policy=policy or stepped(), tools=tools, rounds=rounds)
    abilities = Abilities(tools=bool(choice.tools.specs), images=takes_images)
    request = ChatRequest(
        _messages(choice, abilities),
        max_tokens=budget.reply,
        tools=choice.tools.specs,
        must_answer=must_answer and abilities.tools,
    )
    return Assembly(request, _record(choice, rounds, budget, abilities))


def _messages(choice: Choice, abilities: Abilities) -> tuple[ChatMessage, ...]:
    """In the order of a request: what stays the same comes first, what belongs to the question last."""
    beginning = [choice.system.text, summary_message(choice.summary.text).text if choice.summary else ""]
    has_something = choice.prompt.text.strip() or choice.prompt.images
    asked = choice.prompt.text if has_something else NOTHING_ASKED
    question = replace(choice.prompt, text=with_recollections(asked, choice.recalled))
    return as_chat(
        "\n\n".join(text for text in beginning if text.strip()),
        [*choice.earlier, question, *choice.rounds],
        abilities=abilities,
    )


def _record(choice: Choice, rounds: Sequence[StoredMessage], budget: Budget, abilities: Abilities) -> Record:
    sent = [*choice.earlier, choice.prompt]
    return Record(
        sections=choice.sections,
        sent=tuple(message.id for message in sent),
        left_out=choice.left_out,
        summary=choice.summary.id if choice.summary else None,
        summarised_through=choice.summary.through if choice.summary else None,
        recalled=tuple(Recalled(one.turn.ids, one.score) for one in choice.recalled),
        tools=tuple(spec.name for spec in choice.tools.specs),
        was_cut=choice.window.was_cut,
        shortened=sum(cut != whole for cut, whole in zip(choice.rounds, rounds, strict=True)),
        images_left_out=sum(len(one.images) for one in sent if not (abilities.images and one.role == "user")),
        window=budget.window,
        reply=budget.reply,
        history=choice.room,
    )
