"""Pictures stand with the words they came with, and nobody but their owner can look at them."""

from base64 import b64decode, b64encode
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from accounts.models import User
from conversations.models import Conversation, Message, Turn
from tests.conversations.transfer.rich import PIXEL, with_picture
from tests.factories import exchange, make_conversation
from tests.ruling import rule

pytestmark = pytest.mark.django_db


def address(message: Message, number: int = 1) -> str:
    return f"/c/{message.conversation_id}/messages/{message.pk}/pictures/{number}/"


def illustrated(conversation: Conversation, data: str = PIXEL, media_type: str = "image/png") -> Turn:
    turn = with_picture(conversation)
    picture = {"type": "image", "media_type": media_type, "data": data}
    turn.prompt.content = [{"type": "text", "text": "What is this?"}, picture]
    turn.prompt.save()
    return turn


def test_a_picture_is_shown_with_its_question(page: Client, conversation: Conversation) -> None:
    prompt = illustrated(conversation).prompt
    html = page.get(f"/c/{conversation.pk}/").content.decode()
    assert f'src="{address(prompt)}" alt="Picture 1" loading="lazy"' in html
    response = page.get(address(prompt))
    assert (response.status_code, response["Content-Type"], response.content) == (200, "image/png", b64decode(PIXEL))
    assert response["X-Content-Type-Options"] == "nosniff"
    assert "no-store" in response["Cache-Control"]


def test_a_picture_is_shown_with_its_reply(page: Client, conversation: Conversation) -> None:
    turn = exchange(conversation)
    reply = Message.objects.get(turn=turn, role="assistant")
    reply.content = [*reply.content, {"type": "image", "media_type": "image/png", "data": PIXEL}]
    reply.save()
    assert f'src="{address(reply)}"' in page.get(f"/c/{conversation.pk}/").content.decode()


@pytest.mark.parametrize(
    ("data", "media_type"),
    [
        ("no base64", "image/png"),
        (b64encode(b"<svg xmlns='http://www.w3.org/2000/svg'><script>1</script></svg>").decode(), "image/svg+xml"),
        (b64encode(b"<html><script>1</script>").decode(), "image/png"),
    ],
)
def test_what_is_no_picture_is_not_sent_to_a_browser(
    page: Client, conversation: Conversation, data: str, media_type: str
) -> None:
    prompt = illustrated(conversation, data, media_type).prompt
    assert page.get(f"/c/{conversation.pk}/").status_code == 200
    assert page.get(address(prompt)).status_code == 404


def test_there_are_as_many_as_there_are(page: Client, conversation: Conversation) -> None:
    prompt = illustrated(conversation).prompt
    assert [page.get(address(prompt, number)).status_code for number in (0, 1, 2, 10**9)] == [404, 200, 404, 404]


def test_nobody_else_sees_it(client: Client, conversation: Conversation, stranger: User) -> None:
    prompt = illustrated(conversation).prompt
    assert client.get(address(prompt)).status_code == 302
    client.force_login(stranger)
    assert client.get(address(prompt)).status_code == 404
    own = make_conversation(stranger)
    assert client.get(address(prompt).replace(str(conversation.pk), str(own.pk))).status_code == 404


def test_it_is_gone_with_its_conversation(page: Client, conversation: Conversation) -> None:
    prompt = illustrated(conversation).prompt
    Conversation.objects.update(trashed_at=timezone.now())
    assert page.get(address(prompt)).status_code == 404
    Conversation.objects.update(trashed_at=None, last_activity_at=timezone.now() - timedelta(days=40))
    rule(idle_days=30)
    assert page.get(address(prompt)).status_code == 404
