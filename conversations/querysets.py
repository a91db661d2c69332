"""Questions asked of the tables in more than one place, by name."""

import re
from datetime import datetime
from typing import Any

from django.contrib.postgres.search import SearchQuery, SearchVector
from django.db import models
from django.db.models import Case, F, Func, Q, TextField, Value, When
from django.db.models.functions import Left

from accounts.models import User

LIVE_STATUSES = ("queued", "streaming")
"""A turn that is still to be answered, or is being answered."""

TERMINAL_STATUSES = ("complete", "stopped", "failed", "interrupted")


class ConversationQuerySet(models.QuerySet[Any]):
    """Conversations; every reader starts from `visible_to`."""

    def visible_to(self, user: User) -> "ConversationQuerySet":
        """Those `user` owns and has not put into the bin."""
        return self.filter(owner=user, trashed_at__isnull=True)

    def in_sidebar_order(self) -> "ConversationQuerySet":
        """Pinned first, then the most recently active."""
        return self.order_by("-pinned", "-last_activity_at", "-id")

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


BRANCH_SQL = """
    WITH RECURSIVE branch (id, parent_id, depth, spent) AS (
        SELECT id, parent_id, 1, tokens::bigint FROM conversations_message WHERE id = %s
        UNION ALL
        SELECT m.id, m.parent_id, b.depth + 1, b.spent + m.tokens
        FROM conversations_message m JOIN branch b ON m.id = b.parent_id
        WHERE b.depth < %s AND b.spent <= %s
    )
    SELECT id FROM branch
"""
"""Takes head, rows, tokens. From the head towards the root, at most so many rows, until the tokens are spent: the cost
is that of what is read, not of the conversation."""

ALL_TOKENS = 2**62

MOST_WORDS = 20
"""Of a search, the first."""

MOST_CHARACTERS = 200_000
"""Of a message, by words; PostgreSQL refuses more lexemes than a megabyte."""

UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]|[\U00020000-\U0003ffff]"
)
"""A character of a script that sets no spaces between words: full text takes such a sentence for one word."""


class TextOfBlocks(Func):
    """The words of the text blocks of `content`."""

    template = (
        "(SELECT string_agg(block ->> 'text', E'\\n') FROM jsonb_array_elements(%(expressions)s) block "
        "WHERE block ->> 'type' = 'text')"
    )
    output_field = TextField()


BELOW_SQL = """
    WITH RECURSIVE below (id, conversation_id) AS (
        SELECT id, conversation_id FROM conversations_message WHERE id = %s
        UNION ALL
        SELECT m.id, m.conversation_id
        FROM conversations_message m JOIN below b ON m.conversation_id = b.conversation_id AND m.parent_id = b.id
    )
    SELECT id FROM below
"""
"""Takes a message: itself and everything that hangs off it, along the index `message_children`."""


class MessageQuerySet(models.QuerySet[Any]):
    """Messages, along their branch."""

    def branch(self, head_id: int | None, *, rows: int, tokens: int = ALL_TOKENS) -> "MessageQuerySet":
        """The newest `rows` messages of the branch that ends in `head_id`, oldest first.

        Stops as soon as the stored counts exceed `tokens`; the message that exceeds them is included, so that the
        reader can tell that something was left out.
        """
        ids = models.expressions.RawSQL(  # noqa: S611  # the statement is a constant, its values are parameters
            BRANCH_SQL,
            [head_id, rows, tokens],
        )
        return self.filter(id__in=ids).order_by("id")

    def below(self, message_id: int) -> "MessageQuerySet":
        """The message and all that hangs off it, on every branch."""
        ids = models.expressions.RawSQL(BELOW_SQL, [message_id])  # noqa: S611  # the statement is a constant
        return self.filter(id__in=ids)

    def mentioning(self, query: str) -> "MessageQuerySet":
        """Those whose text has any of the words of `query`, or `query` as it is; `score` says how many of them.

        Words are compared as they are written, whatever their language (`simple`); those of scripts without spaces are
        also looked for inside of others.
        """
        words = list(dict.fromkeys(query.lower().split()))[:MOST_WORDS]
        if not words:
            return self.none()
        whole = [Q(words__icontains=query.strip())] if len(words) > 1 or UNSPACED.search(query) else []
        conditions = [*whole, *map(_has_word, words)]
        found = self.annotate(
            words=TextOfBlocks(F("content")), lexemes=SearchVector(Left("words", MOST_CHARACTERS), config="simple")
        )
        scored = found.annotate(score=sum((Case(When(one, then=1), default=0) for one in conditions), Value(0)))
        mentioned: MessageQuerySet = scored.filter(score__gt=0)
        return mentioned


def _has_word(word: str) -> Q:
    is_word = Q(lexemes=SearchQuery(word, config="simple"))
    return is_word | Q(words__icontains=word) if UNSPACED.search(word) else is_word
