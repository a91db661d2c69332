"""Refuses what no client sends by honest means, before something further in trips over it."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase

from pocketchat.errors import error_response

Handler = Callable[[HttpRequest], HttpResponseBase]
CHARSETS = ("", "utf-8", "utf8", "us-ascii", "iso-8859-1", "windows-1252")
"""What browsers send forms in; the decoders for others read bytes that are no text, or fail."""


def sound_requests(get_response: Handler) -> Handler:
    """Django middleware: 400, 401 or 415 for a request that is not sound; a cookie that is not is passed over."""

    def answered(request: HttpRequest) -> HttpResponseBase:
        return _refusal(request) or get_response(request)

    return answered


def _refusal(request: HttpRequest) -> HttpResponse | None:
    request.COOKIES = {name: value for name, value in request.COOKIES.items() if "\x00" not in value}
    if not request.headers.get("Authorization", "").isascii():
        return error_response(request, 401, "The token in the Authorization header is none of ours.", "bad_token")
    if "%00" in request.META.get("QUERY_STRING", ""):
        return error_response(request, 400, "There is a NUL character in the address.", "invalid")
    charset = (request.content_params or {}).get("charset", "")
    if charset.lower() not in CHARSETS:
        return error_response(request, 415, "Send text in UTF-8.", "unknown_charset")
    return None
