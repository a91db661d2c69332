"""Anthropic messages, as https://platform.claude.com/docs/en/api/messages describes them."""

import json
from collections.abc import Iterable, Iterator

from tests.provider.dialect import Answer, EventStream, Json, Refusal, to_json
from tests.provider.replies import Failure, FailureKind, Finish, Usage
from tests.provider.rules import broken_by_anthropic
from tests.provider.tokens import prompt_tokens

CONTEXT_WINDOW = 200_000  # tokens, as told in the error of a context that is too long

# A content block as it starts, the deltas that fill it, and those that go out with the last of them.
_Part = tuple[Json, Iterable[Json], tuple[Json, ...]]

_STOP_REASONS: dict[Finish, str] = {"stop": "end_turn", "length": "max_tokens", "content_filter": "refusal"}
_TOO_LONG = (400, "invalid_request_error", "prompt is too long: {tokens} tokens > {window} maximum")
_WORDINGS: dict[FailureKind, tuple[int, str, str]] = {
    "authentication": (401, "authentication_error", "invalid x-api-key"),
    "model_not_found": (404, "not_found_error", "model: {model}"),
    "bad_request": (400, "invalid_request_error", "Invalid value in the request."),
    "context_too_long": _TOO_LONG,
    "context_too_long_llama_cpp": _TOO_LONG,
    "rate_limit": (429, "rate_limit_error", "This request would exceed your organization's rate limit."),
    "quota": (400, "invalid_request_error", "Your credit balance is too low to access the Anthropic API."),
    "server": (500, "api_error", "Internal server error"),
    "overloaded": (529, "overloaded_error", "Overloaded"),
}


broken_rule = broken_by_anthropic


def stream(answer: Answer) -> EventStream:
    # Billing starts with one output token; the last event tells the true number.
    start = _message(answer) | {"usage": _usage(answer.usage) | {"output_tokens": 1}}
    opening = _event("message_start", {"message": start}) + _event("ping", {})
    deltas = (delta.encode() for delta in _deltas(answer))
    return EventStream(opening.encode(), deltas, _closing(answer).encode())


def message(answer: Answer) -> Json:
    return _message(answer) | {
        "content": list(_blocks(answer)),
        "stop_reason": _stop_reason(answer),
        "usage": _usage(answer.usage),
    }


def refusal(failure: Failure, answer: Answer) -> Refusal:
    status, kind, message = _WORDINGS[failure.kind]
    tokens = prompt_tokens(answer.body)
    text = failure.message or message.format(model=answer.model, tokens=tokens, window=CONTEXT_WINDOW)
    error = {"type": kind, "message": text}
    return Refusal(status, {"type": "error", "error": error, "request_id": f"req_{answer.number}"})


def failure_event(failure: Failure, answer: Answer) -> bytes:
    return _event("error", refusal(failure, answer).content).encode()


def model_list(names: tuple[str, ...]) -> Json:
    made = "2025-01-01T00:00:00Z"
    models = [{"type": "model", "id": name, "display_name": name, "created_at": made} for name in names]
    return {"data": models, "has_more": False, "first_id": names[0], "last_id": names[-1]}


def _deltas(answer: Answer) -> Iterator[str]:
    for index, part in enumerate(_parts(answer)):
        yield from _block_events(index, part)


def _parts(answer: Answer) -> Iterator[_Part]:
    reply = answer.reply
    if reply.reasoning:
        thoughts = ({"type": "thinking_delta", "thinking": piece} for piece in reply.pieces(reply.reasoning))
        yield {"type": "thinking", "thinking": "", "signature": ""}, thoughts, (_signature(answer),)
    if reply.whole_text:
        yield {"type": "text", "text": ""}, ({"type": "text_delta", "text": piece} for piece in reply.text_pieces), ()
    for id_, call in answer.calls("toolu_"):
        arguments = ({"type": "input_json_delta", "partial_json": piece} for piece in reply.pieces(call.arguments))
        yield {"type": "tool_use", "id": id_, "name": call.name, "input": {}}, arguments, ()


def _block_events(index: int, part: _Part) -> Iterator[str]:
    """A block's start goes out with its first delta and its stop with its last, so that each item is one delta."""
    block, deltas, extra = part
    at: Json = {"index": index}
    waiting, is_filled = _event("content_block_start", at | {"content_block": block}), False
    for delta in deltas:
        if is_filled:
            yield waiting
            waiting = ""
        waiting += _event("content_block_delta", at | {"delta": delta})
        is_filled = True
    ending = [_event("content_block_delta", at | {"delta": delta}) for delta in extra]
    yield "".join([waiting, *ending, _event("content_block_stop", at)])


def _blocks(answer: Answer) -> Iterator[Json]:
    reply = answer.reply
    if reply.reasoning:
        yield {"type": "thinking", "thinking": reply.reasoning, "signature": _signature(answer)["signature"]}
    if reply.whole_text:
        yield {"type": "text", "text": reply.whole_text}
    for id_, call in answer.calls("toolu_"):
        yield {"type": "tool_use", "id": id_, "name": call.name, "input": json.loads(call.arguments)}


def _signature(answer: Answer) -> Json:
    return {"type": "signature_delta", "signature": f"signature-{answer.number}"}


def _closing(answer: Answer) -> str:
    delta = {"stop_reason": _stop_reason(answer), "stop_sequence": None}
    usage = {"output_tokens": answer.usage.output_tokens}
    return _event("message_delta", {"delta": delta, "usage": usage}) + _event("message_stop", {})


def _message(answer: Answer) -> Json:
    return {
        "id": f"msg_{answer.number}",
        "type": "message",
        "role": "assistant",
        "model": answer.model,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
    }


def _stop_reason(answer: Answer) -> str:
    reply = answer.reply
    return "tool_use" if reply.tool_calls and reply.finish == "stop" else _STOP_REASONS[reply.finish]


def _usage(usage: Usage) -> Json:
    """Here the input does not include what was read from the cache."""
    return {
        "input_tokens": usage.input_tokens - usage.cached_tokens,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": usage.cached_tokens,
        "output_tokens": usage.output_tokens,
    }


def _event(kind: str, content: Json) -> str:
    return f"event: {kind}\ndata: {to_json({'type': kind} | content)}\n\n"
