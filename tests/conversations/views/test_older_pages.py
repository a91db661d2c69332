"""Pages of older turns: they have no composer, so what begins a reply there leads to the page that can stop it."""

from uuid import uuid4

import pytest
from django.http import HttpResponse
from django.test import Client

from accounts.models import User
from conversations.models import Conversation, Turn
from tests.factories import ask, exchange, regenerate, reply_of

pytestmark = pytest.mark.django_db

CHANGES = ["retry", "edit", "switch", "remove", "show"]


@pytest.fixture
def first(conversation: Conversation) -> Turn:
    """With two versions of its reply, on a page of older turns."""
    turn = exchange(conversation, "Why?", "A1")
    regenerate(turn, "A2")
    exchange(conversation, "And?", "Later.")
    return turn


def address(conversation: Conversation, path: str = "") -> str:
    return f"/c/{conversation.pk}/{path}"


def older(conversation: Conversation, turn: Turn) -> str:
    return f"http://testserver{address(conversation)}?through={reply_of(turn).pk}#message-{turn.prompt_id}"


def change(page: Client, turn: Turn, kind: str, *, shown: str = "", key: str = "") -> HttpResponse:
    """As htmx asks for it from the page `shown`; an empty one: as a form of a page without a script."""
    reply, key = reply_of(turn), key or str(uuid4())
    path, fields = {
        "retry": (f"/turns/{turn.pk}/retry/", {"request_key": key}),
        "edit": (
            address(turn.conversation, f"messages/{turn.prompt_id}/edit/"),
            {"text": "Why so?", "request_key": key},
        ),
        "switch": (address(turn.conversation, "branch/"), {"message": str(reply.pk)}),
        "remove": (address(turn.conversation, f"messages/{reply.pk}/delete/"), {}),
        "show": (f"/turns/{turn.pk}/show/", {}),
    }[kind]
    headers = {"HX-Request": "true", "HX-Target": "thread", "HX-Current-URL": shown} if shown else {}
    return page.post(path, fields, headers=headers)  # type: ignore[return-value]  # the test client's own


@pytest.mark.parametrize("kind", CHANGES)
def test_what_is_done_there_leads_to_the_newest_turns(
    page: Client, conversation: Conversation, first: Turn, kind: str
) -> None:
    response = change(page, first, kind, shown=older(conversation, first))
    assert response["HX-Redirect"].startswith(f"{address(conversation)}#")
    assert response.content == b""


@pytest.mark.parametrize("kind", CHANGES)
def test_on_the_page_of_the_newest_turns_it_is_shown_in_its_place(
    page: Client, conversation: Conversation, first: Turn, kind: str
) -> None:
    response = change(page, first, kind, shown=f"http://testserver{address(conversation)}#newest")
    assert "HX-Redirect" not in response
    assert 'class="turn' in response.content.decode()


def test_without_a_script_it_leads_there_too(page: Client, conversation: Conversation, first: Turn) -> None:
    assert change(page, first, "retry")["Location"] == f"{address(conversation)}#newest"


def test_a_refusal_leads_nowhere_and_has_a_place_on_the_page(
    page: Client, conversation: Conversation, first: Turn
) -> None:
    running = ask(conversation, "Go on.")
    response = change(page, first, "retry", shown=older(conversation, first))
    assert response.status_code == 409
    assert "HX-Redirect" not in response
    said = response.content.decode()
    assert "still being written" in said
    assert f"/turns/{running.pk}/show/" in said
    shown = page.get(address(conversation), {"through": reply_of(first).pk}).content.decode()
    assert 'id="composer"' not in shown
    assert 'class="composer-problem"' in shown


@pytest.mark.parametrize("chosen", ["through", "before"])
def test_a_reply_being_written_is_shown_where_it_can_be_stopped(
    page: Client, conversation: Conversation, first: Turn, chosen: str
) -> None:
    message = {"through": first.prompt_id, "before": reply_of(first).pk}[chosen]
    regenerate(first)
    response = page.get(address(conversation), {chosen: message})
    assert response["Location"] == f"{address(conversation)}#newest"


def test_a_key_that_named_something_else_is_told_to_the_form(
    page: Client, conversation: Conversation, first: Turn
) -> None:
    used = Turn.objects.latest("created_at").request_key
    for kind in ("retry", "edit"):
        response = change(page, first, kind, shown=older(conversation, first), key=used)
        assert (response.status_code, response["HX-Trigger"]) == (422, "key_reused")
    fields = {"text": "Else?", "request_key": used, "parent": ""}
    sent = page.post(address(conversation, "turns/"), fields, headers={"HX-Request": "true"})
    assert (sent.status_code, sent["HX-Trigger"]) == (422, "key_reused")


def test_a_stranger_is_led_nowhere(client: Client, stranger: User, conversation: Conversation, first: Turn) -> None:
    client.force_login(stranger)
    for kind in CHANGES:
        response = change(client, first, kind, shown=older(conversation, first))
        assert response.status_code == 404
        assert "HX-Redirect" not in response
