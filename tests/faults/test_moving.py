"""A person moves: what they take away from one installation is what they have in another, and here again after all was
erased here."""

import io
import json
import zipfile
from typing import Any

import pytest

from accounts.models import User
from conversations.models import Conversation, Message
from pocketchat.embedded.process import wait_until
from tests.conversations.transfer.plain import plain
from tests.conversations.transfer.rich import go_back, make_rich
from tests.factories import exchange, make_conversation, make_user
from tests.product import Product
from tests.stack import Caller, Stack

pytestmark = [
    pytest.mark.stack,
    # With the faults: the second installation is theirs.
    pytest.mark.xdist_group("faults"),
    pytest.mark.django_db(transaction=True),
]


def finished(caller: Caller, address: str, response: Any) -> dict[str, Any]:
    """An export or an import, once a worker has done it."""
    assert response.status_code == 202, response.text
    one = f"{address}/{response.json()['id']}"
    assert wait_until(lambda: caller.http.get(one).json()["status"] not in ("queued", "running"), seconds=60)
    told: dict[str, Any] = caller.http.get(one).json()
    return told


def taken_away(caller: Caller) -> bytes:
    export = finished(caller, "exports", caller.http.post("exports"))
    assert export["status"] == "ready", export
    return caller.http.get(f"exports/{export['id']}/download").content


def brought_in(caller: Caller, sent: bytes) -> dict[str, Any]:
    return finished(caller, "imports", caller.http.post("imports?instructions=true", content=sent))


def conversations_of(sent: bytes) -> list[dict[str, Any]]:
    """Of an archive, each as it is wherever it is written, in an order of their own."""
    archive = zipfile.ZipFile(io.BytesIO(sent))
    names = [name for name in archive.namelist() if name.startswith("conversations/") and name.endswith(".json")]
    return sorted((plain(json.loads(archive.read(name))) for name in names), key=str)


def would_see(caller: Caller) -> list[Any]:
    """Of each conversation, by title, what a model would be sent with the next question."""
    found = caller.http.get("conversations").json()["results"]
    asked = {one["title"]: f"conversations/{one['id']}/context?prompt=And%20now%3F" for one in found}
    seen = {title: caller.http.get(address).json() for title, address in asked.items()}
    return sorted((title, one["sections"], len(one["sent"])) for title, one in seen.items())


@pytest.fixture
def mover(stack: Stack) -> User:
    """With a conversation of everything there is, one on an older branch, an empty one, one kept and one archived."""
    user = make_user("mover@example.org")
    make_rich(user, pinned=True)
    second = make_rich(user)
    Conversation.objects.filter(pk=second.pk).update(title="Back")
    go_back(second, Message.objects.filter(conversation=second, role="assistant").order_by("id")[0])
    make_conversation(user, title="Empty", title_source="user")
    exchange(make_conversation(user, title="Kept", title_source="user", kept=True), "\U0001f9ff؟", "نعم")
    exchange(make_conversation(user, title="Archived", title_source="user", archived=True))
    return user


def test_it_is_the_same_in_another_installation(stack: Stack, mover: User, product: Product) -> None:
    with Caller.of(stack, mover) as here, product.new_caller("moved@example.org") as there:
        sent = taken_away(here)
        told = brought_in(there, sent)
        assert (told["status"], told["imported"], told["refused"]) == ("complete", 5, 0), told
        assert conversations_of(taken_away(there)) == conversations_of(sent)
        assert would_see(there) == would_see(here)


def test_it_is_the_same_after_all_was_erased(stack: Stack, mover: User) -> None:
    with Caller.of(stack, mover) as here:
        sent, seen = taken_away(here), would_see(here)
        erased = here.http.delete("conversations?all=true&now=true")
        assert erased.status_code == 200, erased.text
        assert not Conversation.objects.filter(owner=mover).exists()
        told = brought_in(here, sent)
        assert (told["status"], told["imported"], told["refused"]) == ("complete", 5, 0), told
        assert conversations_of(taken_away(here)) == conversations_of(sent)
        assert would_see(here) == seen
