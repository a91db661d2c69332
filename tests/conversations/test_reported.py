"""What is kept of a provider's figures when a turn ends: the question's own tokens, whether all was read."""

import json
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client

from accounts.models import User
from conversations import asking, calibration, reported, turns
from conversations.calibration import Estimates
from conversations.context.measured import Measured
from conversations.context.record import Record
from conversations.context.values import Toolbox
from conversations.contexts import context_of, question_of
from conversations.models import Conversation, Message, TokenScale, Turn
from conversations.prompts import system_prompt_of
from conversations.providers.values import ToolSpec
from conversations.text import estimate_tokens
from tests.factories import ask, make_conversation, regenerate

MODEL = "openai:scripted"
LOOK = Toolbox((ToolSpec("look", "Looks for words.", {"type": "object"}),), 20)


def measured(turn: Turn, figure: int | None, *, tools: Toolbox | None = None, **more: Any) -> Measured:
    """The request of a turn as the worker would make it, and what the provider says of it."""
    question = question_of(Turn.objects.select_related("conversation", "prompt").get(pk=turn.pk))
    return Measured(context_of(question, tools=tools or Toolbox()).record, figure, **more)


def ended(turn: Turn, asked: Measured, *, output: int | None = 7, text: str = "Because.") -> Turn:
    """The turn ended by its worker, with an answer of so many tokens."""
    claimed = turns.claim(turn.pk, lease=asking.QUEUE_PATIENCE)
    assert claimed
    content = [{"type": "text", "text": text}]
    outcome = turns.Outcome(Turn.Status.COMPLETE, content, output_tokens=output, requests=(asked,))
    assert turns.finish(claimed, outcome)
    turn.refresh_from_db()
    return turn


def counted(turn: Turn) -> tuple[int, str]:
    message = Message.objects.get(pk=turn.prompt_id)
    return message.tokens, message.tokens_source


def test_a_question_gets_the_difference_between_two_requests(conversation: Conversation) -> None:
    first = ask(conversation, "Why do bees dance?")
    ended(first, measured(first, 30))
    assert counted(first) == (estimate_tokens("Why do bees dance?"), "estimate")
    second = ask(conversation, "And wasps, do they dance as well?")
    ended(second, measured(second, 30 + 7 + 14))
    assert counted(second) == (14, "usage")
    record = Record.from_json(second.context)
    assert record
    assert (record.reported, record.truncated) == (51, False)


@pytest.mark.parametrize("figure", [None, 36, 37, 400])
def test_without_a_plausible_difference_the_estimate_stays(conversation: Conversation, figure: int | None) -> None:
    first = ask(conversation)
    ended(first, measured(first, 30))
    second = ask(conversation, "And wasps?")
    ended(second, measured(second, figure))
    assert counted(second) == (estimate_tokens("And wasps?"), "estimate")


@pytest.mark.parametrize("change", ["prompt", "tools", "model", "answer"])
def test_what_was_changed_in_between_makes_it_an_estimate(conversation: Conversation, change: str) -> None:
    first = ask(conversation)
    ended(first, measured(first, 30), output=None if change == "answer" else 7)
    if change == "prompt":
        Conversation.objects.filter(pk=conversation.pk).update(system_prompt="Answer in rhyme.")
    if change == "model":
        Turn.objects.filter(pk=first.pk).update(model="openai:other")
    second = ask(conversation, "And wasps?")
    ended(second, measured(second, 51, tools=LOOK if change == "tools" else None))
    assert counted(second)[1] == "estimate"


def test_another_attempt_does_not_count_the_question_again(conversation: Conversation) -> None:
    first = ask(conversation)
    ended(first, measured(first, 30))
    second = ask(conversation, "And wasps?")
    ended(second, measured(second, 51))
    again = regenerate(second)
    ended(again, measured(again, 55))
    assert counted(second) == (14, "usage")


def test_reasoning_is_no_part_of_an_answer_that_is_sent_again(conversation: Conversation) -> None:
    turn = turns.claim(ask(conversation).pk, lease=asking.QUEUE_PATIENCE)
    assert turn
    blocks = [{"type": "thinking", "text": "Hm."}, {"type": "text", "text": "Because."}]
    outcome = turns.Outcome(Turn.Status.COMPLETE, blocks, output_tokens=50, answer_reasoning=43)
    turns.finish(turn, outcome)
    answer = Message.objects.get(turn=turn, role="assistant")
    assert (answer.tokens, answer.tokens_source) == (7, "usage")


def test_a_server_that_cuts_silently_is_told_of(conversation: Conversation, page: Client) -> None:
    turn = ask(conversation, "word " * 3000)
    ended(turn, measured(turn, 512, least=2000))
    told = page.get(f"/api/v1/turns/{turn.pk}").json()["warning"]
    assert told["code"] == "context_truncated"
    assert "only about 510 of the 3,100 tokens" in told["detail"]
    assert page.get(f"/api/v1/turns/{turn.pk}/context").json()["truncated"] is True


def test_a_request_that_was_read_is_not(conversation: Conversation, page: Client, stranger: User) -> None:
    turn = ask(conversation)
    ended(turn, measured(turn, 20))
    assert page.get(f"/api/v1/turns/{turn.pk}").json()["warning"] is None
    page.force_login(stranger)
    assert page.get(f"/api/v1/turns/{turn.pk}").status_code == 404


def teach(owner: User, text: str, figure: int, *, tools: Toolbox | None = None) -> None:
    """A conversation's first request, and what the provider says of it."""
    turn = ask(make_conversation(owner), text)
    asked = measured(turn, figure, tools=tools)
    ended(turn, asked)
    estimates = Estimates(
        estimate_tokens(system_prompt_of(None)), tools.tokens if tools else 0, prompt=estimate_tokens(text)
    )
    reported.teach(turn, [asked], estimates)


def test_estimates_follow_what_is_reported(owner: User) -> None:
    system = estimate_tokens(system_prompt_of(None))
    before = calibration.message_tokens("word " * 400, MODEL)
    for size in (10, 40, 100, 400, 700) * 4:
        teach(owner, "word " * size, 2 * (system + estimate_tokens("word " * size)) + 8)
    assert calibration.message_tokens("word " * 400, MODEL) == before, "a process reads the scales once a minute"
    calibration.forget()
    assert calibration.message_tokens("word " * 400, MODEL) == pytest.approx(2 * before + 4, rel=0.05)
    assert calibration.message_tokens("word " * 400, "openai:other") == before
    question = ask(make_conversation(owner), "word " * 400)
    assert question.prompt.tokens == pytest.approx(2 * before + 4, rel=0.05)


def test_tools_are_learned_of_apart(owner: User) -> None:
    words = estimate_tokens(system_prompt_of(None)) + estimate_tokens("Why?")
    for _ in range(20):
        teach(owner, "Why?", words + 60, tools=LOOK)
    calibration.forget()
    scale = calibration.scale_of(MODEL)
    assert scale.of_tools(20) == pytest.approx(60, rel=0.2)
    assert scale.words == 1


def test_a_request_that_was_cut_teaches_nothing(owner: User) -> None:
    turn = ask(make_conversation(owner), "word " * 3000)
    asked = measured(turn, 512, least=2000)
    reported.teach(ended(turn, asked), [asked], Estimates(14, 0, 3060))
    assert not TokenScale.objects.exists()


@pytest.mark.django_db
def test_the_scales_of_all_models_are_one_query_a_minute(django_assert_num_queries: Any) -> None:
    with django_assert_num_queries(1):
        for model in (MODEL, "openai:other", MODEL):
            calibration.message_tokens("Why?", model)


def test_the_errors_are_shown_to_the_administrator_and_printed(owner: User, client: Client, capsys: Any) -> None:
    call_command("estimate_error")
    assert "No provider has reported anything yet." in capsys.readouterr().out
    for _ in range(3):
        teach(owner, "word " * 100, 100)
    call_command("estimate_error")
    line = capsys.readouterr().out.splitlines()[1].split()
    assert line[:4] == [MODEL, "3", "3", "1.15"]
    admin = User.objects.create_superuser("admin@example.org", "x")
    client.force_login(admin)
    shown = client.get("/admin/conversations/tokenscale/")
    assert "15 %" in shown.content.decode()
    assert client.get(f"/admin/conversations/tokenscale/{MODEL.replace(':', '_3A')}/change/").status_code == 200
    assert client.get("/admin/conversations/tokenscale/add/").status_code == 403
    client.force_login(owner)
    assert client.get("/admin/conversations/tokenscale/").status_code == 302


def test_the_table_of_errors_does_not_grow(owner: User) -> None:
    TokenScale.objects.create(model=MODEL, recent=[[1.0, 1.0]] * calibration.RECENT)
    teach(owner, "word " * 100, 100)
    row = TokenScale.objects.get()
    assert len(row.recent) == calibration.RECENT
    assert row.recent[-1] != [1.0, 1.0]
    assert json.dumps(row.recent)
