"""Deleting, restoring and archiving in the pages, without a script."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from accounts.models import User
from conversations import binning
from conversations.models import Conversation, Hold, Message
from tests.factories import ask, exchange, make_conversation
from tests.ruling import rule

pytestmark = pytest.mark.django_db

HX = {"HX-Request": "true"}
CHANGE = "/conversations/change/"


def titled(owner: User, title: str, **fields: object) -> Conversation:
    return make_conversation(owner, title=title, title_source="user", **fields)


def shown(response: Any) -> str:
    text: str = response.content.decode()
    return text


def test_delete_says_what_happens_leads_home_and_offers_undo(page: Client, conversation: Conversation) -> None:
    exchange(conversation, "Which <bread>?")
    address = f"/c/{conversation.pk}/"
    for headers in ({}, HX):
        assert "restored for 30 days" in shown(page.get(f"{address}delete/", headers=headers))
    assert Conversation.objects.get().trashed_at is None
    home = shown(page.post(f"{address}delete/", follow=True))
    assert "“Which &lt;bread&gt;?” is in the bin, and can be restored for 30 days." in home
    assert page.get(address).status_code == 404
    assert f'name="id" value="{conversation.pk}"' in home
    assert page.post("/conversations/restore/", {"id": str(conversation.pk)})["Location"] == address
    assert page.get(address).status_code == 200


def test_another_tab_that_sends_to_it_is_told(page: Client, conversation: Conversation) -> None:
    """The page then says that it no longer exists, and keeps the draft."""
    page.post(f"/c/{conversation.pk}/delete/")
    for headers in ({}, HX):
        assert page.post(f"/c/{conversation.pk}/turns/", {"text": "And?"}, headers=headers).status_code == 404
    assert not Message.objects.exists()


ADDRESSES = ("delete/", "pin/", "archive/", "messages/1/")


def test_a_stranger_changes_nothing(client: Client, stranger: User, owner: User) -> None:
    one, binned = titled(owner, "Theirs"), titled(owner, "Binned")
    binning.put(binned, timezone.now())
    client.force_login(stranger)
    for path in ADDRESSES:
        assert client.get(f"/c/{one.pk}/{path}").status_code == 404
    for path in ADDRESSES[:3]:
        assert client.post(f"/c/{one.pk}/{path}", {"on": "1"}).status_code == 404
    client.post("/conversations/restore/", {"id": str(binned.pk)})
    for shelf in ("all", "archive", "bin", "data"):
        for action in ("delete", "erase", "restore", "archive"):
            named = {"shelf": shelf, "action": action, "sure": "1", "id": [str(one.pk), str(binned.pk)]}
            client.post(CHANGE, named)
            client.post(CHANGE, {"shelf": shelf, "action": action, "sure": "1", "everything": "1"})
    for path in ("/conversations/", "/archive/", "/bin/", "/data/"):
        assert "Theirs" not in (text := shown(client.get(path)))
        assert "Binned" not in text
    one.refresh_from_db()
    binned.refresh_from_db()
    assert (one.trashed_at, one.pinned, one.archived, bool(binned.trashed_at)) == (None, False, False, True)


def test_a_visitor_is_sent_to_log_in(client: Client, conversation: Conversation) -> None:
    paths = ["/conversations/", "/archive/", "/bin/", "/data/", "/search/"]
    for path in [*paths, *(f"/c/{conversation.pk}/{path}" for path in ADDRESSES)]:
        assert client.get(path)["Location"].startswith("/accounts/login/"), path
    for path in (CHANGE, "/conversations/restore/"):
        assert client.post(path).status_code in {302, 405}
    assert Conversation.objects.get().trashed_at is None


def test_whoever_logs_in_on_the_way_changes_nothing(page: Client, conversation: Conversation) -> None:
    for path in ("pin/", "archive/"):
        assert page.get(f"/c/{conversation.pk}/{path}", {"on": "1"})["Location"] == f"/c/{conversation.pk}/"
    conversation.refresh_from_db()
    assert (conversation.pinned, conversation.archived) == (False, False)


@pytest.mark.parametrize(("path", "field"), [("pin/", "pinned"), ("archive/", "archived")])
def test_it_is_marked_and_unmarked(page: Client, conversation: Conversation, path: str, field: str) -> None:
    before = Conversation.objects.values("last_activity_at", "title").get()
    for on in (True, False):
        response = page.post(f"/c/{conversation.pk}/{path}", {"on": "1"} if on else {})
        assert response["Location"] == f"/c/{conversation.pk}/"
        assert Conversation.objects.values_list(field, flat=True).get() is on
    assert Conversation.objects.values("last_activity_at", "title").get() == before


def test_by_the_script_the_bar_comes_back_and_the_line_of_the_list(page: Client, conversation: Conversation) -> None:
    pinned = shown(page.post(f"/c/{conversation.pk}/pin/", {"on": "1"}, headers=HX))
    assert "Unpin" in pinned
    assert 'data-heading="Pinned"' in pinned
    archived = shown(page.post(f"/c/{conversation.pk}/archive/", {"on": "1"}, headers=HX))
    assert "Unarchive" in archived
    assert "data-leaves" in archived
    assert "data-heading" not in archived


def test_the_bin_says_when_each_goes_and_restores_or_deletes_the_chosen(page: Client, owner: User) -> None:
    now = timezone.now()
    ones = [titled(owner, f"Bread {number}") for number in range(4)]
    for one in ones:
        binning.put(one, now)
    listed = shown(page.get("/bin/"))
    assert listed.count("Goes for good on") == 4
    assert (now + timedelta(days=30)).strftime("%b %Y") in listed
    page.post(CHANGE, {"shelf": "bin", "action": "restore", "id": [str(one.pk) for one in ones[:2]]})
    page.post(CHANGE, {"shelf": "bin", "one": f"restore:{ones[2].pk}"})
    assert Conversation.objects.filter(trashed_at=None).count() == 3
    asked = shown(page.post(CHANGE, {"shelf": "bin", "one": f"erase:{ones[3].pk}"}))
    assert "Delete 1 conversation for good?" in " ".join(asked.split())
    assert Conversation.objects.count() == 4
    gone = page.post(CHANGE, {"shelf": "bin", "action": "erase", "id": str(ones[3].pk), "sure": "1"}, follow=True)
    assert "1 conversation is gone for good." in shown(gone)
    assert set(Conversation.objects.all()) == set(ones[:3])


def test_the_bin_is_emptied_after_asking(page: Client, owner: User) -> None:
    kept = titled(owner, "Kept")
    for number in range(3):
        binning.put(titled(owner, f"Bread {number}"), timezone.now())
    empty = {"shelf": "bin", "action": "erase", "everything": "1"}
    asked = shown(page.post(CHANGE, empty))
    assert "Delete 3 conversations for good?" in " ".join(asked.split())
    assert 'name="everything"' in asked
    assert Conversation.objects.count() == 4
    page.post(CHANGE, empty | {"sure": "1"})
    assert Conversation.objects.get() == kept
    assert "The bin is empty" in shown(page.get("/bin/"))


def test_what_is_in_the_list_is_not_erased_past_the_bin(page: Client, conversation: Conversation) -> None:
    """No list but the bin offers it, and its form reaches no other conversation."""
    page.post(CHANGE, {"shelf": "bin", "action": "erase", "id": str(conversation.pk), "sure": "1"})
    assert Conversation.objects.get().trashed_at is None


def test_all_are_deleted_after_asking_archived_ones_too(page: Client, owner: User) -> None:
    for number in range(3):
        titled(owner, f"Bread {number}", archived=number == 0)
    everything = {"shelf": "data", "action": "delete", "everything": "1"}
    assert "Delete all 3 conversations?" in " ".join(shown(page.post(CHANGE, everything)).split())
    assert not Conversation.objects.exclude(trashed_at=None).exists()
    gone = shown(page.post(CHANGE, everything | {"sure": "1"}, follow=True))
    assert "3 conversations are in the bin, and can be restored for 30 days." in gone
    undone = re.findall(r'name="id" value="([^"]+)"', gone)
    page.post("/conversations/restore/", {"id": undone})
    assert not Conversation.objects.exclude(trashed_at=None).exists()


def test_the_chosen_are_archived_and_come_back(page: Client, owner: User) -> None:
    one, other = titled(owner, "One"), titled(owner, "Other")
    page.post(CHANGE, {"shelf": "all", "action": "archive", "id": [str(one.pk)]})
    assert "One" in shown(page.get("/archive/"))
    assert "Other" not in re.sub(r'<nav class="sidebar".*?</nav>', "", shown(page.get("/archive/")), flags=re.DOTALL)
    page.post(CHANGE, {"shelf": "archive", "one": f"unarchive:{one.pk}"})
    assert set(Conversation.objects.filter(archived=False)) == {one, other}
    page.post(CHANGE, {"shelf": "all", "action": "delete", "id": [str(one.pk), str(other.pk)]})
    assert not Conversation.objects.filter(trashed_at=None).exists()


@pytest.mark.parametrize(
    "nonsense",
    [{}, {"id": "x"}, {"shelf": "x", "action": "x"}, {"one": "erase"}, {"one": ":"}, {"action": "delete"}],
)
def test_nothing_chosen_changes_nothing(page: Client, conversation: Conversation, nonsense: dict[str, str]) -> None:
    page.post(CHANGE, {"shelf": "all", "sure": "1"} | nonsense, follow=True)
    assert Conversation.objects.get().trashed_at is None


def test_what_is_held_is_said(page: Client, owner: User, conversation: Conversation) -> None:
    Hold.objects.create(conversation=conversation, reason="A dispute.")
    refused = shown(page.post(f"/c/{conversation.pk}/delete/", follow=True))
    assert "An administrator holds this" in refused
    titled(owner, "Free")
    some = page.post(CHANGE, {"shelf": "data", "action": "delete", "everything": "1", "sure": "1"}, follow=True)
    assert "1 conversation had to stay: an administrator holds it." in shown(some)


def test_empty_lists_say_what_to_do(page: Client) -> None:
    for path, said in [
        ("/conversations/", "Begin one"),
        ("/archive/", "Archive a conversation by its menu"),
        ("/bin/", "can be restored from here for 30 days"),
    ]:
        assert said in shown(page.get(path))


def test_a_list_costs_the_same_however_long_it_is(
    page: Client, owner: User, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    """Session, person, the list, the sidebar's."""
    for number in range(60):
        titled(owner, f"Bread {number}", archived=number % 2 == 0)
    for path in ("/conversations/", "/archive/"):
        with django_assert_num_queries(4):
            page.get(path)
    binning.put_all(list(Conversation.objects.values_list("pk", flat=True)), now=timezone.now())
    with django_assert_num_queries(5):  # And how long the bin keeps what is in it.
        listed = shown(page.get("/bin/"))
    more = re.search(r'href="(/bin/\?after=[^"]+)"', listed)
    assert more
    second = shown(page.get(more[1].replace("&amp;", "&")))
    assert (listed.count('name="id"'), second.count('name="id"')) == (50, 10)
    assert page.get("/bin/?after=x")["Location"] == "/bin/"
    # Session, person, those in use, those in the bin, how long they are kept by the rules and by one's own choice,
    # the exports and the imports.
    with django_assert_num_queries(8):
        page.get("/data/")


def test_a_live_reply_ends_with_it(page: Client, conversation: Conversation) -> None:
    turn = ask(conversation)
    page.post(f"/c/{conversation.pk}/delete/")
    turn.refresh_from_db()
    assert turn.status == "stopped"


def test_without_a_bin_it_says_that_nothing_can_be_restored(page: Client, owner: User) -> None:
    rule(bin_days=0)
    one, other = titled(owner, "One"), titled(owner, "Other")
    assert "gone for good, at once" in shown(page.get(f"/c/{one.pk}/delete/"))
    gone = shown(page.post(f"/c/{one.pk}/delete/", follow=True))
    assert "“One” is gone for good." in gone
    assert "Undo" not in gone
    some = {"shelf": "all", "action": "delete", "id": str(other.pk)}
    assert "Delete 1 conversation for good?" in " ".join(shown(page.post(CHANGE, some)).split())
    assert Conversation.objects.get() == other
    page.post(CHANGE, some | {"sure": "1"})
    assert not Conversation.objects.exists()
    assert "is gone for good, at once." in shown(page.get("/data/"))
    assert "There is no bin" in shown(page.get("/bin/"))
    rule(bin_days=1)
    assert "can be restored from here for 1 day." in shown(page.get("/bin/"))


@pytest.mark.parametrize(
    ("address", "form"),
    [("/c/{}/delete/", {}), ("/conversations/change/", {"action": "delete", "everything": "1", "sure": "1"})],
)
def test_who_was_promised_days_in_the_bin_that_a_rule_has_taken_is_asked_again(
    page: Client, conversation: Conversation, address: str, form: dict[str, str]
) -> None:
    rule(bin_days=0)
    address = address.format(conversation.pk)
    asked = shown(page.post(address, form | {"days": "30"}))
    assert "gone for good" in asked or "for good?" in asked
    assert Conversation.objects.count() == 1
    page.post(address, form | {"days": "0"})
    assert not Conversation.objects.exists()
