"""What an older version of the product put into the index is put there again, and costs no embedder anything."""

from io import StringIO

import pytest
from django.contrib.postgres.search import SearchVector
from django.core.management import call_command
from django.db.models import Value
from django.utils import timezone

from accounts.models import User
from conversations import index, recollections, tasks
from conversations.models import Conversation, Embedding, TaskRun
from conversations.models.embedding import VERSION
from conversations.providers.registry import embedder
from conversations.providers.values import Embedded
from tests.factories import ask, exchange, make_conversation

pytestmark = pytest.mark.django_db

SAID = "Take a look at https://docs.example.org/guide."


@pytest.fixture
def old(conversation: Conversation, monkeypatch: pytest.MonkeyPatch) -> Conversation:
    """In the index as version 1 put it there; the embedder may not be asked any more."""
    exchange(conversation, SAID, "I will do that later today.")
    exchange(conversation, "How are you?", "Very well, thank you.")
    recollections.write_all_missing(conversation.pk)
    Embedding.objects.update(version=1, words=SearchVector(Value("as it was cut before"), config="simple"))
    conversation.refresh_from_db()

    def refuse(*args: object, **kwargs: object) -> Embedded:
        raise AssertionError("It was embedded before.")

    monkeypatch.setattr(type(embedder()), "embed", refuse)
    return conversation


def versions() -> set[int]:
    return set(Embedding.objects.values_list("version", flat=True))


def words() -> str:
    """Of what was said first."""
    return str(Embedding.objects.earliest("message").words)


def test_the_words_are_cut_anew_and_the_vectors_stay(old: Conversation) -> None:
    before = [list(row.vector) for row in Embedding.objects.order_by("pk")]
    assert index.renew(seconds=60) == 4
    assert versions() == {VERSION}
    assert "'doc'" in words()
    assert "cut" not in words()
    assert [list(row.vector) for row in Embedding.objects.order_by("pk")] == before


def test_the_task_tells_what_it_did_and_what_is_left(old: Conversation, owner: User) -> None:
    tasks.renew_index()
    tasks.renew_index()
    assert [run.did for run in TaskRun.objects.filter(task="renew_index", is_idle=False)] == [{"renewed": 4, "left": 0}]
    assert TaskRun.objects.get(task="renew_index", is_idle=True).runs == 1


def test_what_there_was_no_time_for_is_left(old: Conversation, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tasks, "RENEWAL_SECONDS", 0)
    tasks.renew_index()
    assert TaskRun.objects.get(task="renew_index").did == {"renewed": 0, "left": 4}


def test_the_command_and_the_next_turn_renew_it_too(old: Conversation) -> None:
    out = StringIO()
    call_command("index_messages", stdout=out)
    assert out.getvalue().splitlines() == ["4 of 4", "4 messages were put into the index."]
    Embedding.objects.update(version=1)
    tasks.index_turn(str(old.messages.earliest("pk").turn_id))
    assert versions() == {VERSION}


def test_what_the_embedder_refused_is_renewed_without_a_vector(old: Conversation) -> None:
    Embedding.objects.update(vector=None)
    assert index.renew(seconds=60) == 4
    assert not Embedding.objects.exclude(vector=None).exists()


def test_what_is_in_the_bin_being_answered_or_of_another_embedder_waits(old: Conversation, owner: User) -> None:
    Conversation.objects.update(trashed_at=timezone.now())
    assert index.renew(seconds=60) == 0
    Conversation.objects.update(trashed_at=None)
    Embedding.objects.update(embedder="another@1")
    assert index.renew(seconds=60) == 0
    Embedding.objects.update(embedder=embedder().name)
    turn = ask(make_conversation(owner))
    first = Embedding.objects.filter(message=old.messages.earliest("pk"))
    first.update(conversation=turn.conversation, message=turn.prompt)
    assert index.renew(seconds=60) == 3


def test_until_then_it_is_found_by_what_it_means(old: Conversation) -> None:
    branch = index.branch_of(old.pk, old.head_id)
    vector = Embedding.objects.earliest("message").vector
    [hit] = recollections.best(branch, "Anything else", vector, most=1, completes=16)
    assert hit.message_id == branch.ids[0]
    assert versions() == {1}, "nobody waits for it"
