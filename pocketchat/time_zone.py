"""Days begin where the reader is: "Today" in the list of conversations, times in the admin.

The page tells the browser's time zone in a cookie (static/js/local-time.js); without one, or with one that is none,
the installation's own zone holds.
"""

from collections.abc import Callable
from zoneinfo import ZoneInfo, available_timezones

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils import timezone

Handler = Callable[[HttpRequest], HttpResponseBase]
COOKIE = "timezone"

_known = frozenset(available_timezones())


def reader_time_zone(get_response: Handler) -> Handler:
    """A middleware of Django's."""

    def answered(request: HttpRequest) -> HttpResponseBase:
        with timezone.override(_zone_of(request)):
            return get_response(request)

    return answered


def _zone_of(request: HttpRequest) -> ZoneInfo | None:
    name = request.COOKIES.get(COOKIE, "")
    return ZoneInfo(name) if name in _known else None
