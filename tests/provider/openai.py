"""OpenAI chat completions, as https://platform.openai.com/docs/api-reference/chat describes them.

Reasoning goes into `reasoning_content`, the field of DeepSeek, vLLM and llama.cpp; OpenAI itself shows none here.
"""

from collections.abc import Iterator

from tests.provider.dialect import Answer, EventStream, Json, Refusal, to_json
from tests.provider.replies import Failure, FailureKind, Usage
from tests.provider.rules import broken_by_openai
from tests.provider.tokens import prompt_tokens

CONTEXT_WINDOW = 8192  # tokens, as told in the error of a context that is too long

_Wording = tuple[int, str, str, str | int | None]
_INVALID = "invalid_request_error"
_WORDINGS: dict[FailureKind, _Wording] = {
    "authentication": (401, "Incorrect API key provided.", _INVALID, "invalid_api_key"),
    "model_not_found": (404, "The model `{model}` does not exist.", _INVALID, "model_not_found"),
    "bad_request": (400, "Invalid value in the request.", _INVALID, "invalid_value"),
    "context_too_long": (
        400,
        "This model's maximum context length is {window} tokens. Please reduce the length of the messages ({tokens}).",
        _INVALID,
        "context_length_exceeded",
    ),
    "context_too_long_llama_cpp": (
        400,
        "request ({tokens} tokens) exceeds the available context size ({window} tokens), try increasing it",
        "exceed_context_size_error",
        400,
    ),
    "rate_limit": (429, "Rate limit reached for {model}.", "requests", "rate_limit_exceeded"),
    "quota": (429, "You exceeded your current quota.", "insufficient_quota", "insufficient_quota"),
    "server": (500, "The server had an error while processing your request.", "server_error", None),
    "overloaded": (
        503,
        "The engine is currently overloaded, please try again later.",
        "server_error",
        "server_is_overloaded",
    ),
}


broken_rule = broken_by_openai


def stream(answer: Answer) -> EventStream:
    before, after = _frame(answer)
    opening = before + '{"role":"assistant","content":""}' + after
    deltas = ("".join(before + to_json(part) + after for part in parts).encode() for parts in _deltas(answer))
    return EventStream(opening.encode(), deltas, _closing(answer).encode())


def message(answer: Answer) -> Json:
    spoken: Json = {"role": "assistant", "content": answer.reply.whole_text or None, "refusal": None}
    if answer.reply.reasoning:
        spoken["reasoning_content"] = answer.reply.reasoning
    if answer.reply.tool_calls:
        spoken["tool_calls"] = [
            {"id": id_, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for id_, call in answer.calls("call_")
        ]
    choice = {"index": 0, "message": spoken, "logprobs": None, "finish_reason": _finish(answer)}
    whole = _envelope(answer, "chat.completion") | {"choices": [choice]}
    return whole | {"usage": _usage(answer.usage)} if answer.reply.reports_usage else whole


def refusal(failure: Failure, answer: Answer) -> Refusal:
    status, message, kind, code = _WORDINGS[failure.kind]
    tokens = prompt_tokens(answer.body)
    error: Json = {
        "message": failure.message or message.format(model=answer.model, tokens=tokens, window=CONTEXT_WINDOW),
        "type": kind,
        "param": None,
        "code": code,
    }
    if failure.kind == "context_too_long_llama_cpp":
        error |= {"n_prompt_tokens": tokens, "n_ctx": CONTEXT_WINDOW}
    return Refusal(status, {"error": error})


def failure_event(failure: Failure, answer: Answer) -> bytes:
    return _event(refusal(failure, answer).content).encode()


def model_list(names: tuple[str, ...]) -> Json:
    models = [{"id": name, "object": "model", "created": 0, "owned_by": "scripted"} for name in names]
    return {"object": "list", "data": models}


def _deltas(answer: Answer) -> Iterator[list[Json]]:
    """A call's id and name go out with the first piece of its arguments, so that each item is one delta."""
    reply = answer.reply
    for piece in reply.pieces(reply.reasoning):
        yield [{"reasoning_content": piece}]
    for piece in reply.text_pieces:
        yield [{"content": piece}]
    for index, (id_, call) in enumerate(answer.calls("call_")):
        named = {"index": index, "id": id_, "type": "function", "function": {"name": call.name, "arguments": ""}}
        pieces = [{"index": index, "function": {"arguments": piece}} for piece in reply.pieces(call.arguments)]
        yield [{"tool_calls": [part]} for part in (named, *pieces[:1])]
        yield from ([{"tool_calls": [part]}] for part in pieces[1:])


def _frame(answer: Answer) -> tuple[str, str]:
    """What stands around each delta, written once: a load benchmark sends thousands a second."""
    choice = {"index": 0, "delta": "\0", "logprobs": None, "finish_reason": None}
    before, after = _event(_chunk(answer, choice)).split(to_json("\0"))
    return before, after


def _closing(answer: Answer) -> str:
    choice = {"index": 0, "delta": {}, "logprobs": None, "finish_reason": _finish(answer)}
    last = _event(_chunk(answer, choice))
    if _includes_usage(answer):
        last += _event(_chunk(answer) | {"usage": _usage(answer.usage)})
    return last + "data: [DONE]\n\n"


def _chunk(answer: Answer, *choices: Json) -> Json:
    chunk = _envelope(answer, "chat.completion.chunk") | {"choices": list(choices)}
    return chunk | {"usage": None} if _includes_usage(answer) else chunk


def _includes_usage(answer: Answer) -> bool:
    options = answer.body.get("stream_options") or {}
    return answer.reply.reports_usage and bool(options.get("include_usage"))


def _envelope(answer: Answer, kind: str) -> Json:
    return {
        "id": f"chatcmpl-{answer.number}",
        "object": kind,
        "created": answer.created,
        "model": answer.model,
        "system_fingerprint": "fp_scripted",
    }


def _finish(answer: Answer) -> str:
    reply = answer.reply
    return "tool_calls" if reply.tool_calls and reply.finish == "stop" else reply.finish


def _usage(usage: Usage) -> Json:
    return {
        "prompt_tokens": usage.input_tokens,
        "completion_tokens": usage.output_tokens,
        "total_tokens": usage.input_tokens + usage.output_tokens,
        "prompt_tokens_details": {"cached_tokens": usage.cached_tokens},
        "completion_tokens_details": {"reasoning_tokens": usage.reasoning_tokens},
    }


def _event(content: Json) -> str:
    return f"data: {to_json(content)}\n\n"
