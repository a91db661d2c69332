"""The events of a turn: a Redis stream that one worker writes and any number of viewers read.

The stream is a copy for speed, never the truth: rows are. When Redis is down or was emptied the reply goes on,
and viewers get the whole text again as a `snapshot`.

Events: `delta` {"text"} to append, `snapshot` {"text"} to replace everything shown so far,
`done` {"status"}, with the whole "text" when it comes from the stored reply.
"""

from conversations.streams.events import BRIEFLY, START, Entry, announce_end, is_reachable, position, shown, stream_key
from conversations.streams.hub import Hub, hub
from conversations.streams.publisher import Publisher
from conversations.streams.wire import Wire

__all__ = [
    "BRIEFLY",
    "START",
    "Entry",
    "Hub",
    "Publisher",
    "Wire",
    "announce_end",
    "hub",
    "is_reachable",
    "position",
    "shown",
    "stream_key",
]
