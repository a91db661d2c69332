"""The vectors of messages that are put into the index, whatever an embedder refuses of them."""

import time
from collections.abc import Iterator, Sequence

from conversations import meaning
from conversations.models import Message
from conversations.providers.errors import ProviderError
from conversations.providers.values import Embedder

HARMLESS = "Hello"
"""A text that no embedder refuses."""

Some = Sequence[Message]


def indexed_text(message: Message) -> str:
    """Who speaks belongs to it: "what did you suggest" asks for the assistant's words."""
    return f"{message.role}: {message.text}"


def embedded(some: Some, *, until: float, model: Embedder) -> Iterator[tuple[Some, Sequence[meaning.Vector | None]]]:
    """All together; where the embedder refuses that, by halves, so that one message keeps no other out.

    None stands for the vector of a message that it refuses alone.

    Raises:
        ProviderError: the embedder did not answer; those that were yielded before are done.
    """
    if not some:
        return
    if len(some) == 1:
        yield some, [_of_one(some[0], until=until, model=model)]
        return
    texts = [indexed_text(message) for message in some]
    try:
        vectors = meaning.of_texts(some[0].conversation_id, texts, seconds=_left(until), model=model)
    except ProviderError as error:
        if error.code != "rejected":
            raise
        for half in (some[: len(some) // 2], some[len(some) // 2 :]):
            yield from embedded(half, until=until, model=model)
    else:
        yield some, vectors


def _of_one(message: Message, *, until: float, model: Embedder) -> meaning.Vector | None:
    """None: the embedder refuses this message, and not just any."""
    try:
        return meaning.of_text(message.conversation_id, indexed_text(message), seconds=_left(until), model=model)
    except ProviderError as error:
        if error.code != "rejected":
            raise
    # Where it refuses everything, as it may with a wrong setting, the message is not at fault, and stays out.
    meaning.of_texts(message.conversation_id, [HARMLESS], seconds=_left(until), model=model)
    return None


def _left(until: float) -> float:
    return max(until - time.monotonic(), 0.0)
