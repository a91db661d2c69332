"""Every place that holds something of a conversation or of an account, and how it is erased there.

A store that is not named here is a leak: `tests/test_completeness.py` walks all tables, and a test with the running
product all keys of Redis; both fail for what has no answer.
"""

import re
from collections.abc import Iterable
from enum import StrEnum

from conversations.retention.accounts import Accounts
from conversations.retention.log_lines import LogLines
from conversations.retention.queued import QueuedTasks
from conversations.retention.rows import Rows
from conversations.retention.stores import Notes, Store, Streams
from conversations.transfer.stores import EXPORTS, IMPORTS

QUICK: list[Store] = [Streams(), Notes()]
"""Looked at while somebody waits."""

STORES: list[Store] = [Rows(), Accounts(), EXPORTS, IMPORTS, *QUICK, QueuedTasks(), LogLines()]
"""In the order in which they are erased: what writes to the others goes first."""


class Answer(StrEnum):
    """What becomes of the rows of a table."""

    CONVERSATION = "goes with its conversation"
    ACCOUNT = "goes with its account"
    RECEIPT = "stays: ids, counts and times of what was erased"
    NOBODYS = "says nothing of anybody"
    VIEW = "is no table: others shown together"


TABLES = {
    "account.EmailAddress": Answer.ACCOUNT,
    "account.EmailConfirmation": Answer.ACCOUNT,
    "accounts.User": Answer.ACCOUNT,
    "accounts.User_groups": Answer.ACCOUNT,
    "accounts.User_user_permissions": Answer.ACCOUNT,
    "admin.LogEntry": Answer.ACCOUNT,
    "auth.Group": Answer.NOBODYS,
    "auth.Group_permissions": Answer.NOBODYS,
    "auth.Permission": Answer.NOBODYS,
    "contenttypes.ContentType": Answer.NOBODYS,
    "conversations.Conversation": Answer.CONVERSATION,
    "conversations.Embedding": Answer.CONVERSATION,
    "conversations.EffectiveLife": Answer.VIEW,
    "conversations.Erasure": Answer.RECEIPT,
    "conversations.Export": Answer.ACCOUNT,
    "conversations.Hold": Answer.CONVERSATION,
    "conversations.Import": Answer.ACCOUNT,
    "conversations.ImportResult": Answer.CONVERSATION,
    "conversations.Message": Answer.CONVERSATION,
    "conversations.ModelCall": Answer.CONVERSATION,
    "conversations.RetentionChange": Answer.RECEIPT,
    "conversations.RetentionRule": Answer.ACCOUNT,
    "conversations.SearchEntry": Answer.CONVERSATION,
    "conversations.Summary": Answer.CONVERSATION,
    "conversations.TaskRun": Answer.NOBODYS,
    "conversations.TokenScale": Answer.NOBODYS,
    "conversations.Turn": Answer.CONVERSATION,
    "django_celery_beat.ClockedSchedule": Answer.NOBODYS,
    "django_celery_beat.CrontabSchedule": Answer.NOBODYS,
    "django_celery_beat.IntervalSchedule": Answer.NOBODYS,
    "django_celery_beat.PeriodicTask": Answer.NOBODYS,
    "django_celery_beat.PeriodicTasks": Answer.NOBODYS,
    "django_celery_beat.SolarSchedule": Answer.NOBODYS,
    "knox.AuthToken": Answer.ACCOUNT,
    "sessions.Session": Answer.ACCOUNT,
}
"""Every table that any installed application has."""

_ID = r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"
KEYS = {
    rf"pocketchat:events:{_ID}": "streams",
    rf"pocketchat:requeued:{_ID}": "notes",
    rf":1:rolling:{_ID}": "notes",
    r":1:pace:(suggestions|recalls|closing|files|exports|imports):\d+": "notes",
    r":1:purge:progress": "counts what a purge has done, for some minutes",
    r":1:pace:(title|summary)": "counts calls of all, for a minute",
    rf"pocketchat:wake:{_ID}": "wakes the reader of a process, which it names by chance, for a minute",
    r":1:allauth:rl:.*": "counts attempts by digests, for some minutes",
    r"(replies|background)(\x06\x16[369])?|unacked|unacked_index": "queue",
    r"unacked_mutex|_kombu\.binding.*|.*\.celery\.pidbox|.*\.reply\.celery\.pidbox|celeryev\..*": "Celery's own",
}
"""Every key of Redis that any process writes, as a pattern: its store, or why it needs none."""


def unanswered_keys(keys: Iterable[str]) -> list[str]:
    return [key for key in keys if not any(re.fullmatch(pattern, key) for pattern in KEYS)]
