"""What there is of a person beside their conversations: the rows that name them, their sessions, and what the admin's
history says of them."""

import json
import re
from collections.abc import Collection, Iterator
from typing import Any

from allauth.account.models import EmailAddress
from django.contrib.admin.models import LogEntry
from django.contrib.sessions.models import Session
from django.db import transaction
from django.db.models import Model, Q, QuerySet

from accounts.models import User
from conversations.retention.ids import Ids

SESSIONS_AT_ONCE = 500


def tables() -> list[tuple[type[Model], str]]:
    """Every table with a column that names a person, and that column."""
    found = [(relation.related_model, relation.field.name) for relation in User._meta.related_objects]
    many: list[Any] = list(User._meta.many_to_many)
    through = [(field.remote_field.through, field.m2m_field_name()) for field in many]
    return sorted({*found, *through}, key=lambda table: (table[0]._meta.label, table[1]))


def counted(accounts: Collection[int]) -> dict[str, int]:
    """Rows by table, without those that have none."""
    counts = {"user": User.objects.filter(pk__in=accounts).count()}
    for model, column in tables():
        name = str(model._meta.model_name)
        counts[name] = counts.get(name, 0) + _naming(model, column, accounts).count()
    counts["session"] = sum(1 for _ in _sessions(accounts, ()))
    return {name: count for name, count in counts.items() if count}


def _naming(model: type[Model], column: str, accounts: Collection[int]) -> "QuerySet[Model]":
    return model._default_manager.filter(**{f"{column}__in": accounts})


def addresses_of(user: User) -> list[str]:
    further = EmailAddress.objects.filter(user=user).values_list("email", flat=True)
    return sorted({user.email.lower(), *(address.lower() for address in further)} - {""})


def delete(user: User) -> None:
    """The rows of a person whose conversations are gone; in a transaction."""
    addresses = addresses_of(user)
    Session.objects.filter(pk__in=list(_sessions([user.pk], addresses))).delete()
    # What others did to the account is told there by its address.
    if addresses:
        theirs = _pattern(addresses)
        LogEntry.objects.filter(Q(object_repr__iregex=theirs) | Q(change_message__iregex=theirs)).delete()
    user.delete()


def _pattern(addresses: Collection[str]) -> str:
    """For Python and PostgreSQL: these addresses, and none of which one of them is a part."""
    return rf"(?<![\w.%+-])({'|'.join(map(re.escape, addresses))})(?![\w-]|\.\w)"


def _sessions(accounts: Collection[int], addresses: Collection[str]) -> Iterator[str]:
    """Of those who are logged in, and of whoever was about to be: allauth keeps numbers and addresses meanwhile.

    No column says whose a session is, so each is read.
    """
    numbers = set(map(str, accounts))
    names_them = re.compile(_pattern(addresses)).search if addresses else lambda _: None
    for session in Session.objects.iterator(chunk_size=SESSIONS_AT_ONCE):
        kept = session.get_decoded()
        text = json.dumps(kept, default=str).lower()
        if kept.get("_auth_user_id") in numbers or names_them(text):
            yield session.pk


class Accounts:
    """The store of all of them."""

    name = "account"

    def erase(self, ids: Ids) -> int:
        """What a restored backup has brought back."""
        found = self.find(ids)
        for user in User.objects.filter(pk__in=ids.accounts):
            with transaction.atomic():
                delete(user)
        if ids.accounts:
            Session.objects.filter(pk__in=list(_sessions(ids.accounts, ()))).delete()
        return found

    def find(self, ids: Ids) -> int:
        return sum(counted(ids.accounts).values()) if ids.accounts else 0
