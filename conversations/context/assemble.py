"""What the model sees of a conversation: the system prompt, the newest whole turns that fit, the question."""

from collections.abc import Iterable, Sequence
from itertools import takewhile

from conversations.context.values import Assembly, Budget, Record, Section, StoredMessage, StoredTurn
from conversations.providers.values import ChatMessage, ChatRequest
from conversations.refusals import PromptTooLong


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
    history: Sequence[StoredTurn], prompt: StoredMessage, *, system_prompt: str, system_tokens: int, budget: Budget
) -> Assembly:
    """Choose what is sent with `prompt`, and say what was chosen.

    `history` holds the earlier turns of the branch, oldest first; the newest are taken, whole and without a gap,
    while they fit. The system prompt and the question are never trimmed.

    Raises:
        PromptTooLong: the question does not fit beside the system prompt and the reply.
    """
    largest = budget.largest_prompt(system=system_tokens)
    if prompt.tokens > largest:
        raise PromptTooLong(size=prompt.tokens, limit=largest, unit="tokens")
    window = _newest_that_fit(history, budget.history_beside(system=system_tokens, prompt=prompt.tokens))
    left_out = history[: len(history) - len(window)]
    sent = [*_messages(window), prompt]
    record = Record(
        sections=(
            Section("system", system_tokens),
            Section("window", sum(turn.tokens for turn in window)),
            Section("prompt", prompt.tokens),
        ),
        sent=tuple(message.id for message in sent),
        left_out=tuple(message.id for message in _messages(left_out)),
        reason="history_budget" if left_out else "",
    )
    return Assembly(ChatRequest(_alternating(system_prompt, sent), max_tokens=budget.reply), record)


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


def _alternating(system_prompt: str, sent: Sequence[StoredMessage]) -> tuple[ChatMessage, ...]:
    """In the form every provider accepts: system first, then the two roles in turns, no empty text.

    Two questions stand in a row where the reply between them failed; they are sent as one.
    """
    chat = [ChatMessage("system", system_prompt)] if system_prompt.strip() else []
    for message in sent:
        if message.role not in ("user", "assistant") or not message.text.strip():
            continue
        if message.role == "assistant" and (not chat or chat[-1].role == "system"):
            continue  # What it answers has no words.
        if chat and chat[-1].role == message.role:
            chat[-1] = ChatMessage(message.role, f"{chat[-1].text}\n\n{message.text}")
        else:
            chat.append(ChatMessage(message.role, message.text))
    return tuple(chat)
