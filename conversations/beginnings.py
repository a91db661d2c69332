"""A conversation begun without a question, once for one request key."""

import json
from collections.abc import Mapping

from django.http import Http404

from accounts.models import User
from conversations.contexts import fingerprint_of
from conversations.models import Conversation
from conversations.refusals import GONE, KeyReused


def begin(owner: User, *, request_key: str, **fields: object) -> tuple[Conversation, bool]:
    """The conversation, and whether it is new; the same key from the same owner finds what it began.

    Raises:
        Http404: what it began is gone, over by rule, or in the bin.
        KeyReused: it began something else.
    """
    digest = _digest_of(fields)
    made, is_new = Conversation.objects.get_or_create(
        owner=owner, request_key=request_key, defaults={**fields, "request_digest": digest}
    )
    if is_new:
        return made, True
    if not Conversation.objects.visible_to(owner).filter(pk=made.pk).exists():
        raise Http404(GONE.format("conversation"))
    # What its owner has changed since says nothing about how it began.
    if made.request_digest != digest:
        raise KeyReused(conversation=str(made.pk))
    return made, False


def _digest_of(fields: Mapping[str, object]) -> str:
    return fingerprint_of(json.dumps(fields, sort_keys=True, default=str))
