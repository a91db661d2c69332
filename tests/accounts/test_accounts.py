"""Signing up, logging in, the forgotten password: by address, without telling strangers who has an account."""

import re
from collections import Counter
from typing import Any, cast

import pytest
from allauth.account.models import EmailAddress
from django.contrib.auth import authenticate
from django.core import mail
from django.core.management import call_command
from django.http import HttpResponse
from django.test import Client
from django_celery_beat.models import IntervalSchedule, PeriodicTask
from pytest_django import Settings

from accounts.models import User
from conversations.models import Conversation
from tests.factories import PASSWORD, exchange, make_user
from tests.threads import at_once

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _embedded(settings: Settings) -> None:
    settings.POCKETCHAT_EMBEDDED_DATABASE = settings.POCKETCHAT_OPEN_SIGNUP = True


def sign_up(client: Client, email: str, password: str = PASSWORD) -> int:
    return client.post("/accounts/signup/", {"email": email, "password1": password}).status_code


def log_in(client: Client, email: str, password: str = PASSWORD) -> bool:
    client.post("/accounts/login/", {"login": email, "password": password})
    return "_auth_user_id" in client.session


def test_the_first_account_is_the_administrator_and_no_other(client: Client) -> None:
    assert sign_up(client, "first@example.org") == 302
    assert sign_up(Client(), "second@example.org") == 302
    rights = dict(User.objects.values_list("email", "is_superuser"))
    assert rights == {"first@example.org": True, "second@example.org": False}


def test_with_a_database_of_ones_own_nobody_becomes_administrator_by_signing_up(
    client: Client, settings: Settings
) -> None:
    settings.POCKETCHAT_EMBEDDED_DATABASE = False
    sign_up(client, "first@example.org")
    assert not User.objects.get().is_superuser


@pytest.mark.django_db(transaction=True)
def test_of_two_who_sign_up_together_one_is_the_administrator() -> None:
    at_once(lambda number: sign_up(Client(), f"person{number}@example.org"), range(4))
    assert User.objects.count() == 4
    assert User.objects.filter(is_superuser=True).count() == 1


def pressed_at_once(times: int) -> list[HttpResponse]:
    """Sign-up for one address, from as many browsers."""
    browsers = [Client() for _ in range(times)]
    for browser in browsers:
        browser.get("/accounts/signup/")

    def press(browser: Client) -> HttpResponse:
        pressed: Any = browser.post("/accounts/signup/", {"email": "eager@example.org", "password1": PASSWORD})
        return cast("HttpResponse", pressed)

    return at_once(press, browsers)


@pytest.mark.django_db(transaction=True)
def test_pressing_sign_up_several_times_at_once_makes_one_account_and_leads_the_others_to_log_in() -> None:
    responses = pressed_at_once(4)
    assert User.objects.count() == 1
    led = Counter(response.headers.get("Location", "") for response in responses)
    assert led["/"] == 1
    # Who comes so late that the form itself knows the address stays on the page.
    assert led["/accounts/login/"] + led[""] == 3


@pytest.mark.django_db(transaction=True)
def test_where_addresses_are_confirmed_a_press_too_many_tells_nobody_that_there_is_an_account(
    settings: Settings,
) -> None:
    settings.ACCOUNT_EMAIL_VERIFICATION = "mandatory"
    responses = pressed_at_once(4)
    assert User.objects.count() == 1
    assert {response.headers["Location"] for response in responses} == {"/accounts/confirm-email/"}


def test_an_address_is_the_same_whatever_its_case(client: Client) -> None:
    sign_up(Client(), "Ada@Example.org")
    sign_up(Client(), "ada@example.org")
    assert User.objects.count() == 1
    assert log_in(client, "ADA@example.ORG")


def test_a_weak_password_is_refused_and_says_why(client: Client) -> None:
    response = client.post("/accounts/signup/", {"email": "a@example.org", "password1": "12345678"})
    assert "too common" in response.content.decode()
    assert not User.objects.exists()


def test_sign_up_can_be_closed(client: Client, settings: Settings) -> None:
    settings.POCKETCHAT_OPEN_SIGNUP = False
    assert sign_up(client, "a@example.org") == 200
    assert not User.objects.exists()


def test_the_log_in_page_offers_an_account_only_to_those_who_may_have_one(client: Client, settings: Settings) -> None:
    assert "Create an account" in client.get("/accounts/login/").content.decode()
    settings.POCKETCHAT_OPEN_SIGNUP = False
    assert "Create an account" not in client.get("/accounts/login/").content.decode()


def test_the_first_person_is_welcomed_and_told_who_becomes_administrator(client: Client, settings: Settings) -> None:
    page = client.get("/accounts/login/").content.decode()
    assert "Welcome back" not in page
    assert "becomes the administrator" in page
    assert 'href="/accounts/signup/"' in page
    settings.POCKETCHAT_EMBEDDED_DATABASE = False
    assert "becomes the administrator" not in client.get("/accounts/login/").content.decode()


def test_whoever_comes_after_the_first_is_asked_to_log_in(client: Client, owner: User) -> None:
    page = client.get("/accounts/login/").content.decode()
    assert "Welcome back" in page
    assert 'name="login"' in page
    assert "administrator" not in page


@pytest.mark.parametrize("is_open", [True, False])
def test_a_mail_about_no_account_offers_one_only_where_it_may_be_had(
    client: Client, settings: Settings, is_open: bool
) -> None:
    settings.POCKETCHAT_OPEN_SIGNUP = is_open
    client.post("/accounts/password/reset/", {"email": "nobody@example.org"})
    assert ("/accounts/signup/" in str(mail.outbox[0].body)) is is_open


def test_logging_in_and_out(client: Client, owner: User) -> None:
    assert not log_in(client, owner.email, "wrong")
    assert log_in(client, owner.email)
    client.post("/accounts/logout/")
    assert "_auth_user_id" not in client.session


def test_pages_speak_english_whatever_the_browser_speaks(client: Client, owner: User) -> None:
    fields = {"login": owner.email, "password": "wrong"}
    response = client.post("/accounts/login/", fields, headers={"accept-language": "de"})
    assert "are not correct" in response.content.decode()
    assert "Accept-Language" not in response["Vary"]


def test_a_forgotten_password_is_set_anew_by_mail_and_works_once(client: Client, owner: User) -> None:
    client.post("/accounts/password/reset/", {"email": owner.email})
    found = re.search(r"http://[^/]+(/accounts/password/reset/key/\S+/)", str(mail.outbox[0].body))
    assert found is not None
    form = client.get(found[1], follow=True)
    phrase = "another long pass phrase"
    client.post(form.redirect_chain[-1][0], {"password1": phrase, "password2": phrase})
    assert authenticate(email=owner.email, password="another long pass phrase") == owner
    again = Client().get(found[1], follow=True)
    assert "password1" not in again.content.decode()


def test_whoever_asks_for_a_reset_learns_nothing_about_who_has_an_account(client: Client, owner: User) -> None:
    known = client.post("/accounts/password/reset/", {"email": owner.email}, follow=True)
    unknown = Client().post("/accounts/password/reset/", {"email": "nobody@example.org"}, follow=True)
    assert known.redirect_chain == unknown.redirect_chain
    without_tokens = [re.sub(r'value="[^"]{20,}"', "", page.content.decode()) for page in (known, unknown)]
    assert without_tokens[0] == without_tokens[1]


@pytest.mark.parametrize("host", ["localhost:31337", "127.0.0.1:99", "chat.example.org:31337"])
def test_links_in_mails_lead_to_the_public_address_whatever_the_request_said(
    client: Client, owner: User, settings: Settings, host: str
) -> None:
    settings.POCKETCHAT_URL = "https://chat.example.org"
    settings.ALLOWED_HOSTS = ["localhost", "127.0.0.1", "chat.example.org", "testserver"]
    client.post("/accounts/password/reset/", {"email": owner.email}, headers={"host": host})
    sign_up(client, "new@example.org")
    links = re.findall(r"https?://\S+", " ".join(str(message.body) for message in mail.outbox))
    assert len(links) == 2
    assert all(link.startswith("https://chat.example.org/accounts/") for link in links)


def test_a_forged_host_is_not_believed(client: Client, owner: User) -> None:
    response = client.post("/accounts/password/reset/", {"email": owner.email}, headers={"host": "evil.example"})
    assert response.status_code == 400
    assert mail.outbox == []


def test_the_password_is_changed(client: Client, owner: User) -> None:
    client.force_login(owner)
    fields = {"oldpassword": PASSWORD, "password": "x", "password1": "another long pass phrase"}
    client.post("/accounts/password/change/", fields | {"password2": "another long pass phrase"})
    assert authenticate(email=owner.email, password="another long pass phrase") == owner


def test_a_reset_password_logs_out_everywhere_and_the_page_names_what_stays(client: Client, owner: User) -> None:
    elsewhere = Client()
    elsewhere.force_login(owner)
    client.post("/accounts/password/reset/", {"email": owner.email})
    found = re.search(r"http://[^/]+(/accounts/password/reset/key/\S+/)", str(mail.outbox[0].body))
    assert found
    form = client.get(found[1], follow=True)
    fields = {"password1": "another long pass phrase", "password2": "another long pass phrase"}
    done = client.post(form.redirect_chain[-1][0], fields, follow=True).content.decode()
    assert elsewhere.get("/accounts/tokens/")["Location"].startswith("/accounts/login/")
    assert "You are logged out everywhere." in done
    assert '<a href="/accounts/tokens/">API tokens</a> stay valid' in done


def test_a_reset_password_is_said_to_be_changed_once(client: Client, owner: User) -> None:
    client.post("/accounts/password/reset/", {"email": owner.email})
    found = re.search(r"http://[^/]+(/accounts/password/reset/key/\S+/)", str(mail.outbox[0].body))
    assert found is not None
    form = client.get(found[1], follow=True)
    fields = {"password1": "another long pass phrase", "password2": "another long pass phrase"}
    done = client.post(form.redirect_chain[-1][0], fields, follow=True).content.decode()
    assert done.count("password is changed") == 1


def test_an_address_is_offered_only_what_can_be_done_with_it(client: Client, owner: User) -> None:
    log_in(client, owner.email)
    EmailAddress.objects.update_or_create(user=owner, email=owner.email, defaults={"primary": True, "verified": True})
    page = client.get("/accounts/email/").content.decode()
    assert not re.search("action_(primary|send|remove)", page)
    EmailAddress.objects.create(user=owner, email="new@example.org")
    page = client.get("/accounts/email/").content.decode()
    assert re.findall("action_(primary|send|remove)", page) == ["send", "remove"]


def test_another_confirmed_address_becomes_the_primary_one(client: Client, owner: User) -> None:
    log_in(client, owner.email)
    other = EmailAddress.objects.create(user=owner, email="other@example.org", verified=True)
    assert "action_primary" in client.get("/accounts/email/").content.decode()
    client.post("/accounts/email/", {"email": other.email, "action_primary": ""})
    other.refresh_from_db()
    assert other.primary


def test_labels_are_written_like_sentences(client: Client, owner: User) -> None:
    log_in(client, owner.email)
    page = client.get("/accounts/password/change/").content.decode()
    assert re.findall(r"<label[^>]*>([^<]*)</label>", page)[0] == "Current password"


def test_an_administrator_is_made_at_the_command_line(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DJANGO_SUPERUSER_PASSWORD", PASSWORD)
    call_command("createsuperuser", interactive=False, email="admin@example.org")
    assert User.objects.get().is_superuser


def test_the_admin_lists_changes_and_makes_accounts(client: Client) -> None:
    client.force_login(User.objects.create_superuser("admin@example.org", PASSWORD))
    assert client.get("/admin/accounts/user/").status_code == 200
    form = {"email": "new@example.org", "usable_password": "true", "password1": PASSWORD, "password2": PASSWORD}
    client.post("/admin/accounts/user/add/", form)
    made = User.objects.get(email="new@example.org")
    assert client.get(f"/admin/accounts/user/{made.pk}/change/").status_code == 200


def test_the_admin_has_no_log_in_of_its_own_where_attempts_would_not_be_counted(client: Client) -> None:
    User.objects.create_superuser("admin@example.org", PASSWORD)
    response = client.post("/admin/login/", {"username": "admin@example.org", "password": PASSWORD})
    assert response["Location"].startswith("/accounts/login/?next=")
    assert "_auth_user_id" not in client.session


def test_whoever_may_not_open_the_admin_is_told_so(client: Client, owner: User) -> None:
    client.force_login(owner)
    assert client.get("/admin/", follow=True).status_code == 403


@pytest.mark.parametrize("page", ["turn", "modelcall"])
def test_the_admin_shows_turns_and_calls_without_what_was_said(client: Client, page: str) -> None:
    client.force_login(User.objects.create_superuser("admin@example.org", PASSWORD))
    assert client.get(f"/admin/conversations/{page}/").status_code == 200


def test_the_admin_lists_the_newest_turns_first(client: Client, conversation: Conversation) -> None:
    older, newer = exchange(conversation), exchange(conversation)
    client.force_login(User.objects.create_superuser("admin@example.org", PASSWORD))
    page = client.get("/admin/conversations/turn/").content.decode()
    assert "PocketChat administration" in page
    assert page.index(str(newer.pk)) < page.index(str(older.pk))


def test_the_page_of_a_recurring_task_has_no_script_that_our_policy_forbids(client: Client) -> None:
    client.force_login(User.objects.create_superuser("admin@example.org", PASSWORD))
    every = IntervalSchedule.objects.create(every=5, period="seconds")
    task = PeriodicTask.objects.create(name="sweep", task="conversations.sweep", interval=every)
    page = client.get(f"/admin/django_celery_beat/periodictask/{task.pk}/change/").content.decode()
    scripts = re.findall(r"<script(?![^>]*\bsrc=)(?![^>]*application/json)[^>]*>(.+?)</script>", page, re.DOTALL)
    assert [script for script in scripts if script.strip()] == []


def test_browsers_that_ask_for_an_icon_are_shown_ours(client: Client) -> None:
    assert re.fullmatch(r"/static/img/icon.*\.svg", client.get("/favicon.ico")["Location"])


PAGES = ["login/", "signup/", "password/reset/", "password/reset/done/", "confirm-email/", "inactive/"]
OWN_PAGES = ["logout/", "email/", "password/change/", "reauthenticate/", "tokens/"]


@pytest.mark.parametrize("path", PAGES)
def test_every_page_for_visitors_has_our_look(client: Client, path: str) -> None:
    response = client.get(f"/accounts/{path}", follow=True)
    assert response.status_code == 200
    assert "css/tokens" in response.content.decode()


@pytest.mark.parametrize("path", OWN_PAGES)
def test_every_page_for_owners_has_our_look(client: Client, path: str) -> None:
    user = make_user()
    log_in(client, user.email)
    response = client.get(f"/accounts/{path}", follow=True)
    assert response.status_code == 200
    assert "css/tokens" in response.content.decode()
