"""Every error of the API in one shape: `{"detail": "a sentence", "code": "a_word", …facts}`."""

from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import Http404
from rest_framework.exceptions import APIException, ErrorDetail, ValidationError
from rest_framework.response import Response
from rest_framework.views import exception_handler as default_handler

from conversations.refusals import Refusal


def exception_handler(error: Exception, context: dict[str, Any]) -> Response | None:
    """DRF's hook; None leaves an unforeseen error to Django."""
    if isinstance(error, Refusal):
        return Response({"detail": str(error), "code": error.code, **error.facts}, status=error.status)
    response = default_handler(error, context)
    if response is not None:
        response.data = _body(error, response.data)
    return response


def _body(error: Exception, data: Any) -> dict[str, Any]:
    if isinstance(error, ValidationError):
        return {"detail": _first(data), "code": "invalid", "fields": data}
    if isinstance(error, Http404):
        return {"detail": str(error) or "Not found.", "code": "not_found"}
    if isinstance(error, PermissionDenied):
        return {"detail": str(error) or "You may not do this.", "code": "permission_denied"}
    code = error.get_codes() if isinstance(error, APIException) else "error"
    return {"detail": str(data.get("detail", "")), "code": code if isinstance(code, str) else "error"}


def _first(data: Any, field: str = "") -> str:
    """The first thing that is wrong, with the name of the field it is wrong with."""
    if isinstance(data, ErrorDetail | str):
        return f"{field}: {data}" if field and field != "non_field_errors" else str(data)
    if isinstance(data, dict):
        name, value = next(iter(data.items()))
        return _first(value, str(name))
    return _first(data[0], field)
