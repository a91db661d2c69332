"""Days begin where the reader is: "Today" in the list of conversations, times in the admin.

The page tells the browser's time zone in a cookie (static/js/local-time.js); without one, or with one that is none,
the installation's own zone holds.
"""

from collections.abc import Awaitable, Callable
from zoneinfo import ZoneInfo, available_timezones

from asgiref.sync import iscoroutinefunction
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils import timezone
from django.utils.decorators import sync_and_async_middleware

Handler = Callable[[HttpRequest], HttpResponseBase | Awaitable[HttpResponseBase]]
COOKIE = "timezone"

_known = frozenset(available_timezones())


@sync_and_async_middleware
def reader_time_zone(get_response: Handler) -> Handler:
    """A middleware of Django's."""
    if iscoroutinefunction(get_response):

        async def later(request: HttpRequest) -> HttpResponseBase:
            with timezone.override(_zone_of(request)):
                response: HttpResponseBase = await get_response(request)
                return response

        return later

    def now(request: HttpRequest) -> HttpResponseBase:
        with timezone.override(_zone_of(request)):
            return get_response(request)  # type: ignore[return-value]  # no coroutine function

    return now


def _zone_of(request: HttpRequest) -> ZoneInfo | None:
    name = request.COOKIES.get(COOKIE, "")
    return ZoneInfo(name) if name in _known else None
