"""What the generator of the schema cannot see: the stream of events is no DRF view."""

from typing import Any

EVENTS = {
    "operationId": "turns_events_retrieve",
    "description": (
        "A reply while it is written, as server-sent events. `hello`: at once. `delta` {text}: append. "
        "`tool` {id, name, status, label, arguments}: the model calls a tool; `status` is `running`, then, in a second "
        "event of the same id that brings the `result`, `done` or `failed`; `label` says it in a line for people, "
        "`arguments` is what the tool was called with (text where the model wrote no JSON object). `snapshot` {text}: "
        "replace everything shown so far, calls, too; events that bring back the rest follow. `done` {status}: the end "
        "of it, with the whole text when it comes from storage; the status is that of the turn, or `gone` when it was "
        "deleted while it was watched."
    ),
    "parameters": [
        {"in": "path", "name": "turn_id", "required": True, "schema": {"type": "string", "format": "uuid"}},
        {"in": "header", "name": "Last-Event-ID", "schema": {"type": "string"}},
        {
            "in": "query",
            "name": "padding",
            "description": "Bytes after each batch, for proxies that keep events back until a buffer is full.",
            "schema": {"type": "integer"},
        },
    ],
    "tags": ["turns"],
    "responses": {"200": {"description": "The events.", "content": {"text/event-stream": {}}}},
}


def add_events(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """A hook of drf-spectacular."""
    result["paths"]["/api/v1/turns/{turn_id}/events"] = {"get": EVENTS}
    return result
