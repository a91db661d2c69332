"""What the model saw and would see, for programs."""

from typing import Any

import pytest
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries, Settings
from rest_framework.test import APIClient

from accounts.models import User
from conversations.context.record import REASONS
from conversations.contexts import context_of, question_of, record_context
from conversations.models import Conversation, Turn
from conversations.outlook import next_context
from conversations.providers.registry import BUNDLED
from conversations.tools.registry import OWN
from conversations.tools.toolbox import toolbox
from tests.factories import answer, ask, exchange, make_conversation

pytestmark = pytest.mark.django_db

ROOT = "/api/v1"
LONG = "word " * 80


@pytest.fixture(autouse=True)
def _small(settings: Settings) -> None:
    settings.POCKETCHAT_CHAT_MODEL = "openai:scripted"
    settings.POCKETCHAT_HISTORY_TOKENS = 400


@pytest.fixture
def long(conversation: Conversation) -> Conversation:
    for number in range(6):
        exchange(conversation, f"Question {number}?", LONG)
    conversation.refresh_from_db()
    return conversation


def ahead(api: APIClient, conversation: Conversation, **query: str) -> Any:
    return api.get(f"{ROOT}/conversations/{conversation.pk}/context", query)


def test_the_context_of_a_turn_is_its_record(api: APIClient, long: Conversation) -> None:
    turn = ask(long, "And?")
    record = context_of(question_of(turn), tools=toolbox({tool.spec.name: tool for tool in OWN})).record
    record_context(turn, record.as_json())
    answer(turn)
    told = api.get(f"{ROOT}/turns/{turn.pk}/context").json()
    assert told["turn"] == str(turn.pk)
    assert told["model"] == "openai:scripted"
    assert tuple(told["sent"]) == record.sent
    assert told["start"] == record.start
    assert [section["name"] for section in told["sections"]] == ["system", "tools", "window", "prompt"]
    assert told["tokens"] == record.tokens == sum(section["tokens"] for section in told["sections"])
    assert told["tools"] == ["search_conversation", "current_time"]
    (span,) = told["left_out"]
    assert (span["reason"], span["and_before"]) == ("history_budget", record.left_out[0].and_before)
    assert span["sentence"] == REASONS["history_budget"]
    assert tuple(span["ids"]) == record.left_out[0].ids


def test_a_turn_that_was_not_begun_has_no_context(api: APIClient, conversation: Conversation) -> None:
    turn = ask(conversation)
    response = api.get(f"{ROOT}/turns/{turn.pk}/context")
    assert (response.status_code, response.json()["code"]) == (404, "not_found")
    Turn.objects.filter(pk=turn.pk).update(context={"sent": "nonsense", "sections": 1})
    assert api.get(f"{ROOT}/turns/{turn.pk}/context").status_code == 404


def test_recalled_turns_and_notes_are_told(api: APIClient, conversation: Conversation) -> None:
    turn = exchange(conversation)
    facts = {"recalled": [{"ids": [1, 2], "score": 0.75}], "summary": 3, "summarised_through": 2, "shortened": 1}
    record = {"sent": [turn.prompt_id], "sections": {"prompt": 2}} | facts
    Turn.objects.filter(pk=turn.pk).update(context=record)
    told = api.get(f"{ROOT}/turns/{turn.pk}/context").json()
    assert {name: told[name] for name in facts} == facts


def test_what_the_model_would_see_is_told_before_asking(api: APIClient, long: Conversation) -> None:
    told = ahead(api, long, prompt="What now?").json()
    record = next_context(long, "What now?").record
    assert told["turn"] is None
    assert told["sent"] == list(record.sent[:-1])
    assert told["start"] == record.start
    assert told["tokens"] == record.tokens
    assert told["sections"][-1] == {"name": "prompt", "tokens": record.tokens_of("prompt")}
    assert ahead(api, long).json()["sections"][-1]["tokens"] == 0
    assert Turn.objects.count() == 6


def test_where_no_earlier_turn_is_sent_the_window_begins_nowhere(api: APIClient, conversation: Conversation) -> None:
    exchange(conversation, "Question?", LONG * 6)
    told = ahead(api, conversation).json()
    assert (told["sent"], told["start"]) == ([], None)
    assert told["left_out"][0]["reason"] == "turn_too_large"


def test_another_model_may_be_named(api: APIClient, long: Conversation, settings: Settings) -> None:
    settings.POCKETCHAT_BUNDLED_URL = "http://localhost:1/v1"
    told = ahead(api, long, model=BUNDLED).json()
    assert (told["model"], told["tools"]) == (BUNDLED, [])
    refused = ahead(api, long, model="openai:the-most-expensive")
    assert (refused.status_code, refused.json()["code"]) == (400, "invalid")
    long.refresh_from_db()
    assert long.model == ""


def test_its_own_model_may_be_named_though_it_is_no_longer_offered(api: APIClient, long: Conversation) -> None:
    Conversation.objects.update(model="openai:of-last-year")
    assert ahead(api, long, model="openai:of-last-year").json()["model"] == "openai:of-last-year"


def test_a_question_too_long_is_refused_as_when_it_is_asked(api: APIClient, long: Conversation) -> None:
    address = f"{ROOT}/conversations/{long.pk}/turns"
    for prompt in ("word " * 8000, "x" * 100_001):
        before = ahead(api, long, prompt=prompt)
        asked = api.post(address, {"text": prompt, "parent": long.head_id}, format="json")
        assert before.status_code == asked.status_code
        assert before.json() == asked.json()
        assert before.json()["code"] == "prompt_too_long"


def test_a_message_says_whether_the_next_request_would_hold_it(api: APIClient, long: Conversation) -> None:
    messages = api.get(f"{ROOT}/conversations/{long.pk}/messages").json()["results"]
    held = [message["id"] for message in messages if message["in_context"]]
    assert held == ahead(api, long).json()["sent"]
    assert 0 < len(held) < len(messages)


def test_the_schema_describes_a_context(api: APIClient) -> None:
    schema = api.get(f"{ROOT}/schema/", headers={"Accept": "application/vnd.oai.openapi+json"}).json()
    for path in ("turns/{turn_id}/context", "conversations/{conversation_id}/context"):
        answer_of = schema["paths"][f"{ROOT}/{path}"]["get"]["responses"]["200"]["content"]["application/json"]
        assert answer_of["schema"]["$ref"].endswith("/Context")
    described = schema["components"]["schemas"]
    assert {"sections", "left_out", "recalled", "tokens", "start"} <= set(described["Context"]["properties"])
    assert "sentence" in described["LeftOut"]["properties"]
    assert described["Message"]["properties"]["in_context"]["type"] == "boolean"


def test_a_strangers_context_does_not_exist(api: APIClient, stranger: User) -> None:
    theirs = make_conversation(stranger)
    turn = exchange(theirs)
    Turn.objects.update(context={"sent": [turn.prompt_id], "sections": {"prompt": 1}})
    assert ahead(api, theirs).status_code == 404
    assert api.get(f"{ROOT}/turns/{turn.pk}/context").status_code == 404


def test_a_conversation_in_the_bin_has_no_context(api: APIClient, conversation: Conversation) -> None:
    turn = exchange(conversation)
    Turn.objects.update(context={"sent": [turn.prompt_id], "sections": {"prompt": 1}})
    assert api.get(f"{ROOT}/turns/{turn.pk}/context").status_code == 200
    Conversation.objects.update(trashed_at=timezone.now())
    assert ahead(api, conversation).status_code == 404
    assert api.get(f"{ROOT}/turns/{turn.pk}/context").status_code == 404


def test_a_context_costs_the_same_whatever_the_length(
    api: APIClient, conversation: Conversation, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    for _ in range(2):
        for _ in range(20):
            turn = exchange(conversation)
        with django_assert_num_queries(4):  # The conversation; what lies before, where the window began, the tools.
            ahead(api, conversation)
        with django_assert_num_queries(1):
            api.get(f"{ROOT}/turns/{turn.pk}/context")
        with django_assert_num_queries(6):  # The conversation, messages, versions, and the three of a context.
            api.get(f"{ROOT}/conversations/{conversation.pk}/messages")


def test_a_question_too_long_for_an_address_is_told_of_by_post(
    api: APIClient, long: Conversation, stranger: User
) -> None:
    address = f"{ROOT}/conversations/{long.pk}/context"
    told = api.post(address, {"prompt": "What now?"}, format="json").json()
    assert told == ahead(api, long, prompt="What now?").json()
    refused = api.post(address, {"prompt": "word " * 30_000}, format="json")
    assert (refused.status_code, refused.json()["code"]) == (413, "prompt_too_long")
    other = APIClient()
    other.force_authenticate(stranger)
    assert other.post(address, {"prompt": "What now?"}, format="json").status_code == 404


def test_where_the_instructions_take_all_the_room_the_refusal_speaks_of_them(
    api: APIClient, conversation: Conversation
) -> None:
    Conversation.objects.filter(pk=conversation.pk).update(system_prompt="word " * 30_000)
    refused = ahead(api, conversation, prompt="Why?").json()
    assert (refused["limit"], refused["code"]) == (0, "prompt_too_long")
    assert "instructions" in refused["detail"]
