"""The events of a turn: a Redis stream that one worker writes and any number of viewers read.

The stream is a copy for speed, never the truth: rows are. When Redis is down or was emptied the reply goes on,
and viewers get the whole text again as a `snapshot`.

Events: `delta` {"text"} to append; `tool` {"id", "name", "status", "label", "arguments"}, a call of a tool that runs,
and again with "result" when it is done or failed; `snapshot` {"text"} to replace everything shown so far, calls, too:
events that bring back the rest follow it; `done` {"status"}, with the whole "text" when it comes from the stored reply.
"""

from conversations.streams.events import (
    BETWEEN,
    BRIEFLY,
    LAST_ID,
    START,
    Entry,
    Shown,
    announce_end,
    briefly_connected,
    is_reachable,
    may_requeue,
    position,
    requeued_key,
    seal,
    shown,
    stream_key,
)
from conversations.streams.hub import Hub, hub
from conversations.streams.publisher import Publisher
from conversations.streams.wire import Wire

__all__ = [
    "BETWEEN",
    "BRIEFLY",
    "LAST_ID",
    "START",
    "Entry",
    "Hub",
    "Publisher",
    "Shown",
    "Wire",
    "announce_end",
    "briefly_connected",
    "hub",
    "is_reachable",
    "may_requeue",
    "position",
    "requeued_key",
    "seal",
    "shown",
    "stream_key",
]
