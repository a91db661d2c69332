"""Questions asked of the tables in more than one place, by name."""

from datetime import datetime
from typing import Any, Self

from django.db import models
from django.utils import timezone

from accounts.models import User
from conversations.expiry import IsOver, Kind
from conversations.recall.words import PAIRED

LIVE_STATUSES = ("queued", "streaming")
"""A turn that is still to be answered, or is being answered."""

TERMINAL_STATUSES = ("complete", "stopped", "failed", "interrupted")

UNDER_WAY = ("queued", "running")
"""An export that is still to be made, or is being made; a file that is still to be read, or is being read."""


def visible_to(user: User, *, through: str = "") -> models.Q:
    """What makes a conversation one that `user` may see: they own it, it is not in the bin, and no rule has ended it.

    `through` leads to it from another row: a join, which costs Django half of what a subquery does.
    """
    return models.Q(**{f"{through}owner": user}) & present(through=through, owner=user.pk)


def present(*, through: str = "", owner: int | None = None) -> models.Q:
    """What makes a conversation one that there is, for whoever owns it: `owner`, where that is known."""
    is_over = IsOver(timezone.now(), through=through, owner=owner)
    return models.Q(**{f"{through}trashed_at__isnull": True}) & ~models.Q(is_over)


def in_bin_of(user: User) -> models.Q:
    """What makes a conversation one that `user` finds in their bin: nobody else sees it, and no other reader does.

    Its time there is not over, and no rule has ended it.
    """
    is_over = IsOver(timezone.now(), tuple(Kind), owner=user.pk)
    return models.Q(owner=user, trashed_at__isnull=False) & ~models.Q(is_over)


class ConversationQuerySet(models.QuerySet[Any]):
    """Conversations; every reader starts from `visible_to`, but for the bin, which starts from `in_bin_of`."""

    def visible_to(self, user: User) -> "ConversationQuerySet":
        return self.filter(visible_to(user))

    def in_bin_of(self, user: User) -> "ConversationQuerySet":
        return self.filter(in_bin_of(user))

    def shown(self) -> "ConversationQuerySet":
        return self.filter(archived=False)


class TurnQuerySet(models.QuerySet[Any]):
    """Turns, by where they are in their life."""

    def live(self) -> "TurnQuerySet":
        return self.filter(status__in=LIVE_STATUSES)

    def abandoned(self, *, now: datetime) -> "TurnQuerySet":
        """Live turns whose worker stopped renewing the lease, or that no worker ever took."""
        return self.live().filter(lease_until__lt=now)

    def waiting(self, *, since: datetime) -> "TurnQuerySet":
        """Queued before `since` and not claimed: their task may have been lost with the queue."""
        return self.filter(status="queued", created_at__lt=since)


class TransferQuerySet(models.QuerySet[Any]):
    """Exports and imports, by where they are in their life."""

    def kept(self, *, now: datetime) -> Self:
        """Those that are not over; an expired one is gone though file and row may still be there for a minute."""
        return self.filter(models.Q(expires_at__isnull=True) | models.Q(expires_at__gt=now))

    def expired(self, *, now: datetime) -> Self:
        return self.filter(expires_at__lte=now)

    def under_way(self) -> Self:
        return self.filter(status__in=UNDER_WAY)

    def running(self) -> Self:
        return self.filter(status="running")

    def abandoned(self, *, now: datetime) -> Self:
        """Running ones whose worker stopped renewing the lease."""
        return self.running().filter(lease_until__lt=now)

    def waiting(self, *, since: datetime) -> Self:
        """Queued before `since`, the oldest first: there was no room, or their task was lost with the queue."""
        return self.filter(status="queued", created_at__lt=since).order_by("created_at")


BRANCH_SQL = """
    WITH RECURSIVE branch (id, parent_id, depth) AS (
        SELECT id, parent_id, 1 FROM conversations_message WHERE id = %s
        UNION ALL
        SELECT m.id, m.parent_id, b.depth + 1
        FROM conversations_message m JOIN branch b ON m.id = b.parent_id WHERE b.depth < %s
    )
    SELECT id FROM branch
"""
"""Takes head and rows. From the head towards the root, at most so many rows: the cost is that of what is read, not of
the conversation."""

MOST_WORDS = 20
"""Of a search, the first."""

MOST_CHARACTERS = 200_000
"""Of a message, by words; PostgreSQL refuses more lexemes than a megabyte."""

MENTIONS_SQL = f"""
    SELECT (
        SELECT count(*) FROM unnest(%s::text[], %s::boolean[], %s::boolean[]) AS sought (words, is_word, is_part)
        WHERE is_word AND lexemes @@ plainto_tsquery('simple', words) OR is_part AND strpos(text, upper(words)) > 0
    )
    FROM (
        SELECT upper(said) AS text, to_tsvector('simple', left(said, {MOST_CHARACTERS})) AS lexemes
        FROM (
            SELECT coalesce(string_agg(block ->> 'text', E'\\n'), '') AS said
            FROM jsonb_array_elements(conversations_message.content) AS block WHERE block ->> 'type' = 'text'
        ) AS message
        OFFSET 0
    ) AS read_once
"""  # noqa: S608  # a number of ours
"""Takes what is sought, whether each is looked for as a word, and as a part of the text: how many a message has.
`OFFSET 0` keeps PostgreSQL from reading the text again for each."""


BELOW_SQL = """
    WITH RECURSIVE below (id, conversation_id) AS (
        SELECT id, conversation_id FROM conversations_message WHERE id = ANY(%s)
        UNION
        SELECT m.id, m.conversation_id
        FROM conversations_message m JOIN below b ON m.conversation_id = b.conversation_id AND m.parent_id = b.id
    )
    SELECT id FROM below
"""
"""Takes messages: themselves and everything that hangs off them, each once, along the index `message_children`."""


class MessageQuerySet(models.QuerySet[Any]):
    """Messages, along their branch."""

    def branch(self, head_id: int | None, *, rows: int) -> "MessageQuerySet":
        """The newest `rows` messages of the branch that ends in `head_id`, oldest first."""
        ids = models.expressions.RawSQL(  # noqa: S611  # the statement is a constant, its values are parameters
            BRANCH_SQL, [head_id, rows]
        )
        return self.filter(id__in=ids).order_by("id")

    def below(self, *message_ids: int) -> "MessageQuerySet":
        """The messages and all that hangs off them, on every branch."""
        ids = models.expressions.RawSQL(BELOW_SQL, [list(message_ids)])  # noqa: S611  # the statement is a constant
        return self.filter(id__in=ids)

    def by_mentions(self, query: str) -> "MessageQuerySet":
        """All of them, first those whose text has most of the words of `query`; `score` says how many, 0 for none.

        Words are compared as they are written, whatever their language (`simple`); those of scripts without spaces, and
        of Korean, are also looked for inside of others. `query` as it is counts as one more.
        """
        words = list(dict.fromkeys(query.lower().split()))[:MOST_WORDS]
        whole = [query.strip()] if len(words) > 1 or PAIRED.search(query) else []
        parts = [bool(PAIRED.search(word)) for word in words]
        score = models.expressions.RawSQL(  # noqa: S611  # the statement is a constant, its values are parameters
            MENTIONS_SQL,
            [[*words, *whole], [True for _ in words] + [False for _ in whole], parts + [True for _ in whole]],
            output_field=models.IntegerField(),
        )
        scored: MessageQuerySet = self.annotate(score=score).order_by("-score", "-id")
        return scored
