"""A file is brought in: conversations whole or not at all, each with a word on what became of it."""

import json
import os
from datetime import datetime, timedelta
from pathlib import Path
from uuid import UUID

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.models import User
from conversations import access
from conversations.models import Conversation, Import, ImportResult, Message, Turn
from conversations.retention.ids import Ids
from conversations.transfer import tending
from conversations.transfer.incoming import files, imports, running, writing
from conversations.transfer.incoming.limits import Limits
from conversations.transfer.incoming.preparing import Prepared
from conversations.transfer.stores import IMPORTS
from pocketchat.embedded.places import Places
from tests.conversations.transfer.incoming import samples
from tests.conversations.transfer.incoming.conftest import BringIn
from tests.conversations.transfer.rich import PIXEL
from tests.factories import branch_texts, make_user
from tests.ruling import rule

PICTURED = "*(A picture that was not in the file.)*\n\nAnd this?"


def results_of(run: Import) -> list[tuple[str, str]]:
    return [(one.outcome, one.detail) for one in run.results.order_by("number")]


def only(owner: User) -> Conversation:
    found: Conversation = Conversation.objects.get(owner=owner)
    return found


def test_a_file_is_read_and_removed(bring_in: BringIn, owner: User, places: Places) -> None:
    run = bring_in(samples.archive({"conversations.json": samples.sent(samples.talk()), "user.json": '{"id": "u"}'}))
    assert (run.status, run.source, run.seen, run.imported, run.error) == ("complete", "chatgpt", 1, 1, "")
    conversation = only(owner)
    assert (conversation.title, conversation.title_source) == ("Bread", "model")
    assert branch_texts(conversation) == ["What is bread?", "Dough, baked.", PICTURED, "", "", "Two."]
    assert list(Path(places.imports).rglob("*")) == []


def test_the_same_file_twice_is_recognised_and_said(bring_in: BringIn, owner: User) -> None:
    bring_in(samples.sent(samples.talk()))
    again = bring_in(samples.sent(samples.talk()))
    assert (again.imported, again.duplicates) == (0, 1)
    [(outcome, detail)] = results_of(again)
    assert (outcome, detail) == ("duplicate", "It was brought in before, and is the same.")
    assert Conversation.objects.filter(owner=owner).count() == 1


def test_what_another_person_has_brought_in_is_none_of_ours(bring_in: BringIn, stranger: User) -> None:
    bring_in(samples.sent(samples.talk()))
    theirs = bring_in(samples.sent(samples.talk()), stranger)
    assert theirs.imported == 1
    assert access.conversations_of(stranger).count() == 1


def test_a_conversation_that_grew_since_is_brought_in_beside_it(bring_in: BringIn, owner: User) -> None:
    bring_in(samples.sent(samples.talk()))
    grown = samples.talk()
    grown["mapping"]["q3"] = samples.node("q3", "a3", "user", "More?")
    run = bring_in(samples.sent(grown))
    [(outcome, detail)] = results_of(run)
    assert (outcome, "Another state" in detail) == ("imported", True)
    assert Conversation.objects.filter(owner=owner).count() == 2


def test_one_in_the_bin_is_said_to_be_there(bring_in: BringIn, owner: User) -> None:
    bring_in(samples.sent(samples.talk()))
    Conversation.objects.filter(owner=owner).update(trashed_at=timezone.now())
    assert "in your bin" in results_of(bring_in(samples.sent(samples.talk())))[0][1]


def test_one_that_was_erased_is_brought_in_anew(bring_in: BringIn, owner: User) -> None:
    first = bring_in(samples.sent(samples.talk()))
    Conversation.objects.filter(owner=owner).delete()
    assert first.results.count() == 0
    assert bring_in(samples.sent(samples.talk())).imported == 1


@pytest.mark.parametrize("is_dry_run", [False, True])
def test_what_a_rule_would_delete_at_once_is_refused(bring_in: BringIn, owner: User, is_dry_run: bool) -> None:
    rule(idle_days=30)
    [(outcome, detail)] = results_of(bring_in(samples.sent(samples.talk()), is_dry_run=is_dry_run))
    assert (outcome, "deleted at once" in detail) == ("refused", True)
    assert not Conversation.objects.filter(owner=owner).exists()


def test_what_is_told_of_one_that_a_rule_is_deleting_goes_with_it(bring_in: BringIn, owner: User) -> None:
    """Its title would else be left in the results."""
    bring_in(samples.sent(samples.talk()))
    Conversation.objects.update(last_activity_at=timezone.now() - timedelta(days=40))
    rule(idle_days=30)
    run = bring_in(samples.sent(samples.talk()))
    [(outcome, detail)] = results_of(run)
    assert (outcome, "being deleted" in detail) == ("refused", True)
    Conversation.objects.all().delete()
    assert not ImportResult.objects.exists()


def test_a_look_before_stores_nothing(bring_in: BringIn, owner: User) -> None:
    run = bring_in(samples.sent(samples.talk()), is_dry_run=True)
    assert (run.status, run.imported, run.results.get().title) == ("complete", 1, "Bread")
    assert not Conversation.objects.filter(owner=owner).exists()


def test_one_that_does_not_fit_keeps_no_other_out(bring_in: BringIn, owner: User) -> None:
    long = samples.chatgpt(samples.node("q", None, "user", "x" * 5000), title="Long", conversation_id="long")
    empty = samples.chatgpt(samples.node("root", None), title="Empty", conversation_id="empty")
    file = samples.sent(long, empty, samples.talk()).replace(b"[{", b'[{"title": "?"}, 7, {', 1)
    # The first is of no kind: with it in front nothing of the file is known.
    assert bring_in(file).status == "failed"
    run = bring_in(
        samples.sent(samples.talk(), long, empty)[:-1] + b', 7, {"title": "?"}]',
        limits=Limits(message_characters=4000),
    )
    assert (run.status, run.imported, run.refused) == ("complete", 1, 4)
    words = [detail for outcome, detail in results_of(run) if outcome == "refused"]
    assert words[0] == "A message of it has 5,000 characters; 4,000 are the most."
    assert "nothing in it that was said" in words[1]
    assert words[2] == words[3] == running.NO_KIND
    assert run.results.get(number=2).title == "Long"


def test_a_file_that_breaks_off_keeps_what_came_before_and_tells_the_place(bring_in: BringIn, owner: User) -> None:
    second = samples.chatgpt(samples.node("q", None, "user", "Hi"), conversation_id="2")
    whole = samples.sent(samples.talk(), second)
    run = bring_in(whole[:-40])
    assert (run.status, run.imported) == ("failed", 1)
    assert "ends too early: in line 1" in run.error
    assert "The 1 conversations before that were dealt with." in run.error
    broken = whole.replace(b'"conversation_id": "2"', b'"conversation_id": 2x')
    run = bring_in(broken)
    assert f"at byte {broken.index(b'2x') + 2:,}" in run.error
    assert Conversation.objects.filter(owner=owner).count() == 1


@pytest.mark.parametrize("sent", [b"Dear diary", b"{}", b"[]", b'{"messages": []}', b"\x89PNG\r\n", b"PK\x03\x04 no"])
def test_an_unknown_file_is_refused_with_what_was_expected(bring_in: BringIn, sent: bytes) -> None:
    run = bring_in(sent)
    assert run.status == "failed"
    assert any(word in run.error for word in ("Expected is", "no JSON", "damaged"))


def test_an_archive_of_something_else_is_refused(bring_in: BringIn) -> None:
    run = bring_in(samples.archive({"a.json": "[1, 2]", "b.json": "{", "cat.png": samples.PNG}))
    assert run.error.startswith("There is nothing in this ZIP that is known here. Expected is")


def test_a_killed_worker_s_import_goes_on_where_it_stopped(owner: User, monkeypatch: pytest.MonkeyPatch) -> None:
    three = [samples.chatgpt(samples.node("q", None, "user", f"Q{n}"), conversation_id=str(n)) for n in range(3)]
    run = imports.take(owner, [samples.sent(*three)], file_name="x", now=timezone.now())

    write = writing.write
    written: list[Prepared] = []

    def write_one(one: Prepared, user: User) -> UUID:
        if written:
            raise KeyboardInterrupt
        written.append(one)
        return write(one, user)

    monkeypatch.setattr(writing, "write", write_one)
    with pytest.raises(KeyboardInterrupt):
        running.run(run.pk)
    monkeypatch.setattr(writing, "write", write)
    later = timezone.now() + 2 * imports.LEASE
    assert tending.tend(tending.IMPORTS, now=later).taken_back == 1
    assert Conversation.objects.filter(owner=owner).count() == 1
    running.run(run.pk)
    run.refresh_from_db()
    assert (run.status, run.imported, run.attempts) == ("complete", 3, 2)
    assert [result.number for result in run.results.order_by("number")] == [1, 2, 3]


def test_a_conversation_that_took_longer_than_the_lease_costs_no_attempt(owner: User) -> None:
    now = timezone.now()
    run = imports.take(owner, [b"[]"], file_name="", now=now)
    claimed = imports.claim(run.pk, now=now - 2 * imports.LEASE)
    assert claimed is not None
    imports.tell(claimed, ImportResult(run=claimed, number=1, outcome=ImportResult.Outcome.REFUSED), now=now)
    assert not imports.take_back(claimed, now=now)
    run.refresh_from_db()
    assert (run.status, run.seen) == ("running", 1)


def test_one_that_loses_every_worker_fails_with_its_file_gone(owner: User, places: Places) -> None:
    run = imports.take(owner, [b"[]"], file_name="x", now=timezone.now())
    for _ in range(imports.MOST_ATTEMPTS):
        assert imports.claim(run.pk, now=timezone.now())
        tending.tend(tending.IMPORTS, now=timezone.now() + 2 * imports.LEASE)
    run.refresh_from_db()
    assert (run.status, "stopped several times" in run.error) == ("failed", True)
    assert list(Path(places.imports).rglob("*")) == []


def test_one_that_was_given_up_stores_nothing_more(owner: User, monkeypatch: pytest.MonkeyPatch) -> None:
    two = [samples.chatgpt(samples.node("q", None, "user", f"Q{n}"), conversation_id=str(n)) for n in range(2)]
    run = imports.take(owner, [samples.sent(*two)], file_name="x", now=timezone.now())
    tell = imports.tell

    def tell_and_remove(told: Import, result: ImportResult, *, now: datetime) -> None:
        tell(told, result, now=now)
        imports.remove(told)

    monkeypatch.setattr(imports, "tell", tell_and_remove)
    assert running.run(run.pk) is None
    assert Conversation.objects.filter(owner=owner).count() <= 1


def test_nothing_is_brought_into_an_account_that_is_being_closed(owner: User) -> None:
    run = imports.take(owner, [samples.sent(samples.talk())], file_name="x", now=timezone.now())
    User.objects.filter(pk=owner.pk).update(is_active=False)
    assert running.run(run.pk) is None
    assert not Conversation.objects.filter(owner=owner).exists()


def test_imports_are_forgotten_after_a_month_and_strays_are_removed(bring_in: BringIn, places: Places) -> None:
    run = bring_in(samples.sent(samples.talk()))
    gone = make_user()
    stray = files.path_of(gone.pk, run.pk)
    stray.parent.mkdir(parents=True)
    stray.write_bytes(b"x")
    left = places.uploads / "killed.upload.zip"
    left.parent.mkdir()
    left.write_bytes(b"x")
    assert tending.tend(tending.IMPORTS, now=timezone.now()).strays == 0  # They may still be on their way here.
    for path in (stray, left):
        os.utime(path, (0, 0))
    done = tending.tend(tending.IMPORTS, now=timezone.now() + imports.KEPT * 2)
    assert (done.expired, done.strays, stray.exists(), left.exists()) == (1, 2, False, False)
    assert not Import.objects.exists()
    assert Conversation.objects.count() == 1


def test_queries_do_not_grow_with_the_messages(owner: User) -> None:
    def queries(messages: int) -> int:
        nodes = [samples.node(str(n), str(n - 1) if n else None, "user", f"Q{n}") for n in range(messages)]
        one = samples.chatgpt(*nodes, conversation_id=f"c{messages}")
        run = imports.take(owner, [samples.sent(one)], file_name="x", now=timezone.now())
        with CaptureQueriesContext(connection) as asked:
            running.run(run.pk)
        return len(asked)

    queries(1)  # What a process reads once.
    assert queries(2) == queries(200)


def test_rows_keep_every_promise_of_a_conversation(bring_in: BringIn, owner: User) -> None:
    bring_in(samples.archive({"conversations.json": samples.sent(samples.talk()), "file-Ab1-cat.dat": samples.PNG}))
    conversation = only(owner)
    messages = list(Message.objects.filter(conversation=conversation).order_by("id"))
    assert all(one.parent_id is None or one.parent_id < one.pk for one in messages)
    assert all(one.tokens > 0 for one in messages if one.text)
    picture = next(block for one in messages for block in one.content if block["type"] == "image")
    assert (picture["media_type"], picture["data"]) == ("image/png", PIXEL)
    turns = Turn.objects.filter(conversation=conversation)
    assert {turn.status for turn in turns} == {"complete"}
    assert all(turn.request_key.startswith("import:chatgpt:") for turn in turns)
    assert json.dumps(conversation.system_prompt) == '""'


def test_the_files_of_an_account_are_found_and_erased(owner: User, stranger: User, places: Places) -> None:
    for user in (owner, stranger):
        imports.take(user, [b"[]"], file_name="x", now=timezone.now())
    store, ids = IMPORTS, Ids(accounts=frozenset({owner.pk}))
    assert store.find(ids) == 1
    Import.objects.filter(owner=owner).delete()
    assert (store.find(ids), store.erase(ids), store.find(ids)) == (1, 1, 0)
    assert [path.parent.name for path in Path(places.imports).glob("*/*")] == [str(stranger.pk)]
    run = imports.take(owner, [b"[]"], file_name="x", now=timezone.now())
    assert (store.find(ids), store.erase(ids), store.find(ids)) == (1, 1, 0)
    assert not Import.objects.filter(pk=run.pk).exists()
