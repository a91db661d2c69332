"""What an older version of the product put into the index is put into it again, in the background."""

import time

from django.db.models import QuerySet

from conversations.index.branch import INDEXED_ROLES
from conversations.index.writing import BATCH, write
from conversations.models import Message
from conversations.models.embedding import VERSION
from conversations.providers.registry import embedder
from conversations.querysets import LIVE_STATUSES, present


def outdated() -> QuerySet[Message]:
    """Messages whose words were cut by an older version, of the present embedder: it need not be asked."""
    old = Message.objects.filter(embedding__version__lt=VERSION, embedding__embedder=embedder().name)
    ended = old.filter(role__in=INDEXED_ROLES).exclude(turn__status__in=LIVE_STATUSES)
    return ended.filter(present(through="conversation__"))


def renew(*, seconds: float) -> int:
    """Cut the words anew of as many as there is time for, conversation by conversation; returns how many."""
    until, done = time.monotonic() + seconds, 0
    while time.monotonic() < until and (one := outdated().values_list("conversation", flat=True).first()):
        done += write(outdated().filter(conversation=one).order_by("-pk")[:BATCH])
    return done
