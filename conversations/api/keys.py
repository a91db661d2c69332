"""The key that makes a repeated request the same request."""

from uuid import uuid4

from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request

from conversations.api.serializers import RequestKeySerializer

IDEMPOTENCY_KEY = OpenApiParameter(
    "Idempotency-Key",
    str,
    OpenApiParameter.HEADER,
    description="Names the request: sent again under the same key, it does nothing and answers the same.",
)


def request_key(request: Request) -> str:
    """The `Idempotency-Key` header; without one every request is a new one.

    Raises:
        ValidationError: the key is empty or too long.
    """
    header = request.headers.get("Idempotency-Key")
    if header is None:
        return str(uuid4())
    serializer = RequestKeySerializer(data={"key": header})
    serializer.is_valid(raise_exception=True)
    key: str = serializer.validated_data["key"]
    return key
