"""Receipts: seen and searched in the admin, saved as files, verified and replayed by commands."""

import csv
import io
import json
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from django.conf import settings as django_settings
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries, Settings
from redis import Redis

from accounts.models import User
from conversations.models import Conversation, Erasure, Message, Turn
from conversations.retention import closing, finishing, receipts
from conversations.retention.erase import erase_conversations
from conversations.retention.ids import Ids
from conversations.retention.stores import STREAM_KEYS
from conversations.retention.versions import erase_version
from conversations.streams import announce_end, stream_key
from pocketchat.embedded.places import Places
from tests.factories import PASSWORD, branch_texts, edit, exchange, make_conversation, make_user, regenerate, reply_of

pytestmark = pytest.mark.django_db

TITLE = "A private title"


@pytest.fixture(autouse=True)
def _logs_of_its_own(settings: Settings, tmp_path: Path) -> None:
    settings.PLACES = Places(var=tmp_path)
    settings.PLACES.logs.mkdir()


@pytest.fixture(autouse=True)
def _no_streams_of_others() -> None:
    """Of other tests' turns, whose rows went with their transaction."""
    with Redis.from_url(django_settings.REDIS_URL) as redis:
        for key in redis.scan_iter("pocketchat:events:*"):
            redis.delete(key)


@pytest.fixture
def admin(client: Client) -> Client:
    client.force_login(User.objects.create_superuser("admin@example.org", PASSWORD))
    return client


def erased(conversation: Conversation) -> Erasure:
    now = timezone.now()
    (receipt,) = erase_conversations([conversation.pk], reason=Erasure.Reason.OWNER, by=None, now=now).erasures
    return receipt


def saved(*made: Erasure) -> str:
    return "".join(receipts.as_json(Erasure.objects.filter(pk__in=[one.pk for one in made])))


def verify(*arguments: str) -> str:
    said = io.StringIO()
    call_command("verify_erasure", *arguments, stdout=said)
    return said.getvalue()


def replay(folder: Path, text: str) -> str:
    said, file = io.StringIO(), folder / "erasures.json"
    file.write_text(text)
    call_command("replay_erasures", str(file), stdout=said)
    return said.getvalue()


class TestAdmin:
    def test_they_are_listed_searched_and_never_changed(
        self, admin: Client, owner: User, django_assert_num_queries: DjangoAssertNumQueries
    ) -> None:
        conversations = [make_conversation(owner, title=TITLE, title_source="user") for _ in range(3)]
        made = [exchange(conversation) for conversation in conversations]
        first, *_ = [erased(conversation) for conversation in conversations]
        address = "/admin/conversations/erasure/"
        with django_assert_num_queries(6):
            page = admin.get(address).content.decode()
        assert TITLE not in page
        assert page.count("1 conversation, 1 turn") == 3
        for sought in (conversations[0].pk, made[0].pk, first.pk):
            assert admin.get(f"{address}?q={sought}").content.decode().count("1 conversation, 1 turn") == 1
        assert "1 conversation, 1 turn" not in admin.get(f"{address}?q={uuid4()}").content.decode()
        assert "1 conversation, 1 turn" not in admin.get(f"{address}?q=%27nonsense").content.decode()
        assert admin.get(f"{address}?verified=no").content.decode().count("1 conversation, 1 turn") == 3
        assert admin.get(f"{address}?verified=yes").content.decode().count("1 conversation, 1 turn") == 0
        assert str(made[0].pk) in admin.get(f"{address}{first.pk}/change/").content.decode()
        assert admin.post(f"{address}{first.pk}/change/", {"reason": "bin"}).status_code == 403
        assert admin.post(f"{address}{first.pk}/delete/", {"post": "yes"}).status_code == 403

    @pytest.mark.parametrize("kind", ["json", "csv"])
    def test_they_are_saved_as_files(self, admin: Client, conversation: Conversation, kind: str) -> None:
        turn = exchange(conversation)
        receipt = erased(conversation)
        response: Any = admin.post(
            "/admin/conversations/erasure/", {"action": f"as_{kind}", "_selected_action": [receipt.pk]}
        )
        assert 'filename="erasures-' in response["Content-Disposition"]
        text = b"".join(response.streaming_content).decode()
        if kind == "json":
            (kept,) = receipts.read(text)
            assert kept.ids == Ids(frozenset([conversation.pk]), frozenset([turn.pk]))
            return
        (row,) = csv.DictReader(io.StringIO(text))
        assert (row["conversations"], row["turns"]) == (str(conversation.pk), str(turn.pk))
        assert "message 2" in row["counts"]

    def test_nobody_else_sees_them(self, page: Client, conversation: Conversation) -> None:
        erased(conversation)
        assert page.get("/admin/conversations/erasure/").status_code == 302


class TestVerify:
    @pytest.fixture(autouse=True)
    def _nothing_of_other_tests(self) -> None:
        """Their rows are gone, and their events are what this looks for."""
        with Redis.from_url(django_settings.REDIS_URL) as redis:
            for key in [*redis.scan_iter(match=STREAM_KEYS), "replies", "background", "unacked", "unacked_index"]:
                redis.delete(key)

    def test_clean_is_clean(self, conversation: Conversation) -> None:
        exchange(conversation)
        erased(conversation)
        assert verify() == "Looked for 1 receipts: nothing is left.\n"

    def test_what_is_left_is_counted_by_store_and_receipt(self, conversation: Conversation) -> None:
        turn = exchange(conversation)
        receipt = erased(conversation)
        announce_end(turn.pk, "complete")
        (django_settings.PLACES.logs / "web.jsonl").write_text(f'{{"turn": "{turn.pk}"}}\n' * 3)
        said = io.StringIO()
        with pytest.raises(CommandError) as failed:
            call_command("verify_erasure", stdout=said)
        assert failed.value.returncode == 1
        assert f"streams: 1 of receipt {receipt.pk}\n" in said.getvalue()
        assert f"log lines: 3 of receipt {receipt.pk}\n" in said.getvalue()
        assert "streams: 1 that belong to nothing" in said.getvalue()
        finishing.finish(now=timezone.now())
        verify()

    def test_ids_are_looked_for_without_a_receipt(self, conversation: Conversation) -> None:
        turn = exchange(conversation)
        with pytest.raises(CommandError):
            verify("--ids", str(conversation.pk))
        with pytest.raises(CommandError):
            verify("--ids", str(turn.pk))
        verify("--ids", str(uuid4()))

    def test_orphans_are_found_in_tables_and_in_redis(self, conversation: Conversation) -> None:
        exchange(conversation)
        stray = uuid4()
        announce_end(stray, "complete")
        with connection.cursor() as cursor:
            # As a restore leaves them that passes over references.
            cursor.execute("SET LOCAL session_replication_role = replica")
            cursor.execute("DELETE FROM conversations_conversation WHERE id = %s", [conversation.pk])
            cursor.execute("SET LOCAL session_replication_role = origin")
        said = io.StringIO()
        with pytest.raises(CommandError):
            call_command("verify_erasure", stdout=said)
        assert "rows of message: 2 that belong to nothing" in said.getvalue()
        assert "streams: 1 that belong to nothing" in said.getvalue()
        with Redis.from_url(django_settings.REDIS_URL) as redis:
            redis.delete(stream_key(stray))
        Message.objects.all()._raw_delete("default")
        Turn.objects.all()._raw_delete("default")


class TestReplay:
    """What a backup had of an erasure comes back: here by a transaction that is rolled back to a savepoint."""

    def test_a_conversation_that_came_back_goes_again(
        self, conversation: Conversation, owner: User, tmp_path: Path
    ) -> None:
        exchange(conversation)
        other = exchange(make_conversation(owner))
        file = _undone(lambda: saved(erased(conversation)))
        assert Conversation.objects.filter(pk=conversation.pk).exists()
        said = replay(tmp_path, file)
        assert "1 receipts: 1 had come back" in said
        assert not Conversation.objects.filter(pk=conversation.pk).exists()
        assert Turn.objects.filter(pk=other.pk).exists()
        assert Erasure.objects.get().reason == "replay"
        assert "0 had come back" in replay(tmp_path, file)

    def test_a_version_that_came_back_goes_and_what_hung_beside_it_stays(
        self, conversation: Conversation, owner: User, tmp_path: Path
    ) -> None:
        first = exchange(conversation, "Why?", "A1")
        regenerate(first, "A2")
        file = _undone(
            lambda: (
                erase_version(conversation.pk, reply_of(first).pk, by=owner, now=timezone.now())
                and saved(Erasure.objects.get())
            )
        )
        replay(tmp_path, file)
        assert not Turn.objects.filter(pk=first.pk).exists()
        assert branch_texts(conversation) == ["Why?", "A2"]

    def test_an_edited_question_that_came_back_goes_with_its_head(
        self, conversation: Conversation, owner: User, tmp_path: Path
    ) -> None:
        edited = edit(exchange(conversation, "Why?", "A1").prompt, "Why so?", "A2")
        file = _undone(
            lambda: (
                erase_version(conversation.pk, edited.prompt_id, by=owner, now=timezone.now())
                and saved(Erasure.objects.get())
            )
        )
        assert branch_texts(conversation) == ["Why so?", "A2"]
        replay(tmp_path, file)
        assert branch_texts(conversation) == ["Why?", "A1"]

    def test_an_account_that_came_back_goes_again_and_a_new_one_of_its_number_stays(self, tmp_path: Path) -> None:
        old, new = make_user(), make_user()
        exchange(make_conversation(old))

        def close() -> str:
            for user in (old, new):
                closing.close(user, by=user, is_told=False, now=timezone.now())
            finishing.finish(now=timezone.now())
            return "".join(receipts.as_json(Erasure.objects.all()))

        file = _undone(close)
        User.objects.filter(pk=new.pk).update(date_joined=timezone.now() + timedelta(minutes=1))
        replay(tmp_path, file)
        assert list(User.objects.all()) == [new]
        assert not Conversation.objects.exists()

    @pytest.mark.parametrize(
        ("text", "word"),
        [
            ("{", "no JSON"),
            ('{"a": 1}', "no list"),
            ("[[1]]", "Receipt 1"),
            (
                '[{"conversations": ["x"], "turns": [], "accounts": [], "began_at": "2026-11-30T00:00:00Z"}]',
                "Receipt 1",
            ),
        ],
    )
    def test_a_file_of_something_else_is_refused_in_words(self, tmp_path: Path, text: str, word: str) -> None:
        with pytest.raises(CommandError, match=word):
            replay(tmp_path, text)

    def test_no_file_is_refused_in_words(self, tmp_path: Path) -> None:
        with pytest.raises(CommandError, match="cannot be read: No such file"):
            call_command("replay_erasures", str(tmp_path / "nothing.json"))


def _undone(erase: Any) -> Any:
    """What it returns; the database is as it was before."""
    with connection.cursor() as cursor:
        cursor.execute("SAVEPOINT before")
        file = erase()
        cursor.execute("ROLLBACK TO SAVEPOINT before")
    assert json.loads(file)
    return file
