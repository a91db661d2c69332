"""Errors that no view answers: a page for people, the API's shape for programs."""

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views import defaults

API = "/api/"


def error_response(request: HttpRequest, status: int, sentence: str, code: str) -> HttpResponse:
    """In the words of `sentence`, for whoever asked."""
    if request.path.startswith(API):
        return JsonResponse({"detail": sentence, "code": code}, status=status)
    return HttpResponse(sentence, status=status, content_type="text/plain; charset=utf-8")


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    if request.path.startswith(API):
        return error_response(request, 400, "This request cannot be read.", "invalid")
    return defaults.bad_request(request, exception)


def permission_denied(request: HttpRequest, exception: Exception) -> HttpResponse:
    if request.path.startswith(API):
        return error_response(request, 403, "You may not do this.", "permission_denied")
    return defaults.permission_denied(request, exception)


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    if request.path.startswith(API):
        return error_response(request, 404, "There is nothing at this address.", "not_found")
    return defaults.page_not_found(request, exception)


def server_error(request: HttpRequest) -> HttpResponse:
    if request.path.startswith(API):
        return error_response(request, 500, "Something went wrong here. It is not your fault.", "internal")
    return defaults.server_error(request)
