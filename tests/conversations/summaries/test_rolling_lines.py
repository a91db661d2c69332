"""How a summary is continued by the bundled model: an answer at a time, what it gets wrong left out."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from django.db.models.signals import post_save
from pytest_django import Settings

from conversations import summaries
from conversations.models import Conversation, ModelCall, Summary, Turn
from conversations.providers.registry import BUNDLED
from conversations.summaries.lines import EXAMPLES
from tests.conversations.summaries.living import fresh_small_model, lived, sent_next
from tests.factories import ask, make_conversation, make_summary
from tests.provider import Failure, Reply, ScriptedProvider
from tests.provider.tokens import newest_question

pytestmark = pytest.mark.django_db

ANSWER = """\
Bees fly up to three miles. They look for flowers, and dance when they are back, so that the others know where to go.
In winter nobody leaves the hive: all sit close together and keep warm."""
BEES = "Bees fly up to three miles and dance."
WRONG = "Bees met Napoleon."


@pytest.fixture(autouse=True)
def provider(settings: Settings) -> Iterator[ScriptedProvider]:
    """In the place of the bundled model; room for about ten turns of twenty tokens."""
    with ScriptedProvider() as scripted, fresh_small_model():
        settings.POCKETCHAT_CHAT_MODEL = "openai:scripted"
        settings.POCKETCHAT_SMALL_MODEL = BUNDLED
        settings.POCKETCHAT_BUNDLED_URL = scripted.openai_url
        settings.POCKETCHAT_CONTEXT_WINDOW = 8000
        settings.POCKETCHAT_HISTORY_TOKENS = 200
        settings.POCKETCHAT_RECALL = False
        yield scripted


def outcomes(conversation: Conversation) -> list[str]:
    return list(ModelCall.objects.filter(conversation=conversation).order_by("id").values_list("outcome", flat=True))


def test_each_turn_gets_a_line_and_each_answer_is_asked_about_alone(
    conversation: Conversation, provider: ScriptedProvider
) -> None:
    lived(conversation, 1, question="I am Ann. Hello!", reply="Hello, Ann.")
    lived(conversation, 8, reply=ANSWER)
    provider.on(lambda _: True, Reply(BEES))
    assert summaries.roll(conversation.pk)
    summary = Summary.objects.get()
    assert summary.model == BUNDLED
    lines = [f"- “Question {number}?” – {BEES}" for number in (1, 2, 3)]
    assert summary.text.splitlines() == ["- “I am Ann. Hello!” – Hello, Ann.", *lines]
    assert outcomes(conversation) == ["ok"] * 3, "what is short is not asked about"
    body = provider.requests[0].body
    assert len(body["messages"]) == 1 + 2 * len(EXAMPLES) + 1
    assert newest_question(body).count("three miles") == 1
    assert "Question" not in str(body["messages"])
    assert not summaries.is_due(conversation.pk)


def test_a_bad_sentence_is_asked_for_once_more_and_then_left_out(
    conversation: Conversation, provider: ScriptedProvider
) -> None:
    lived(conversation, 9, reply=ANSWER)
    provider.script(Reply(WRONG), Reply(WRONG), Reply(WRONG), *[Reply(BEES)] * 3)
    assert summaries.roll(conversation.pk)
    first, second, *_ = Summary.objects.get().text.splitlines()
    assert (first, second) == ("- “Question 0?”", f"- “Question 1?” – {BEES}")
    assert outcomes(conversation) == ["line_invented", "line_invented", "line_invented", "ok", "ok", "ok"]
    temperatures = [request.body["temperature"] for request in provider.requests]
    assert temperatures[:4] == [0.2, 0.5, 0.2, 0.5]


@pytest.mark.parametrize("answer", ["I'm sorry, I can't help. " + "It is so. " * 20, "No, no, I am no baker. " * 12])
def test_an_answer_that_refuses_or_goes_in_circles_is_not_told_of(
    conversation: Conversation, provider: ScriptedProvider, answer: str
) -> None:
    lived(conversation, 9, reply=answer)
    assert summaries.roll(conversation.pk)
    assert Summary.objects.get().text.splitlines() == [f"- “Question {number}?”" for number in range(4)]
    assert provider.requests == []


def test_the_model_may_repeat_what_it_is_shown(conversation: Conversation, provider: ScriptedProvider) -> None:
    lived(conversation, 9, reply=ANSWER)
    provider.on(lambda _: True, Reply(BEES))
    assert summaries.roll(conversation.pk)
    assert {request.body["dry_multiplier"] for request in provider.requests} == {0}


def test_a_model_that_gets_everything_wrong_writes_nothing_and_has_failed_once(
    conversation: Conversation, provider: ScriptedProvider
) -> None:
    lived(conversation, 9, reply=ANSWER)
    provider.on(lambda _: True, Reply(WRONG))
    assert not summaries.roll(conversation.pk)
    assert not Summary.objects.exists()
    assert outcomes(conversation) == ["line_invented"] * 7 + ["invented"]
    assert not summaries.is_due(conversation.pk)
    lived(conversation, 1)
    assert summaries.is_due(conversation.pk)


def test_a_model_that_is_down_leaves_the_old_one(conversation: Conversation, provider: ScriptedProvider) -> None:
    lived(conversation, 14, reply=ANSWER)
    old = make_summary(Turn.objects.order_by("created_at")[0], "Old.")
    provider.script(Reply(BEES), Reply(fault=Failure("server")))
    assert not summaries.roll(conversation.pk)
    assert list(Summary.objects.all()) == [old]
    assert outcomes(conversation) == ["ok", "provider_down"]


def test_what_its_owner_wrote_stays_before_the_lines(conversation: Conversation, provider: ScriptedProvider) -> None:
    lived(conversation, 13, reply=ANSWER)
    provider.on(lambda _: True, Reply(BEES))
    summaries.roll(conversation.pk)
    conversation.refresh_from_db()
    through = summaries.current(conversation).through_message_id  # type: ignore[union-attr]  # it was rolled
    summaries.correct(conversation, "Her name is Hanna.", through=through)
    lived(conversation, 3, reply=ANSWER)
    assert summaries.roll(conversation.pk)
    assert sent_next(conversation).count("Her name is Hanna.\n- “Question") == 1


@contextmanager
def reply_waiting_from_version(number: int, conversation: Conversation) -> Iterator[None]:
    """For the bundled model, as soon as so many versions are stored."""

    def begin(**_: object) -> None:
        if Summary.objects.count() == number:
            waiting = ask(make_conversation(conversation.owner))
            Turn.objects.filter(pk=waiting.pk).update(model=BUNDLED)

    post_save.connect(begin, sender=Summary)
    try:
        yield
    finally:
        post_save.disconnect(begin, sender=Summary)
        Turn.objects.exclude(conversation=conversation).delete()


def test_it_gives_way_to_a_reply_and_goes_on_from_the_last_version(
    conversation: Conversation, provider: ScriptedProvider
) -> None:
    lived(conversation, 30, reply=ANSWER, tokens=100)
    provider.on(lambda _: True, Reply(BEES))
    with reply_waiting_from_version(2, conversation):
        assert summaries.roll(conversation.pk)
    first, second = Summary.objects.order_by("id")
    assert second.follows_id == first.pk
    assert outcomes(conversation) == ["ok"] * 8 + ["gave_way"]
    assert summaries.is_due(conversation.pk)
    assert summaries.roll(conversation.pk)
    told = Summary.objects.latest("pk").text
    assert [told.count(f"“Question {number}?”") for number in range(20, 27)] == [1] * 7


def test_replies_come_first_whoever_waits(conversation: Conversation, provider: ScriptedProvider) -> None:
    lived(conversation, 13, reply=ANSWER)
    waiting = ask(make_conversation(conversation.owner))
    Turn.objects.filter(pk=waiting.pk).update(model=BUNDLED)
    assert not summaries.roll(conversation.pk)
    assert provider.requests == []
    assert outcomes(conversation) == ["gave_way"]
    assert summaries.is_due(conversation.pk)
    waiting.delete()
    provider.on(lambda _: True, Reply(BEES))
    assert summaries.roll(conversation.pk)
