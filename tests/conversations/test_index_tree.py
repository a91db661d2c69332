"""What a process keeps of a conversation's tree is never older than what there is."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.models import User
from conversations import branches, index
from conversations.index import tree
from conversations.models import Conversation, Message
from tests.factories import answer, ask, edit, exchange, make_conversation, regenerate, reply_of

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _nothing_kept() -> None:
    tree.forget()


def looked_at(conversation: Conversation) -> list[int]:
    """The branch as recall has it, after it was found to be that of the tables."""
    conversation.refresh_from_db()
    ids: list[int] = index.branch_of(conversation.pk, conversation.head_id).ids.tolist()
    assert ids == list(Message.objects.branch(conversation.head_id, rows=1000).values_list("pk", flat=True))
    return ids


def test_it_follows_whatever_is_done_to_the_branch(conversation: Conversation) -> None:
    assert looked_at(conversation) == []
    turns = [exchange(conversation, f"Number {number}?") for number in range(4)]
    whole = looked_at(conversation)
    assert len(whole) == 8
    edit(turns[1].prompt, "Another?", "Another.")
    assert len(looked_at(conversation)) == 4
    exchange(conversation)
    assert len(looked_at(conversation)) == 6
    branches.switch(conversation.pk, turns[3].prompt_id)
    assert looked_at(conversation) == whole
    regenerate(turns[3], "Once more.")
    assert looked_at(conversation)[:-1] == whole[:-1]
    branches.remove(conversation.pk, reply_of(turns[3]).pk)
    branches.remove(conversation.pk, turns[1].prompt_id)
    assert len(looked_at(conversation)) == 6


def test_what_is_committed_late_is_seen_all_the_same(conversation: Conversation) -> None:
    """A reply that began before another branch went on has an older id than what was read since."""
    exchange(conversation)
    turn = ask(conversation)
    answer(turn, "Late.")
    late = reply_of(turn)
    conversation.refresh_from_db()
    exchange(conversation)
    looked_at(conversation)
    kept = tree._kept[conversation.pk]
    without = kept.ids != late.pk
    tree._kept[conversation.pk] = tree.Tree(kept.ids[without], kept.parents[without], kept.roles[without])
    assert late.pk in looked_at(conversation)


def test_only_what_is_newer_is_read_again(conversation: Conversation) -> None:
    exchange(conversation)
    last = looked_at(conversation)[-1]
    exchange(conversation)
    conversation.refresh_from_db()
    with CaptureQueriesContext(connection) as queries:
        assert len(index.branch_of(conversation.pk, conversation.head_id).ids) == 4
    assert len(queries) == 1
    assert f"id > {last} AND" in queries[0]["sql"]


def test_a_message_of_another_conversation_is_on_no_branch(conversation: Conversation, stranger: User) -> None:
    foreign = make_conversation(stranger)
    exchange(foreign)
    exchange(conversation)
    looked_at(conversation)
    head = looked_at(foreign)[-1]
    assert not index.branch_of(conversation.pk, head).ids.size


def test_a_parent_far_away_is_told_apart(conversation: Conversation, monkeypatch: pytest.MonkeyPatch) -> None:
    """Others write, too, and ids are given to all."""
    exchange(conversation)
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT setval(pg_get_serial_sequence('conversations_message', 'id'), max(id) + %s)"
            " FROM conversations_message",
            [3 * tree.FAR],
        )
    exchange(conversation)
    assert len(looked_at(conversation)) == 4


def test_a_process_keeps_no_more_than_so_many(owner: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tree, "MOST_KEPT", 5)
    some = [make_conversation(owner) for _ in range(3)]
    for one in some:
        exchange(one)
        looked_at(one)
    assert list(tree._kept) == [one.pk for one in some[1:]]
