"""What is brought back for a question: whole turns of the branch, and never at the price of the reply."""

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext
from pytest_django import Settings

from accounts.models import User
from conversations import index, recollections, tasks
from conversations.context.record import Recalled
from conversations.context.values import Recollection, Toolbox
from conversations.contexts import context_of, question_of, record_context
from conversations.memory import ConversationMemory
from conversations.models import Conversation, Embedding, Message
from conversations.outlook import next_context
from conversations.providers.errors import ProviderError
from conversations.providers.registry import embedder
from conversations.providers.values import Embedded
from pocketchat.embedded.process import wait_until
from tests.factories import ask, edit, exchange, make_conversation
from tests.stack import ROOT, database_url

pytestmark = pytest.mark.django_db

FACT = "My sister Alma moved to Lisbon in spring."
QUESTION = "Where does my sister Alma live?"


@pytest.fixture(autouse=True)
def _small(settings: Settings) -> None:
    settings.POCKETCHAT_CHAT_MODEL = "openai:scripted"
    settings.POCKETCHAT_HISTORY_TOKENS = 100


@pytest.fixture
def down(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """An embedder whose server is away."""
    monkeypatch.setattr("conversations.providers.registry.BUNDLED_EMBEDDER", f"{__name__}.Down")
    embedder.cache_clear()
    yield
    embedder.cache_clear()


class Down:
    name = "down@1"

    is_remote = False

    def __init__(self, folder: Path) -> None: ...

    def embed(self, texts: Sequence[str], *, seconds: float) -> Embedded:
        raise ProviderError("unreachable")


@pytest.fixture
def long(conversation: Conversation) -> Conversation:
    """A fact, then talk about other things, far more than is sent."""
    exchange(conversation, FACT, "How nice for her.")
    for number in range(12):
        exchange(conversation, f"Count to {number}, please.", "One, two, three, and so on. " * 2)
    recollections.write_all_missing(conversation.pk)
    conversation.refresh_from_db()
    return conversation


def said(recalled: Sequence[Recollection]) -> list[list[str]]:
    return [[message.text for message in one.turn.messages] for one in recalled]


def test_a_whole_turn_is_brought_back_the_best_match_first(long: Conversation) -> None:
    recalled = recollections.recollections(long.pk, long.head_id, QUESTION)
    assert said(recalled)[0] == [FACT, "How nice for her."]
    assert [one.score for one in recalled] == sorted((one.score for one in recalled), reverse=True)
    assert len({one.turn.ids for one in recalled}) == len(recalled)


@pytest.mark.parametrize("question", ["", " \n "])
def test_nothing_is_looked_for_without_a_question(long: Conversation, question: str) -> None:
    with CaptureQueriesContext(connection) as queries:
        assert recollections.recollections(long.pk, long.head_id, question) == ()
    assert len(queries) == 0


def test_what_is_sent_anyway_is_not_looked_for(long: Conversation) -> None:
    first = list(long.messages.order_by("pk").values_list("pk", flat=True)[:2])
    assert FACT not in [
        turn[0] for turn in said(recollections.recollections(long.pk, long.head_id, QUESTION, without=first))
    ]


def test_preview_and_worker_bring_back_the_same(long: Conversation) -> None:
    ahead = next_context(long, QUESTION).record
    sent = context_of(question_of(ask(long, QUESTION)), tools=Toolbox(), completes_index=True)
    assert sent.record.recalled == ahead.recalled != ()
    assert sent.record.recalled[0].ids == tuple(long.messages.order_by("pk").values_list("pk", flat=True)[:2])
    assert FACT in sent.request.messages[-1].text
    assert sent.record.tokens_of("recalled") > 0


def test_where_everything_is_sent_nothing_is_recalled(conversation: Conversation, settings: Settings) -> None:
    settings.POCKETCHAT_HISTORY_TOKENS = 4000
    exchange(conversation, FACT)
    conversation.refresh_from_db()
    next_context(conversation, QUESTION)
    with CaptureQueriesContext(connection) as queries:
        assert next_context(conversation, QUESTION).record.recalled == ()
    assert not [query for query in queries if "conversations_embedding" in query["sql"]]


def test_no_room_for_what_is_retrieved_means_no_search(long: Conversation, settings: Settings) -> None:
    settings.POCKETCHAT_RETRIEVED_TOKENS = 0
    with CaptureQueriesContext(connection) as queries:
        assert next_context(long, QUESTION).record.recalled == ()
    assert not [query for query in queries if "conversations_embedding" in query["sql"]]


def test_a_later_request_of_the_turn_is_given_the_same_again(long: Conversation) -> None:
    turn = ask(long, QUESTION)
    first = context_of(question_of(turn), tools=Toolbox()).record
    record_context(turn, first.as_json())
    Embedding.objects.all().delete()
    again = context_of(question_of(turn), tools=Toolbox()).record
    assert again.recalled == first.recalled != ()


def test_a_record_brings_back_nothing_of_another_conversation(long: Conversation, stranger: User) -> None:
    foreign = exchange(make_conversation(stranger), "Secret.")
    ids = tuple(foreign.messages.values_list("pk", flat=True))
    assert recollections.recalled_before(long.pk, [Recalled(ids, 1.0)]) == ()


def test_a_hit_that_is_hardly_better_than_the_rest_is_none(long: Conversation, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recollections, "LEAST_SCORE", 100.0)
    assert recollections.recollections(long.pk, long.head_id, QUESTION) == ()


def test_another_branch_is_not_brought_back(conversation: Conversation) -> None:
    first = exchange(conversation, FACT)
    edit(first.prompt, "My brother Otto moved to Porto.", "Oh.")
    for number in range(12):
        exchange(conversation, f"Count to {number}.", "One, two, three. " * 4)
    recollections.write_all_missing(conversation.pk)
    conversation.refresh_from_db()
    recalled = recollections.recollections(conversation.pk, conversation.head_id, QUESTION)
    assert FACT not in [text for turn in said(recalled) for text in turn]


def test_what_is_missing_is_made_on_demand_the_newest_first(
    long: Conversation, monkeypatch: pytest.MonkeyPatch
) -> None:
    Embedding.objects.all().delete()
    monkeypatch.setattr(recollections, "BEFORE_A_REPLY", 4)
    recollections.recollections(long.pk, long.head_id, QUESTION, completes_index=True)
    newest = long.messages.order_by("-pk").values_list("pk", flat=True)[:4]
    assert set(Embedding.objects.values_list("message", flat=True)) == set(newest)


def test_a_preview_writes_nothing(long: Conversation) -> None:
    Embedding.objects.all().delete()
    next_context(long, QUESTION)
    assert not Embedding.objects.exists()


@pytest.mark.usefixtures("down")
def test_an_embedder_that_is_away_costs_the_recollections_and_nothing_else(long_unindexed: Conversation) -> None:
    turn = ask(long_unindexed, QUESTION)
    assembly = context_of(question_of(turn), tools=Toolbox(), completes_index=True)
    assert assembly.record.recalled == ()
    assert assembly.request.messages[-1].text == QUESTION
    tasks.index_turn(str(turn.pk))


@pytest.fixture
def long_unindexed(conversation: Conversation) -> Conversation:
    for number in range(12):
        exchange(conversation, f"Count to {number}, please.", "One, two, three, and so on. " * 2)
    return conversation


def test_the_task_of_an_ended_turn_completes_its_conversations_index(long_unindexed: Conversation) -> None:
    turn = exchange(long_unindexed)
    elsewhere = exchange(make_conversation(long_unindexed.owner))
    for _ in range(2):
        tasks.index_turn(str(turn.pk))
    assert not index.unindexed(long_unindexed.pk).exists()
    assert not Embedding.objects.filter(conversation=elsewhere.conversation).exists()


def test_the_task_of_a_turn_that_is_gone_does_nothing(conversation: Conversation) -> None:
    turn = exchange(conversation)
    conversation.delete()
    tasks.index_turn(str(turn.pk))
    assert not Embedding.objects.exists()


def test_the_command_makes_what_is_missing_in_batches_and_goes_on_where_it_was(
    long_unindexed: Conversation, owner: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    exchange(make_conversation(owner))
    monkeypatch.setattr("conversations.index.writing.BATCH", 2)
    monkeypatch.setattr(index, "BATCH", 2)
    index.write(index.unindexed(long_unindexed.pk)[:5])
    out = StringIO()
    call_command("index_messages", stdout=out)
    assert out.getvalue().splitlines()[-1] == "21 messages were put into the index."
    assert Embedding.objects.count() == Message.objects.count() == 26
    call_command("index_messages", stdout=out)
    assert out.getvalue().splitlines()[-1] == "0 messages were put into the index."


@pytest.mark.django_db(transaction=True)
def test_the_command_that_is_killed_goes_on_where_it_was(conversation: Conversation) -> None:
    said = [("user", f"Tell me about number {number}, and why it is so.") for number in range(700)]
    ConversationMemory.open(conversation_id=conversation.pk).add_all(said)
    environment = {**os.environ, "DATABASE_URL": database_url()}
    command = [sys.executable, "manage.py", "index_messages"]
    with subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL) as running:
        assert wait_until(Embedding.objects.exists, seconds=60)
        running.kill()
    done = Embedding.objects.count()
    assert 0 < done < 700
    assert done % index.BATCH == 0
    assert Embedding.objects.earliest("message").message_id > Message.objects.earliest("pk").pk  # The newest first.
    out = StringIO()
    call_command("index_messages", stdout=out)
    assert f"{700 - done} messages were put into the index" in out.getvalue()
    assert Embedding.objects.count() == 700


@pytest.mark.usefixtures("long")
def test_a_changed_embedder_has_the_command_make_all_anew() -> None:
    Embedding.objects.update(embedder="another@1")
    out = StringIO()
    call_command("index_messages", stdout=out)
    assert "26 messages were put into the index" in out.getvalue()
    assert set(Embedding.objects.values_list("embedder", flat=True)) == {embedder().name}


@pytest.mark.usefixtures("down", "long_unindexed")
def test_the_command_says_when_the_embedder_is_away() -> None:
    with pytest.raises(CommandError, match="unreachable"):
        call_command("index_messages", stdout=StringIO())
