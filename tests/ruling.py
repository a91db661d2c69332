"""Rules, made as administrators make them, and conversations of some age."""

from datetime import datetime, timedelta
from typing import Any

from django.contrib.auth.models import Group
from django.utils import timezone

from accounts.models import User
from conversations.models import Conversation, RetentionRule
from conversations.retention import changes
from conversations.retention.changes import Change
from tests.factories import make_conversation


def rule(user: User | None = None, group: Group | None = None, *, own: bool = False, **says: Any) -> None:
    """Have a rule say this: for everyone where nobody is named."""
    scope = "own" if own else "user" if user else "group" if group else "everyone"
    set_rule(Change(scope, says, group_id=group.pk if group else None, user_id=user.pk if user else None))


def set_rule(change: Change) -> RetentionRule | None:
    now = timezone.now()
    return changes.confirm(changes.propose(change, by=None, now=now).token, by=None, now=now)


def no_rule() -> None:
    set_rule(Change("everyone", None))


def group_of(*members: User, name: str = "students") -> Group:
    group, _ = Group.objects.get_or_create(name=name)
    group.user_set.add(*members)
    return group


def aged(
    owner: User, days: float = 0, *, age: float | None = None, now: datetime | None = None, **fields: Any
) -> Conversation:
    """Whose last message is so many days old; it was begun `age` days ago, or with that message."""
    now = now or timezone.now()
    return make_conversation(
        owner,
        last_activity_at=now - timedelta(days=days),
        created_at=now - timedelta(days=days if age is None else age),
        **fields,
    )
