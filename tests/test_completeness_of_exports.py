"""Every table has an answer to the question what of it a person takes away; a new one without fails here."""

import json
import zipfile
from pathlib import Path

import pytest
from allauth.account.models import EmailAddress
from django.apps import apps
from django.core.cache import cache
from django.utils import timezone
from pytest_django import Settings

from accounts.models import User
from accounts.profile import profile_of
from accounts.tokens import issue
from conversations.retention import own
from conversations.retention.erase import Reason, erase_conversations
from conversations.transfer import exports, files, making
from conversations.transfer.manifest import LEFT_OUT, TAKEN
from tests.conversations.transfer.rich import make_rich
from tests.factories import make_conversation, make_user
from tests.ruling import rule

MODELS = {model._meta.label: model for model in apps.get_models(include_auto_created=True)}


def test_every_table_is_exported_or_left_out_for_a_reason() -> None:
    answered = TAKEN.keys() | LEFT_OUT.keys()
    assert MODELS.keys() - answered == set(), "these are new: say in transfer.manifest what an export has of them"
    assert answered - MODELS.keys() == set(), "these are gone"
    assert not TAKEN.keys() & LEFT_OUT.keys()
    assert all(LEFT_OUT.values())


@pytest.mark.django_db(transaction=True)
def test_what_is_said_to_be_in_a_file_is(owner: User, settings: Settings, tmp_path: Path) -> None:
    settings.PLACES = type(settings.PLACES)(var=tmp_path)
    cache.clear()
    make_rich(owner)
    EmailAddress.objects.create(user=owner, email="second@example.org", verified=False)
    issue(owner, life=None)
    rule(idle_days=90)
    rule(owner, idle_days=80)
    rule(make_user(), own=True, idle_days=20)
    rule(owner, own=True, idle_days=30, bin_days=0)
    gone = make_conversation(owner)
    erase_conversations([gone.pk], reason=Reason.OWNER, by=owner, now=timezone.now())
    others = make_conversation(make_user())
    erase_conversations([others.pk], reason=Reason.ADMINISTRATOR, by=owner, now=timezone.now())
    export = exports.request(owner, now=timezone.now())
    making.make(export.pk)
    with zipfile.ZipFile(files.path_of(owner.pk, export.pk)) as archive:
        names = archive.namelist()
        assert set(TAKEN.values()) == {"account.json", "receipts.json", "conversations/*.json"}
        [receipt] = json.loads(archive.read("receipts.json"))
        account = json.loads(archive.read("account.json"))
        [written] = [name for name in names if name.startswith("conversations/") and name.endswith(".json")]
        conversation = json.loads(archive.read(written))
    assert all(conversation[part] for part in ("conversation", "turns", "messages", "summaries"))
    assert account["email"] == owner.email
    assert receipt["conversations"] == [str(gone.pk)]
    assert [address["email"] for address in account["email_addresses"]] == ["second@example.org"]
    assert len(account["api_tokens"]) == 1
    assert account["retention"] == {name: {"idle_days": 30, "bin_days": 0}.get(name) for name in own.CHOICES}


PROFILE_LEFT_OUT = {
    "id": "Of the database.",
    "password": "A secret, even as a hash.",
    "is_superuser": "Who may do what is the administrator's.",
    "is_active": "An account that is not cannot ask.",
}


@pytest.mark.django_db
def test_every_field_of_an_account_is_exported_or_left_out_for_a_reason(owner: User) -> None:
    fields = {field.name for field in User._meta.concrete_fields}
    assert fields - profile_of(owner).keys() == PROFILE_LEFT_OUT.keys()
