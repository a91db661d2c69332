"""What the model sees of a conversation: the system prompt, the newest whole turns that fit, the question, and what
the question's own turn has brought so far."""

from collections.abc import Iterable, Sequence
from itertools import takewhile

from conversations.context.shortened import shortened_to
from conversations.context.transcript import as_chat
from conversations.context.values import Assembly, Budget, Record, Section, StoredMessage, StoredTurn, Toolbox
from conversations.providers.values import ChatRequest
from conversations.refusals import PromptTooLong

NO_TOOLS = Toolbox()


def as_turns(branch: Iterable[StoredMessage]) -> tuple[StoredTurn, ...]:
    """Group a branch, oldest first, into turns: each question begins one.

    What stands before the first question belongs to a turn whose beginning was not read, and is left out.
    """
    turns: list[list[StoredMessage]] = []
    for message in branch:
        if message.role == "user":
            turns.append([])
        if turns:
            turns[-1].append(message)
    return tuple(StoredTurn(tuple(messages)) for messages in turns)


def assemble(
    history: Sequence[StoredTurn],
    prompt: StoredMessage,
    *,
    system_prompt: str,
    system_tokens: int,
    budget: Budget,
    tools: Toolbox = NO_TOOLS,
    rounds: Sequence[StoredMessage] = (),
    must_answer: bool = False,
) -> Assembly:
    """Choose what is sent with `prompt`, and say what was chosen.

    `history` holds the earlier turns of the branch, oldest first; the newest are taken, whole and without a gap,
    while they fit. The system prompt and the question are never trimmed. `rounds` are the answers and results of the
    question's own turn: they come before the history, and only results are shortened when there is no room for them.
    Tools are offered where they leave room for the question.

    Raises:
        PromptTooLong: the question does not fit beside the system prompt and the reply.
    """
    largest = budget.largest_prompt(system=system_tokens)
    if prompt.tokens > largest:
        raise PromptTooLong(size=prompt.tokens, limit=largest, unit="tokens")
    if prompt.tokens + tools.tokens > largest:
        tools = NO_TOOLS
    fixed = system_tokens + tools.tokens
    rounds = shortened_to(budget.largest_prompt(system=fixed) - prompt.tokens, rounds)
    own = prompt.tokens + sum(message.tokens for message in rounds)
    window = _newest_that_fit(history, budget.history_beside(system=fixed, prompt=own))
    left_out = history[: len(history) - len(window)]
    sent = [*_messages(window), prompt]
    record = Record(
        sections=(
            Section("system", system_tokens),
            *([Section("tools", tools.tokens)] if tools.specs else []),
            Section("window", sum(turn.tokens for turn in window)),
            Section("prompt", prompt.tokens),
            *([Section("rounds", own - prompt.tokens)] if rounds else []),
        ),
        sent=tuple(message.id for message in sent),
        left_out=tuple(message.id for message in _messages(left_out)),
        reason="history_budget" if left_out else "",
    )
    messages = as_chat(system_prompt, [*sent, *rounds], with_tools=bool(tools.specs))
    request = ChatRequest(
        messages, max_tokens=budget.reply, tools=tools.specs, must_answer=must_answer and bool(tools.specs)
    )
    return Assembly(request, record)


def _newest_that_fit(history: Sequence[StoredTurn], tokens: int) -> Sequence[StoredTurn]:
    spent = 0

    def fits(turn: StoredTurn) -> bool:
        nonlocal spent
        spent += turn.tokens
        return spent <= tokens

    count = len(list(takewhile(fits, reversed(history))))
    return history[len(history) - count :]


def _messages(turns: Iterable[StoredTurn]) -> list[StoredMessage]:
    return [message for turn in turns for message in turn.messages]
