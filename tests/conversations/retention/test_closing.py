"""An account is closed by its owner or by an administrator, and nothing of it is left."""

from typing import Any
from uuid import UUID

import pytest
from allauth.account.models import EmailAddress
from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.contenttypes.models import ContentType
from django.contrib.sessions.models import Session
from django.core import mail
from django.core.cache import cache
from django.test import Client
from django.utils import timezone
from rest_framework.test import APIClient

from accounts.models import User
from accounts.tokens import issue
from conversations.models import Conversation, Erasure, Hold, Message, Turn
from conversations.refusals import Held, LastAdministrator
from conversations.retention import accounts, closing, erase, finishing, holds
from tests.factories import PASSWORD, ask, exchange, make_conversation

pytestmark = pytest.mark.django_db

CLOSE = "/data/close/"


@pytest.fixture(autouse=True)
def _nobody_has_tried() -> None:
    cache.clear()


@pytest.fixture
def settled(owner: User, stranger: User) -> User:
    """Somebody with everything, beside somebody else with as much."""
    for user in (owner, stranger):
        exchange(make_conversation(user))
        ask(make_conversation(user))
        binned = exchange(make_conversation(user)).conversation_id
        Conversation.objects.filter(pk=binned).update(trashed_at=timezone.now())
        EmailAddress.objects.create(user=user, email=user.email, verified=True, primary=True)
        issue(user, life=None)
        Client().force_login(user)
    return owner


def finish() -> None:
    finishing.finish(now=timezone.now())


def test_the_owner_closes_it_on_its_page_and_is_told_by_mail(settled: User, stranger: User, client: Client) -> None:
    client.force_login(settled)
    page = client.get(CLOSE).content.decode()
    assert "3 conversations with 5 messages" in page
    assert 'href="/data/#export-section"' in page
    assert 'id="export-section"' in client.get("/data/").content.decode()
    response = client.post(CLOSE, {"password": PASSWORD})
    assert (response.status_code, response["Location"]) == (302, "/data/closed/")
    assert response["Clear-Site-Data"] == '"storage"'
    assert "closed" in client.get("/data/closed/").content.decode()
    assert client.get(CLOSE).status_code == 302, "nobody is logged in any more"

    number, address = settled.pk, settled.email
    finish()
    assert accounts.counted([number]) == {}
    assert not Conversation.objects.filter(owner=number).exists()
    receipt = Erasure.objects.get(accounts=[number])
    assert receipt.is_verified
    assert receipt.counts == {"user": 1, "emailaddress": 1, "session": 1, "notes": 1}
    totals = closing.counts_of(receipt)
    assert (totals["conversation"], totals["message"]) == (3, 5)
    (told,) = mail.outbox
    assert told.to == [address]
    assert f"receipt {receipt.pk}" in told.body
    assert "- conversation: 3" in told.body
    # Of the stranger nothing is missing.
    assert Message.objects.filter(conversation__owner=stranger).count() == 5
    assert accounts.counted([stranger.pk])["session"] == 1


@pytest.mark.parametrize("sent", [{}, {"password": ""}, {"password": "guessed"}])
def test_without_the_password_nothing_happens(settled: User, client: Client, sent: dict[str, str]) -> None:
    client.force_login(settled)
    assert client.post(CLOSE, sent).status_code == 200
    settled.refresh_from_db()
    assert settled.is_active
    assert not Erasure.objects.exists()


def test_passwords_are_not_guessed(owner: User, client: Client) -> None:
    client.force_login(owner)
    for _ in range(5):
        assert "not your password" in client.post(CLOSE, {"password": "guessed"}).content.decode()
    assert "5 times a minute" in client.post(CLOSE, {"password": PASSWORD}).content.decode()
    assert not Erasure.objects.exists()


def test_who_has_no_password_is_asked_by_allauth_first(owner: User, client: Client) -> None:
    owner.set_unusable_password()
    owner.save()
    EmailAddress.objects.create(user=owner, email=owner.email, verified=True, primary=True)
    client.force_login(owner)
    assert client.post(CLOSE).status_code in (302, 403)
    assert not Erasure.objects.exists()


def test_strangers_are_sent_to_log_in(client: Client) -> None:
    assert client.get(CLOSE)["Location"].startswith("/accounts/login/")


def test_a_held_account_is_refused_with_a_clear_word(settled: User, client: Client) -> None:
    hold = Hold.objects.create(conversation=Conversation.objects.filter(owner=settled).first(), reason="7/26")
    client.force_login(settled)
    assert "administrator holds" in client.get(CLOSE).content.decode()
    assert "administrator holds" in client.post(CLOSE, {"password": PASSWORD}).content.decode()
    holds.lift(hold, by=None, now=timezone.now())
    Hold.objects.create(user=settled, reason="7/26")
    with pytest.raises(Held):
        closing.close(settled, by=settled, is_told=True, now=timezone.now())
    assert not Erasure.objects.exists()


def test_a_hold_that_comes_while_it_is_closed_keeps_what_is_there(settled: User) -> None:
    closing.close(settled, by=settled, is_told=False, now=timezone.now())
    hold = Hold.objects.create(user=settled, reason="7/26")
    finish()
    receipt = Erasure.objects.get()
    assert (receipt.erased_at, receipt.left) == (None, {"rows": "Held"})
    assert Conversation.objects.filter(owner=settled).count() == 3
    holds.lift(hold, by=None, now=timezone.now())
    Erasure.objects.update(next_look_at=timezone.now())
    finish()
    assert not User.objects.filter(pk=settled.pk).exists()


def test_the_last_administrator_is_told_first(owner: User, client: Client) -> None:
    User.objects.filter(pk=owner.pk).update(is_superuser=True, is_staff=True)
    client.force_login(owner)
    assert "nobody can open the administration" in client.get(CLOSE).content.decode()
    assert "last account" in client.post(CLOSE, {"password": PASSWORD}).content.decode()
    assert not Erasure.objects.exists()
    assert client.post(CLOSE, {"password": PASSWORD, "is_told": "on"}).status_code == 302


def test_closing_twice_is_closing_once(settled: User) -> None:
    made = {closing.close(settled, by=settled, is_told=False, now=timezone.now()).pk for _ in range(2)}
    assert len(made) == 1


def test_live_replies_are_stopped_first(settled: User, monkeypatch: pytest.MonkeyPatch) -> None:
    order: list[list[UUID]] = []

    def erased(ids: list[UUID], cause: erase.Cause) -> list[Erasure]:
        order.append(list(ids))
        return erase.erased(ids, cause)

    monkeypatch.setattr(closing, "erased", erased)
    live = list(Turn.objects.live().filter(conversation__owner=settled).values_list("conversation", flat=True))
    closing.close(settled, by=settled, is_told=False, now=timezone.now())
    finish()
    assert order[0] == live


def test_a_conversation_that_is_stored_behind_the_last_batch_has_a_receipt_too(
    settled: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    came: list[Conversation] = []

    def last_step(*args: Any, **kwargs: Any) -> list[str] | None:
        if not came:
            came.append(make_conversation(settled))
        return ended(*args, **kwargs)

    ended = closing._last_step
    monkeypatch.setattr(closing, "_last_step", last_step)
    closing.close(settled, by=settled, is_told=False, now=timezone.now())
    finish()
    assert not User.objects.filter(pk=settled.pk).exists()
    assert Erasure.objects.filter(conversations__contains=[came[0].pk]).exists()


def test_whoever_has_a_longer_address_keeps_sessions_and_history(settled: User, stranger: User) -> None:
    for user, address in ((settled, "b@example.org"), (stranger, "bb@example.org")):
        User.objects.filter(pk=user.pk).update(email=address)
        EmailAddress.objects.filter(user=user).update(email=address)
        kind = ContentType.objects.get_for_model(User)
        for said in (address, f"{address}.example.com", f"Changed {address}."):
            LogEntry.objects.create(
                user=stranger, content_type=kind, object_id="1", object_repr=said, action_flag=CHANGE
            )
        client = Client()
        session = client.session
        session["account_login"] = {"email": address}
        session.save()
    accounts.delete(User.objects.get(pk=settled.pk))
    left = set(LogEntry.objects.values_list("object_repr", flat=True))
    assert left == {
        "bb@example.org",
        "bb@example.org.example.com",
        "Changed bb@example.org.",
        "b@example.org.example.com",
    }
    assert Session.objects.count() == 2


def test_an_account_whose_closing_was_killed_is_closed_by_the_next_worker(
    settled: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    def die(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    closing.close(settled, by=settled, is_told=False, now=timezone.now())
    with monkeypatch.context() as killed:
        killed.setattr(accounts, "delete", die)
        with pytest.raises(KeyboardInterrupt):
            finish()
    assert User.objects.filter(pk=settled.pk).exists()
    finishing.finish(now=timezone.now() + 2 * finishing.LEASE)
    assert not User.objects.filter(pk=settled.pk).exists()
    assert len(mail.outbox) == 1


class TestApi:
    def test_me_is_who_asks(self, settled: User, stranger: User) -> None:
        for user in (settled, stranger):
            client = APIClient()
            client.force_authenticate(user)
            me = client.get("/api/v1/me").json()
            assert (me["id"], me["email"], me["is_administrator"]) == (user.pk, user.email, False)
            assert [one["email"] for one in me["addresses"]] == [user.email]
        assert APIClient().get("/api/v1/me").status_code == 401

    def test_another_confirmed_address_becomes_the_first(self, settled: User, stranger: User, api: APIClient) -> None:
        EmailAddress.objects.create(user=settled, email="New@example.org", verified=True)
        EmailAddress.objects.create(user=settled, email="unconfirmed@example.org", verified=False)
        changed = api.patch("/api/v1/me", {"email": "new@example.org"}, format="json")
        assert changed.status_code == 200, changed.content
        assert changed.json()["email"].lower() == "new@example.org"
        for other in ("unconfirmed@example.org", stranger.email, "nowhere@example.org"):
            refused = api.patch("/api/v1/me", {"email": other}, format="json")
            assert (refused.status_code, refused.json()["code"]) == (400, "invalid")
            assert "no confirmed address" in refused.json()["detail"]

    def test_it_is_closed_with_the_password_alone(self, settled: User) -> None:
        client = APIClient(headers={"Authorization": f"Token {issue(settled, life=None)}"})
        assert client.delete("/api/v1/me", {}, format="json").status_code == 400
        wrong = client.delete("/api/v1/me", {"password": "guessed"}, format="json")
        assert (wrong.status_code, wrong.json()["code"]) == (403, "wrong_password")
        closed = client.delete("/api/v1/me", {"password": PASSWORD}, format="json")
        assert closed.status_code == 202
        assert client.get("/api/v1/me").status_code == 401
        finish()
        assert Erasure.objects.get(pk=closed.json()["receipt"]).is_verified
        assert not User.objects.filter(pk=settled.pk).exists()

    def test_it_is_refused_in_words(self, owner: User, api: APIClient) -> None:
        User.objects.filter(pk=owner.pk).update(is_superuser=True)
        owner.refresh_from_db()
        refused = api.delete("/api/v1/me", {"password": PASSWORD}, format="json")
        assert (refused.status_code, refused.json()["code"]) == (409, "last_administrator")
        Hold.objects.create(user=owner, reason="7/26")
        held = api.delete("/api/v1/me", {"password": PASSWORD, "last_administrator": True}, format="json")
        assert (held.status_code, held.json()["code"]) == (409, "held")


class TestAdmin:
    @pytest.fixture
    def admin(self, client: Client) -> Client:
        client.force_login(User.objects.create_superuser("admin@example.org", PASSWORD))
        return client

    def test_what_goes_is_counted_and_then_goes_by_the_road(
        self, settled: User, admin: Client, django_capture_on_commit_callbacks: Any
    ) -> None:
        LogEntry.objects.create(
            user=User.objects.get(email="admin@example.org"),
            content_type=ContentType.objects.get_for_model(User),
            object_id=str(settled.pk),
            object_repr=settled.email,
            action_flag=CHANGE,
        )
        assert settled.email in admin.get("/admin/").content.decode()
        address = f"/admin/accounts/user/{settled.pk}/delete/"
        page = admin.get(address).content.decode()
        assert "Conversation: 3" in " ".join(page.split())
        assert str(Conversation.objects.filter(owner=settled).first()) not in page
        with django_capture_on_commit_callbacks(execute=False) as enqueued:
            response = admin.post(address, {"post": "yes"}, follow=True)
        assert "can no longer be used" in response.content.decode()
        assert len(enqueued) == 1
        receipt = Erasure.objects.get()
        assert (receipt.reason, receipt.accounts) == ("administrator", [settled.pk])
        finish()
        assert accounts.counted([settled.pk]) == {}
        history = admin.get("/admin/").content.decode()
        assert f"account {settled.pk}" in history
        assert settled.email not in history

    def test_selected_accounts_go_the_same_road(self, settled: User, stranger: User, admin: Client) -> None:
        selected = {"action": "delete_selected", "_selected_action": [settled.pk, stranger.pk], "post": "yes"}
        admin.post("/admin/accounts/user/", selected)
        finish()
        assert User.objects.count() == 1
        assert not Conversation.objects.exists()

    @pytest.mark.parametrize("why", ["held", "last"])
    def test_what_must_stay_is_not_deleted_there(self, settled: User, admin: Client, why: str) -> None:
        if why == "held":
            Hold.objects.create(user=settled, reason="7/26")
            user, word = settled, "administrator holds"
        else:
            user, word = User.objects.get(email="admin@example.org"), "last account"
        address = f"/admin/accounts/user/{user.pk}/delete/"
        assert word in admin.get(address).content.decode()
        admin.post(address, {"post": "yes"})
        assert not Erasure.objects.exists()
        with pytest.raises((Held, LastAdministrator)):
            closing.close(user, by=user, is_told=False, now=timezone.now())

    def test_a_person_without_the_right_deletes_nobody(self, settled: User, stranger: User, client: Client) -> None:
        User.objects.filter(pk=stranger.pk).update(is_staff=True)
        client.force_login(stranger)
        assert client.post(f"/admin/accounts/user/{settled.pk}/delete/", {"post": "yes"}).status_code == 403
