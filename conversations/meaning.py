"""What texts mean, as vectors: of a question asked for once, and never where others would be held up."""

import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from functools import wraps
from hashlib import blake2b
from threading import Lock
from typing import Concatenate, ParamSpec, Protocol, TypeVar
from uuid import UUID

import structlog
from django.contrib.auth.models import AnonymousUser
from django.db import connection

from accounts.models import User
from conversations import pauses
from conversations.models import ModelCall
from conversations.pace import may_recall
from conversations.providers.errors import ProviderError
from conversations.providers.registry import embedder
from conversations.providers.values import Embedded, Embedder, Finished
from conversations.tracing import call_of, keep

P = ParamSpec("P")
Q = TypeVar("Q", bound="Asking")
R = TypeVar("R")

log = structlog.get_logger(__name__)

EMBEDDED_CHARACTERS = 2000
"""Of a text whose meaning is embedded, the first: a vector of a long text means a little of everything."""

QUESTION_SECONDS = 2.0
"""A reply waits for its question's meaning; then it is looked for by its words alone."""

INDEX_SECONDS = 30.0
"""The index, which is written behind replies, waits for a batch."""

SHORT_CHARACTERS = 500
"""Of a text that the embedder refuses, so many are tried, which hardly any finds too long."""

MOST_KEPT = 256
"""Meanings of questions in a process, 4 MB: a preview is asked for again while one types, and the request follows."""

KEPT_SECONDS = 600.0
"""A question's meaning is kept so long, without its words."""

Vector = Sequence[float]

_kept: OrderedDict[bytes, tuple[Vector, float]] = OrderedDict()
"""With the moment until which."""
_lock = Lock()
_wanted: ContextVar[list[tuple[UUID, str]] | None] = ContextVar("wanted", default=None)


def of_texts(
    conversation_id: UUID, texts: Sequence[str], *, seconds: float = INDEX_SECONDS, model: Embedder | None = None
) -> list[list[float]]:
    """A vector of length 1 for each, in order; `model` is the installation's embedder unless another is given. A call
    to a provider leaves a trace.

    Raises:
        ProviderError: the embedder did not answer in time, or not as it should.
    """
    model, began = model or embedder(), time.monotonic()
    outcome, embedded = "ok", Embedded([])
    try:
        embedded = _embedded(model, [text[:EMBEDDED_CHARACTERS] for text in texts], seconds=seconds)
    except ProviderError as error:
        outcome = error.code
        raise
    finally:
        if model.is_remote:
            keep(
                call_of(
                    conversation_id,
                    ModelCall.Purpose.EMBEDDING,
                    model.name.rpartition("@")[0],
                    end=Finished(embedded.input_tokens, None, None, embedded.cost, was_cut_off=False),
                    latency_ms=round((time.monotonic() - began) * 1000),
                    outcome=outcome,
                )
            )
    return embedded.vectors


def _embedded(model: Embedder, texts: Sequence[str], *, seconds: float) -> Embedded:
    try:
        embedded = model.embed(texts, seconds=seconds)
    except ProviderError:
        raise
    except Exception as error:  # Whatever an embedder does wrong costs what it was asked for, and nothing else.
        log.warning("embedder_failed", embedder=model.name, error=type(error).__name__)
        raise ProviderError("provider_down") from error
    if len(embedded.vectors) != len(texts):
        raise ProviderError("garbled")
    return embedded


def of_text(
    conversation_id: UUID, text: str, *, seconds: float = INDEX_SECONDS, model: Embedder | None = None
) -> list[float]:
    """Of one text, or of its beginning where the embedder refuses the whole, within so many seconds altogether.

    Raises:
        ProviderError: `rejected`: it refuses the beginning, too; and as `of_texts` does.
    """
    until = time.monotonic() + seconds
    try:
        [vector] = of_texts(conversation_id, [text], seconds=seconds, model=model)
    except ProviderError as error:
        if error.code != "rejected" or len(text) <= SHORT_CHARACTERS:
            raise
        left = max(until - time.monotonic(), 0)
        [vector] = of_texts(conversation_id, [text[:SHORT_CHARACTERS]], seconds=left, model=model)
    return vector


def of_question(conversation_id: UUID, question: str, *, model: Embedder | None = None) -> Vector:
    """As it was embedded lately, else now.

    Raises:
        ProviderError: the embedder does not answer, or did not a moment ago.
    """
    model = model or embedder()
    if (known := _at_hand(question, model)) is not None:
        return known
    if pauses.is_paused(model, "question"):
        raise ProviderError("unreachable")
    try:
        vector = of_text(conversation_id, question, seconds=QUESTION_SECONDS, model=model)
    except ProviderError as error:
        pauses.pause_after(error, model, "question")
        raise
    with _lock:
        _kept[_key(question, model)] = vector, time.monotonic() + KEPT_SECONDS
        while len(_kept) > MOST_KEPT:
            _kept.popitem(last=False)
    return vector


def if_at_hand(conversation_id: UUID, question: str, *, model: Embedder | None = None) -> Vector | None:
    """None: it is not to be had now, and the question's words must do; the log says why.

    In a transaction nobody waits for a provider: `embedded_between` asks for it when that is over.
    """
    try:
        model = model or embedder()
        if _must_wait(question, model):
            if (wanted := _wanted.get()) is not None:
                wanted.append((conversation_id, question))
            return None
        return of_question(conversation_id, question, model=model)
    except ProviderError as error:
        log.warning("question_not_embedded", conversation=str(conversation_id), code=error.code)
        return None


class Asking(Protocol):
    """A request of Django's, or of the API's."""

    @property
    def user(self) -> User | AnonymousUser: ...


def embedded_between(answer: Callable[Concatenate[Q, P], R]) -> Callable[Concatenate[Q, P], R]:
    """Run again what reads in a transaction of its own, if it lacked a question's meaning, once that is known.

    It answers a request of somebody; who asks too often is told what is found by words alone.
    """

    @wraps(answer)
    def answered(request: Q, /, *args: P.args, **kwargs: P.kwargs) -> R:
        wanted: list[tuple[UUID, str]] = []
        token = _wanted.set(wanted)
        try:
            first = answer(request, *args, **kwargs)
        finally:
            _wanted.reset(token)
        learned = [one for one in wanted if may_recall(request.user) and if_at_hand(*one) is not None]
        # By words alone, because it is too often, or the embedder does not answer: that is the first answer already.
        return answer(request, *args, **kwargs) if learned else first

    return answered


def forget() -> None:
    """What this process knows of questions, and of providers that did not answer."""
    pauses.forget()
    with _lock:
        _kept.clear()


def _must_wait(question: str, model: Embedder) -> bool:
    return model.is_remote and connection.in_atomic_block and _at_hand(question, model) is None


def _at_hand(question: str, model: Embedder) -> Vector | None:
    with _lock:
        for old in [key for key, (_, until) in _kept.items() if until < time.monotonic()]:
            del _kept[old]
        if (key := _key(question, model)) not in _kept:
            return None
        _kept.move_to_end(key)
        return _kept[key][0]


def _key(question: str, model: Embedder) -> bytes:
    """No text is kept: only whether it is the same, embedded by the same."""
    return blake2b(f"{model.name}\0{question}".encode("utf-8", "replace"), digest_size=16).digest()
