"""A conversation begun without a question, once for one request key."""

from django.http import Http404

from accounts.models import User
from conversations.models import Conversation
from conversations.refusals import GONE, KeyReused


def begin(owner: User, *, request_key: str, **fields: object) -> tuple[Conversation, bool]:
    """The conversation, and whether it is new; the same key from the same owner finds what it began.

    Raises:
        Http404: what it began is gone, or in the bin.
        KeyReused: it began something else.
    """
    made, is_new = Conversation.objects.get_or_create(owner=owner, request_key=request_key, defaults=fields)
    if is_new:
        return made, True
    if made.trashed_at is not None:
        raise Http404(GONE.format("conversation"))
    # What its owner has changed since says nothing about how it began.
    is_untouched = made.head_id is None and made.title_source == fields.get("title_source", made.title_source)
    if is_untouched and any(getattr(made, name) != value for name, value in fields.items()):
        raise KeyReused(conversation=str(made.pk))
    return made, False
