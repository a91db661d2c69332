"""Results of tools cut down to the room there is."""

from collections.abc import Sequence
from dataclasses import replace

from conversations.context.values import StoredMessage
from conversations.providers.values import ToolResult

NOTE = "\n[Shortened: {left_out:,} of {whole:,} characters are left out.]"
NOTE_TOKENS = 20


def shortened(text: str, characters: int) -> str:
    """The beginning of a text of more than so many characters, and a note of how much is missing."""
    if len(text) <= characters:
        return text
    return text[:characters] + NOTE.format(left_out=len(text) - characters, whole=len(text))


def shortened_to(tokens: int, rounds: Sequence[StoredMessage]) -> tuple[StoredMessage, ...]:
    """The messages with their results cut so that all take at most about so many tokens.

    What the model itself wrote stays whole. Results share what is left evenly; one that takes less than its share
    leaves the rest to the others.
    """
    if sum(message.tokens for message in rounds) <= tokens:
        return tuple(rounds)
    results = [message for message in rounds if message.results]
    room = tokens - sum(message.tokens for message in rounds if not message.results)
    share = _even_share([message.tokens for message in results], max(room, 0))
    return tuple(_cut(message, share) if message.results and message.tokens > share else message for message in rounds)


def _even_share(sizes: Sequence[int], room: int) -> int:
    """The largest size such that sizes cut to it fit into the room."""
    for taken, size in enumerate(ordered := sorted(sizes)):
        if size * (len(ordered) - taken) > room:
            return room // (len(ordered) - taken)
        room -= size
    return max(ordered, default=0)


def _cut(message: StoredMessage, tokens: int) -> StoredMessage:
    """In proportion: a result's share of the message's tokens is its share of the characters."""
    kept = max(tokens - NOTE_TOKENS * len(message.results), 0) / message.tokens
    results = tuple(_cut_result(result, kept) for result in message.results)
    return replace(message, results=results, tokens=tokens)


def _cut_result(result: ToolResult, kept: float) -> ToolResult:
    return replace(result, text=shortened(result.text, int(len(result.text) * kept)))
