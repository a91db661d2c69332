"""What was brought in goes on here, with the models there are."""

import json
from datetime import timedelta

import pytest
from django.utils import timezone

from conversations import access, recollections, searching
from conversations.models import Conversation, Embedding
from conversations.recall.lexemes import sought
from conversations.tasks import index_import
from tests.conversations.transfer.incoming import samples
from tests.conversations.transfer.incoming.conftest import BringIn
from tests.factories import make_user
from tests.stack import Caller, Stack


def test_it_is_found_by_recall(bring_in: BringIn) -> None:
    run = bring_in(samples.sent(samples.talk()))
    index_import(str(run.pk))
    [conversation] = Conversation.objects.filter(import_results__run=run)
    assert Embedding.objects.filter(conversation=conversation).count() == 6  # All but what the tool returned.
    found = recollections.recall(conversation, "What is bread?", k=1)
    assert "bread" in found[0].turn.messages[0].text


def test_it_is_found_by_the_search_of_all_conversations(bring_in: BringIn) -> None:
    run = bring_in(samples.sent(samples.talk()))
    found = searching.search(access.conversations_of(run.owner), sought("bread"), owner_id=run.owner.pk, limit=10)
    assert {hit.message.conversation for hit in found.hits} == set(Conversation.objects.filter(import_results__run=run))


@pytest.mark.stack
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("name", ["chatgpt", "claude", "open-webui"])
def test_the_next_question_is_answered(stack: Stack, name: str) -> None:
    """Brought in through the API and a worker, then asked on: the model gets what was said, in its own form."""
    files = {
        "chatgpt": samples.talk(),
        "claude": samples.claude(
            samples.spoken("a", samples.BEGINNING, "human", "What is bread?"),
            samples.spoken(
                "b",
                "a",
                "assistant",
                "",
                content=[
                    {"type": "tool_use", "id": "t", "name": "web", "input": {}},
                    {"type": "tool_result", "tool_use_id": "t", "content": "Dough"},
                    {"type": "text", "text": "Dough, baked."},
                ],
            ),
        ),
        "open-webui": samples.open_webui(
            [
                {"id": "a", "parentId": None, "role": "user", "content": "What is bread?"},
                {"id": "b", "parentId": "a", "role": "assistant", "content": "Dough, baked."},
            ],
            "b",
        ),
    }
    with Caller.of(stack, make_user()) as program:
        sent = program.http.post(
            "imports", content=samples.sent(files[name]), headers={"Content-Type": "application/json"}
        )
        assert sent.status_code == 202, sent.text
        address = f"imports/{sent.json()['id']}"
        deadline = timezone.now() + timedelta(seconds=30)
        while (told := program.http.get(address).json())["finished_at"] is None:
            assert timezone.now() < deadline, told
        [result] = told["results"]
        assert (told["imported"], result["outcome"]) == (1, "imported")
        conversation = result["conversation"]
        asked = program.ask(conversation, "And butter?", parent=program.head(conversation)).json()
        assert program.wait(asked["id"])["status"] == "complete"
        assert program.turn(asked["id"])["imported_from"] == ""
    request = json.dumps(stack.provider.requests[-1].body)
    assert "What is bread?" in request
    assert "baked." in request
    assert "Answer in rhyme." not in request
    assert "Be brief." not in request
