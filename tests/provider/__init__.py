"""A model provider whose answers, delays and faults are scripted: real HTTP, two dialects, no model."""

from tests.provider.control import reply_as_json
from tests.provider.records import EndedBy, RecordedRequest
from tests.provider.replies import Failure, Fault, HangUp, Reply, Silence, ToolCall, Usage, steady
from tests.provider.scripted import ScriptedProvider
from tests.provider.tokens import count_tokens, prompt_tokens, usage_of

__all__ = [
    "EndedBy",
    "Failure",
    "Fault",
    "HangUp",
    "RecordedRequest",
    "Reply",
    "ScriptedProvider",
    "Silence",
    "ToolCall",
    "Usage",
    "count_tokens",
    "prompt_tokens",
    "reply_as_json",
    "steady",
    "usage_of",
]
