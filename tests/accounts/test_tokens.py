"""Tokens for programs."""

import re
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone
from knox.models import AuthToken

from accounts import tokens
from accounts.models import User
from accounts.views import NEW_TOKEN
from tests.factories import PASSWORD

pytestmark = pytest.mark.django_db


def confirm(client: Client, user: User) -> None:
    """Log in, and say the password once more, as the page asks."""
    client.force_login(user)
    client.post("/accounts/reauthenticate/", {"password": PASSWORD})


def reads_with(token: str) -> int:
    return Client().get("/api/v1/conversations", headers={"Authorization": f"Token {token}"}).status_code


def test_a_token_is_shown_once_and_opens_the_api(client: Client, owner: User) -> None:
    confirm(client, owner)
    made = client.post("/accounts/tokens/", {"life": "30"}, follow=True).content.decode()
    found = re.search(r'class="secret">([^<]+)<', made)
    assert found is not None
    assert found[1] not in client.get("/accounts/tokens/").content.decode()
    assert reads_with(found[1]) == 200
    assert found[1] not in str(AuthToken.objects.values())


def test_a_page_with_a_new_token_is_reloaded_without_making_another(client: Client, owner: User) -> None:
    confirm(client, owner)
    assert client.post("/accounts/tokens/", {"life": "30"})["Location"] == "/accounts/tokens/"
    assert 'class="secret"' in client.get("/accounts/tokens/").content.decode()
    assert 'class="secret"' not in client.get("/accounts/tokens/").content.decode()
    assert AuthToken.objects.count() == 1


def test_a_new_token_is_kept_nowhere_once_it_was_shown(client: Client, owner: User) -> None:
    confirm(client, owner)
    made = client.post("/accounts/tokens/", {"life": "30"}, follow=True).content.decode()
    found = re.search(r'class="secret"[^>]*>([^<]+)<', made)
    assert found is not None
    assert found[1] not in str(dict(client.session))
    assert not client.cookies[NEW_TOKEN].value


def test_tokens_are_shown_and_made_only_after_the_password(client: Client, owner: User) -> None:
    client.force_login(owner)
    assert client.get("/accounts/tokens/")["Location"].startswith("/accounts/reauthenticate/")
    client.post("/accounts/tokens/", {"life": "30"})
    assert not AuthToken.objects.exists()


def test_a_token_taken_back_opens_nothing(client: Client, owner: User) -> None:
    token = tokens.issue(owner, life=None)
    client.force_login(owner)
    client.post(f"/accounts/tokens/{AuthToken.objects.get().token_key}/revoke/")
    assert reads_with(token) == 401


def test_whoever_logs_in_on_the_way_to_taking_one_back_finds_the_list_and_takes_none(
    client: Client, owner: User
) -> None:
    token = tokens.issue(owner, life=None)
    client.force_login(owner)
    response = client.get(f"/accounts/tokens/{AuthToken.objects.get().token_key}/revoke/")
    assert response["Location"] == "/accounts/tokens/"
    assert reads_with(token) == 200


def test_a_strangers_token_is_not_taken_back(client: Client, owner: User, stranger: User) -> None:
    token = tokens.issue(owner, life=None)
    client.force_login(stranger)
    client.post(f"/accounts/tokens/{AuthToken.objects.get().token_key}/revoke/")
    assert reads_with(token) == 200


def test_an_expired_token_is_listed_as_that_and_can_be_removed(client: Client, owner: User) -> None:
    for _ in range(2):
        tokens.issue(owner, life=timedelta(days=30))
    expired = AuthToken.objects.earliest("created")
    AuthToken.objects.filter(pk=expired.pk).update(expiry=timezone.now() - timedelta(seconds=1))
    confirm(client, owner)
    shown = client.get("/accounts/tokens/").content.decode()
    assert (shown.count("valid until"), shown.count("expired on")) == (1, 1)
    assert (shown.count(">Take back<"), shown.count(">Remove<")) == (1, 1)
    client.post(f"/accounts/tokens/{expired.token_key}/revoke/")
    assert "expired on" not in client.get("/accounts/tokens/").content.decode()


def test_a_token_works_on_after_the_password_was_changed_and_the_page_says_so(client: Client, owner: User) -> None:
    token = tokens.issue(owner, life=None)
    client.force_login(owner)
    shown = client.get("/accounts/password/change/").content.decode()
    assert '<a href="/accounts/tokens/">API tokens</a> stay valid' in shown
    new = "another long pass phrase"
    fields = {"oldpassword": PASSWORD, "password": "x", "password1": new, "password2": new}
    client.post("/accounts/password/change/", fields)
    assert reads_with(token) == 200


def test_a_token_past_its_life_opens_nothing(owner: User) -> None:
    token = tokens.issue(owner, life=timedelta(days=30))
    AuthToken.objects.update(expiry=timezone.now() - timedelta(seconds=1))
    assert reads_with(token) == 401


@pytest.mark.parametrize("fields", [{}, {"life": ""}, {"life": "forever"}])
def test_without_a_life_that_is_offered_no_token_is_made(client: Client, owner: User, fields: dict[str, str]) -> None:
    confirm(client, owner)
    assert client.post("/accounts/tokens/", fields).status_code == 200
    assert not AuthToken.objects.exists()


def test_a_token_that_never_expires_is_asked_for_by_that_word(client: Client, owner: User) -> None:
    confirm(client, owner)
    client.post("/accounts/tokens/", {"life": "never"})
    assert AuthToken.objects.get().expiry is None
