"""Every place that keeps something has an answer for what becomes of it; a new one without fails here."""

import pytest
from django.apps import apps
from django.db import connection
from django.db.models import Model

from accounts.models import User
from conversations.models import Conversation, Message, Turn
from conversations.retention import accounts, rows
from conversations.retention.manifest import KEYS, STORES, TABLES, Answer, unanswered_keys

_models: list[type[Model]] = apps.get_models(include_auto_created=True)
MODELS = {model._meta.label: model for model in _models}
UNLINKED = {"sessions.Session"}
"""No column says whose they are: `accounts` reads them."""


def test_every_table_has_an_answer_for_retention() -> None:
    assert MODELS.keys() - TABLES.keys() == set(), "these are new: say in manifest.TABLES what becomes of their rows"
    assert TABLES.keys() - MODELS.keys() == set(), "these are gone"


def test_what_goes_with_a_conversation_is_what_the_road_counts_and_looks_for() -> None:
    counted = {Conversation._meta.label, *(model._meta.label for model in rows.tables())}
    assert {label for label, answer in TABLES.items() if answer == Answer.CONVERSATION} == counted


def test_what_goes_with_an_account_is_what_the_road_counts_and_looks_for() -> None:
    counted = {model._meta.label for model, _ in accounts.tables()} | {User._meta.label} | UNLINKED
    answered = {label for label, answer in TABLES.items() if answer == Answer.ACCOUNT}
    # An e-mail's confirmation hangs off the address; what hangs off conversations names its owner through them.
    assert answered - counted <= {"account.EmailConfirmation"}
    assert counted - answered <= {label for label, answer in TABLES.items() if answer == Answer.CONVERSATION}


@pytest.mark.parametrize("label", [label for label, answer in TABLES.items() if answer == Answer.NOBODYS])
def test_what_says_nothing_of_anybody_names_nobody(label: str) -> None:
    named = {field.related_model for field in MODELS[label]._meta.concrete_fields}
    assert not named & {User, Conversation, Message, Turn}


@pytest.mark.django_db
def test_the_database_takes_along_whatever_hangs_off_a_conversation() -> None:
    """A reference that would keep a conversation from being deleted, or leave rows behind, is none."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT conrelid::regclass::text || ' ' || conname FROM pg_constraint WHERE contype = 'f' AND confrelid IN "
            "('conversations_conversation'::regclass, 'conversations_message'::regclass, "
            "'conversations_turn'::regclass) AND confdeltype NOT IN ('c', 'n')"
        )
        assert cursor.fetchall() == []


def test_every_pattern_of_a_key_names_a_store_or_says_why_it_needs_none() -> None:
    stores = {store.name for store in STORES}
    assert {name for name in KEYS.values() if " " not in name} <= stores


def test_a_key_that_nobody_knows_is_told() -> None:
    known = [
        "replies",
        "background\x06\x163",
        "_kombu.binding.replies",
        "pocketchat:wake:00000000-0000-4000-8000-000000000000",
    ]
    assert unanswered_keys([*known, "pocketchat:drafts:1"]) == ["pocketchat:drafts:1"]


CONTENT_TYPES = ("text", "character varying", "jsonb", "tsvector", "halfvec", "vector", "bytea")
PLAIN = {
    "model",
    "status",
    "error_code",
    "context",
    "role",
    "tokens_source",
    "title_source",
    "request_digest",
    "embedder",
    "language",
    "purpose",
    "provider",
    "outcome",
    "source",
    "reason",
}
"""Columns of the tables of conversations in which nobody writes: codes, names of models, references."""


@pytest.mark.django_db
def test_the_planner_keeps_nothing_of_what_people_write() -> None:
    """The most frequent values of a column outlive its rows in `pg_statistic`: of content there are none."""
    tables = [Conversation._meta.db_table, *(model._meta.db_table for model in rows.tables())]
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT attrelid::regclass::text, attname FROM pg_attribute WHERE attnum > 0 AND NOT attisdropped "
            "AND attrelid = ANY(%s::regclass[]) AND format_type(atttypid, NULL) = ANY(%s) "
            "AND coalesce(attstattarget, -1) <> 0",
            [tables, list(CONTENT_TYPES)],
        )
        kept = {(table, column) for table, column in cursor.fetchall() if column not in PLAIN}
    assert kept == set(), "ALTER TABLE … ALTER COLUMN … SET STATISTICS 0, in a migration"
