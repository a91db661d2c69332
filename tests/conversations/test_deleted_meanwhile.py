"""A version is deleted while a request or a worker is between two of its queries."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection
from django.test import Client
from rest_framework.test import APIClient

from conversations import asking, branches, turns
from conversations.models import Conversation, Turn
from tests.factories import ask, edit, exchange, regenerate, reply_of
from tests.threads import with_own_connection

pytestmark = pytest.mark.django_db(transaction=True)

HX = {"HX-Request": "true"}


@contextmanager
def between(where: Callable[[str], bool], then: Callable[[], object]) -> Iterator[list[str]]:
    """Do something once, elsewhere, before the first query of which `where` is true; what was met is in the value."""
    met: list[str] = []

    def meet(execute: Any, sql: str, *args: Any) -> Any:
        if not met and where(sql):
            met.append(sql)
            with ThreadPoolExecutor(1) as other:
                other.submit(with_own_connection(then)).result(timeout=10)
        return execute(sql, *args)

    with connection.execute_wrapper(meet):
        yield met


def looks_for_versions(sql: str) -> bool:
    return sql.startswith("SELECT") and '"turn_id" FROM "conversations_message"' in sql


def reads_the_turn(sql: str) -> bool:
    return sql.startswith("SELECT") and 'FROM "conversations_turn"' in sql and "INNER JOIN" in sql


def test_a_turn_that_goes_while_it_is_shown_is_shown_as_it_was(page: Client, conversation: Conversation) -> None:
    first = exchange(conversation, "Why?", "A1")
    edited = edit(first.prompt, "Why so?", "A2")
    with between(looks_for_versions, lambda: branches.remove(conversation.pk, edited.prompt_id)) as met:
        response = page.get(f"/turns/{edited.pk}/", headers=HX)
    assert met
    assert response.status_code == 200
    assert "A2" in response.content.decode()
    assert page.get(f"/turns/{edited.pk}/", headers=HX).status_code == 404


def test_a_question_that_goes_while_its_sender_is_answered_is_shown_as_it_was(
    page: Client, conversation: Conversation
) -> None:
    first = exchange(conversation, "Why?", "A1")
    regenerate(first, "A2")
    conversation.refresh_from_db()
    sent = {"text": "And?", "request_key": str(uuid4()), "parent": conversation.head_id}

    def remove() -> None:
        answered = Turn.objects.latest("created_at").prompt.parent_id
        assert answered
        branches.remove(conversation.pk, answered)

    with between(looks_for_versions, remove) as met:
        response = page.post(f"/c/{conversation.pk}/turns/", sent, headers=HX)
    assert met
    assert response.status_code == 200
    assert not Turn.objects.live().exists()


def test_a_reply_that_goes_while_it_is_stopped_does_not_exist(api: APIClient, conversation: Conversation) -> None:
    first = exchange(conversation)
    live = edit(first.prompt, "Else?")
    reads = iter((False, True))
    where = lambda sql: reads_the_turn(sql) and next(reads, False)  # noqa: E731  # the second time it is read
    with between(where, lambda: branches.remove(conversation.pk, live.prompt_id)) as met:
        response = api.post(f"/api/v1/turns/{live.pk}/stop")
    assert met
    assert (response.status_code, response.json()["code"]) == (404, "not_found")
    assert reply_of(first)


def test_a_turn_that_goes_while_it_is_claimed_is_nobodys(conversation: Conversation) -> None:
    live = ask(conversation)
    with between(reads_the_turn, lambda: Conversation.objects.filter(pk=conversation.pk).delete()) as met:
        assert turns.claim(live.pk, lease=asking.QUEUE_PATIENCE) is None
    assert met
