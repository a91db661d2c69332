"""`GET /api/v1/turns/{id}/events`: a reply while it is written, as server-sent events.

Any web process serves any viewer, from the first word or from `Last-Event-ID`. When the events are no longer in
Redis the stored reply is served from the same address.
"""

import json
import time
from collections.abc import AsyncGenerator
from contextlib import aclosing
from uuid import UUID

from django.db import connections
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse, StreamingHttpResponse
from django.views.decorators.csrf import csrf_exempt
from knox.auth import TokenAuthentication
from rest_framework.exceptions import AuthenticationFailed, NotAuthenticated
from rest_framework.request import Request

from accounts.models import User
from conversations import access
from conversations.answers import reply_text
from conversations.database import in_viewer_thread
from conversations.models import Turn
from conversations.streams import START, Entry, hub, position

TICK = 3.0
"""Seconds without an event after which the row is asked whether the turn still lives."""
TICKS_PER_HEARTBEAT = 5
RECONNECT_MS = 1000
MOST_PADDING = 65_536
"""Bytes."""
DIGITS = 6
"""Of a number that is read."""


@csrf_exempt  # It only reads; a wrong method shall hear of the right one.
def turn_events(request: HttpRequest, turn_id: UUID) -> HttpResponse | StreamingHttpResponse:
    """Check who asks, then stream; the database connection goes back before the waiting begins."""
    if request.method != "GET":
        body = {"detail": "Use GET.", "code": "method_not_allowed"}
        return JsonResponse(body, status=405, headers={"Allow": "GET"})
    try:
        viewer, stored = _viewer(request, turn_id)
    except (AuthenticationFailed, NotAuthenticated) as error:
        body = {"detail": str(error.detail), "code": str(error.get_codes())}
        return JsonResponse(body, status=401, headers={"WWW-Authenticate": "Token"})
    except Http404 as error:
        return JsonResponse({"detail": str(error), "code": "not_found"}, status=404)
    return StreamingHttpResponse(
        _events(viewer, turn_id, stored, after=_resume_point(request), padding=_padding(request)),
        content_type="text/event-stream",
        # Proxies must pass each event on as it comes: nginx reads the second header.
        headers={"Cache-Control": "no-cache, no-transform", "X-Accel-Buffering": "no"},
    )


def _viewer(request: HttpRequest, turn_id: UUID) -> tuple[User, str]:
    """Who asks, and the end of the turn as stored; raises `Http404` when the turn is not one they may see."""
    try:
        viewer = _user(request)
        return viewer, _end_of(access.turn_of(viewer, turn_id))
    finally:
        connections.close_all()


def _user(request: HttpRequest) -> User:
    """Who asks: by session in the browser, by token elsewhere."""
    if request.user.is_authenticated:
        return request.user
    if known := TokenAuthentication().authenticate(Request(request)):
        user: User = known[0]
        return user
    raise NotAuthenticated


def _resume_point(request: HttpRequest) -> str:
    """Where the viewer left off; from the start when it says nothing we know."""
    claimed = request.headers.get("Last-Event-ID", START)
    try:
        position(claimed)
    except ValueError:
        return START
    return claimed


def _padding(request: HttpRequest) -> str:
    """A comment that fills the buffer of a proxy which keeps events back, as long as the viewer asks for.

    nginx heeds X-Accel-Buffering and takes it away, so a second one behind it buffers: 4 or 8 kB by default.
    """
    asked = request.GET.get("padding", "")
    is_number = asked.isascii() and asked.isdigit() and len(asked) <= DIGITS
    size = min(int(asked), MOST_PADDING) if is_number else 0
    return f":{' ' * size}\n\n" if size else ""


async def _events(viewer: User, turn_id: UUID, stored: str, *, after: str, padding: str) -> AsyncGenerator[str, None]:
    # Told at once, so that a viewer to whom nothing comes knows that a proxy keeps it.
    yield f"retry: {RECONNECT_MS}\nevent: hello\ndata: {{}}\n\n{padding}"
    if stored and not await hub().holds_end(turn_id, after=after):
        yield stored
        return
    # Closed when the viewer leaves, not when the garbage is collected: the hub must stop reading for it.
    async with aclosing(hub().tail(turn_id, after=after, tick=TICK)) as batches:
        quiet, asked_at = 0, time.monotonic()
        async for entries in batches:
            # Whoever may no longer see the conversation sees no more of its reply, however steadily it comes.
            if time.monotonic() - asked_at >= TICK:
                asked_at = time.monotonic()
                if stored := await _ended(viewer, turn_id):
                    yield stored
                    return
            if entries:
                quiet = 0
                told = _up_to_end(entries)
                if _is_stopped(told[-1]) and await _ended(viewer, turn_id) == GONE:
                    yield GONE
                    return
                # In one piece: to a viewer who has left there is one write in vain, not hundreds.
                yield "".join(map(_sent, told)) + padding
                if told[-1].event == "done":
                    return
                continue
            quiet += 1
            if quiet % TICKS_PER_HEARTBEAT == 0:
                yield ": still here\n\n"


async def _ended(viewer: User, turn_id: UUID) -> str:
    """The end of a turn as stored, as an event; empty while it lives."""
    return await in_viewer_thread(_stored_end, viewer, turn_id)


def _stored_end(viewer: User, turn_id: UUID) -> str:
    try:
        # Asked anew: what was put into the bin since, or erased, is shown to nobody.
        return "" if access.sees_live_turn(viewer, turn_id) else _end_of(access.turn_of(viewer, turn_id))
    except Http404:
        return GONE
    finally:
        connections.close_all()


def _end_of(turn: Turn) -> str:
    """One event, for a viewer may be cut off between two; empty while it lives."""
    return "" if turn.is_live else _event("done", status=turn.status, text=reply_text(turn))


def _up_to_end(entries: list[Entry]) -> list[Entry]:
    """A worker that does not know yet that its turn was ended may still write behind the end."""
    ends = (number for number, entry in enumerate(entries, start=1) if entry.event == "done")
    return entries[: next(ends, len(entries))]


def _is_stopped(entry: Entry) -> bool:
    """Stopped by its owner, who may have put the conversation into the bin."""
    return entry.event == "done" and bool(json.loads(entry.data)["status"] == Turn.Status.STOPPED)


def _sent(entry: Entry) -> str:
    return f"id: {entry.id}\nevent: {entry.event}\ndata: {entry.data}\n\n"


def _event(name: str, **data: str) -> str:
    return f"event: {name}\ndata: {json.dumps(data)}\n\n"


GONE = _event("done", status="gone", text="")
"""The end for somebody who may no longer see the conversation."""
