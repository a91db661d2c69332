"""A conversation as JSON: nothing lost, of the form that is written down, and of one moment."""

import json
import re
from datetime import UTC, datetime
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from jsonschema import Draft202012Validator, FormatChecker

from accounts.models import User
from conversations.models import Conversation, Message, Summary, Turn
from conversations.transfer import as_json
from conversations.transfer.content import Content
from conversations.transfer.rows import CONVERSATION, LEFT_OUT, MessageRow, SummaryRow, TurnRow
from conversations.transfer.schema import conversation_schema
from tests.conversations.transfer.rich import CALL, PIXEL, RESULT, go_back, make_rich
from tests.factories import ask, exchange, make_conversation

pytestmark = pytest.mark.django_db


def exported(conversation: Conversation) -> Any:
    return json.loads("".join(as_json.written(Content(conversation), now=timezone.now())))


def checked(document: Any) -> Any:
    """The document, when it is of the form that is written down."""
    Draft202012Validator(conversation_schema(), format_checker=FormatChecker()).validate(document)
    return document


@pytest.fixture
def rich(owner: User) -> Conversation:
    return make_rich(owner)


def test_the_schema_is_one() -> None:
    Draft202012Validator.check_schema(conversation_schema())


def test_an_export_is_of_the_form_that_is_written_down(rich: Conversation) -> None:
    checked(exported(rich))


def test_an_empty_and_a_live_conversation_are_of_that_form_too(owner: User) -> None:
    empty = checked(exported(make_conversation(owner)))
    assert (empty["turns"], empty["messages"], empty["conversation"]["head"]) == ([], [], None)
    conversation = make_conversation(owner)
    turn = ask(conversation)
    conversation.refresh_from_db()
    [live] = checked(exported(conversation))["turns"]
    assert (live["id"], live["status"], live["finished_at"]) == (str(turn.pk), "queued", None)


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("version",), 2),
        (("conversation", "head"), "12"),
        (("conversation", "owner"), "me@example.org"),
        (("messages", 0, "content"), "text"),
        (("messages", 0, "content"), [{"type": "text"}]),
        (("messages", 0, "role"), "robot"),
        (("messages", 0, "created_at"), "2026-11-30T21:00:00+02:00"),
        (("turns", 0, "cost"), 0.1),
        (("turns", 0, "status"), "asleep"),
        (("summaries", 0, "through_message"), None),
    ],
)
def test_the_schema_refuses_what_is_not_so(rich: Conversation, place: tuple[Any, ...], value: Any) -> None:
    document = exported(rich)
    inner = document
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = value
    assert not Draft202012Validator(conversation_schema(), format_checker=FormatChecker()).is_valid(document)


def test_all_branches_are_there_and_the_active_one_is_marked(rich: Conversation) -> None:
    other = Message.objects.filter(conversation=rich, role="assistant").order_by("id")[0]
    go_back(rich, other)
    document = exported(rich)
    stored = {m.pk: (m.parent_id, m.resume_at_id, m.role, m.content) for m in Message.objects.filter(conversation=rich)}
    assert {m["id"]: (m["parent"], m["resume_at"], m["role"], m["content"]) for m in document["messages"]} == stored
    assert document["conversation"]["head"] == other.pk
    assert any(m["resume_at"] for m in document["messages"])
    ids = [m["id"] for m in document["messages"]]
    assert ids == sorted(ids)


def test_tools_pictures_and_thinking_are_there_as_they_are_stored(rich: Conversation) -> None:
    blocks = [block for message in exported(rich)["messages"] for block in message["content"]]
    assert CALL in blocks
    assert RESULT in blocks
    assert {"type": "image", "media_type": "image/png", "data": PIXEL} in blocks
    assert {"type": "thinking", "text": "They want pizza."} in blocks


def test_turns_tell_how_they_went_and_what_they_took(rich: Conversation) -> None:
    turns = exported(rich)["turns"]
    assert {turn["status"] for turn in turns} == {"complete", "stopped", "failed"}
    assert [turn["error_code"] for turn in turns if turn["error_code"]] == ["dropped"]
    last = turns[-1]
    assert (last["input_tokens"], last["output_tokens"], last["cached_tokens"]) == (70, 5, 9)
    assert last["cost"] == "0.00001230"
    assert last["was_cut_off"]
    assert last["context"]["sent"] == [last["prompt"]]


def test_all_versions_of_a_summary_are_there(rich: Conversation) -> None:
    first, second = exported(rich)["summaries"]
    assert (first["text"], first["source"]) == ("They spoke of flour.", "model")
    assert (second["follows"], second["source"]) == (first["id"], "user")


def test_times_are_in_utc_whatever_the_reader_s_zone(rich: Conversation) -> None:
    with timezone.override("Asia/Tokyo"):
        document = exported(rich)
    told = document["conversation"]["created_at"]
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", told)
    assert datetime.fromisoformat(told) == rich.created_at.astimezone(UTC)


def test_numbers_keep_their_digits(owner: User) -> None:
    conversation = make_conversation(owner)
    turn = exchange(conversation)
    digits = "3.14159265358979323846264338327950288419716939937510"
    with connection.cursor() as cursor:
        content = f'[{{"type": "tool_use", "id": "1", "name": "pi", "input": {{"pi": {digits}}}}}]'
        cursor.execute("UPDATE conversations_message SET content = %s WHERE id = %s", [content, turn.prompt_id])
    assert digits in "".join(as_json.written(Content(conversation), now=timezone.now()))


def test_every_field_is_taken_away_or_left_out_for_a_reason() -> None:
    taken = {
        Conversation: CONVERSATION,
        Turn: TurnRow._fields,
        Message: MessageRow._fields,
        Summary: SummaryRow._fields,
    }
    for model, names in taken.items():
        fields = {field.name for field in model._meta.concrete_fields}
        assert fields == set(names) | set(LEFT_OUT[model]), model
        assert not set(names) & set(LEFT_OUT[model])
        assert all(LEFT_OUT[model].values())


def test_queries_do_not_grow_with_the_messages_of_a_batch(owner: User) -> None:
    def queries(turns: int) -> int:
        conversation = make_conversation(owner)
        for _ in range(turns):
            exchange(conversation)
        with CaptureQueriesContext(connection) as asked:
            exported(conversation)
        return len(asked)

    assert queries(1) == queries(5) == 4
