"""A summary as its owner sees it: read, corrected, removed, switched off; per branch."""

import pytest
from django.http import Http404
from django.test import Client

from conversations import branches, summaries
from conversations.models import Conversation, Message, Summary
from conversations.refusals import SummaryChanged, SummaryEmpty, SummaryTooLong
from conversations.stand_ins import stand_ins
from conversations.tree import WHOLE_BRANCH
from tests.factories import edit, exchange, make_conversation, make_summary, reply_of

pytestmark = pytest.mark.django_db


def current(conversation: Conversation) -> Summary | None:
    conversation.refresh_from_db()
    return summaries.current(conversation)


def text_of(conversation: Conversation) -> str | None:
    row = current(conversation)
    return row.text if row else None


def test_a_conversation_without_a_summary_has_none(conversation: Conversation) -> None:
    assert current(conversation) is None
    exchange(conversation)
    assert current(conversation) is None
    with pytest.raises(Http404):
        summaries.correct(conversation, "Bees.", through=1)
    with pytest.raises(Http404):
        summaries.remove(conversation)


def test_the_one_that_stands_for_most_of_the_branch_counts_and_of_it_the_newest_version(
    conversation: Conversation,
) -> None:
    first, second = exchange(conversation), exchange(conversation)
    make_summary(first, "Old.")
    assert text_of(conversation) == "Old."
    make_summary(second, "New.")
    make_summary(first, "Old, corrected.")
    assert text_of(conversation) == "New."


def test_a_correction_is_another_version_and_the_earlier_one_stays(conversation: Conversation) -> None:
    before = make_summary(exchange(conversation), "A dog named Rex.")
    corrected = summaries.correct(conversation, " A cat\0 named Rex.\r\n", through=before.through_message_id)
    assert text_of(conversation) == "A cat named Rex."
    assert (corrected.source, corrected.model, corrected.follows_id) == ("user", "", before.pk)
    before.refresh_from_db()
    assert before.text == "A dog named Rex."
    assert summaries.versions(corrected) == [corrected, before]
    again = summaries.correct(conversation, "A cat named Rex.", through=before.through_message_id)
    assert again == corrected


def test_a_correction_of_what_was_read_long_ago_is_refused(conversation: Conversation) -> None:
    before = make_summary(exchange(conversation), "Bees.")
    after = make_summary(exchange(conversation), "Bees and wasps.")
    with pytest.raises(SummaryChanged) as refused:
        summaries.correct(conversation, "Ants.", through=before.through_message_id)
    assert refused.value.facts == {"through": after.through_message_id}
    assert text_of(conversation) == "Bees and wasps."


def test_a_correction_has_words_and_not_too_many(conversation: Conversation) -> None:
    through = make_summary(exchange(conversation), "Bees.").through_message_id
    with pytest.raises(SummaryEmpty):
        summaries.correct(conversation, " \n\u200b", through=through)
    with pytest.raises(SummaryTooLong) as refused:
        summaries.correct(conversation, "word " * 5000, through=through)
    assert refused.value.facts["unit"] == "tokens"
    assert text_of(conversation) == "Bees."


def test_a_removal_takes_the_words_of_all_versions_of_the_branch(conversation: Conversation) -> None:
    first, second = exchange(conversation), exchange(conversation)
    old, corrected, new = (
        make_summary(first, "Old."),
        make_summary(first, "Older.", source="user"),
        make_summary(second),
    )
    elsewhere = make_summary(exchange(make_conversation(conversation.owner)), "Elsewhere.")
    removed = summaries.remove(conversation)
    assert current(conversation) == removed
    assert (removed.is_removed, removed.source, removed.through_message_id) == (True, "user", new.through_message_id)
    assert set(Summary.objects.filter(conversation=conversation).values_list("text", "tokens")) == {("", 0)}
    assert summaries.versions(removed) == []
    elsewhere.refresh_from_db()
    assert elsewhere.text == "Elsewhere."
    assert summaries.remove(conversation) == removed
    assert Summary.objects.filter(pk__in=[old.pk, corrected.pk, new.pk]).count() == 3


def test_what_was_removed_can_be_written_by_its_owner(conversation: Conversation) -> None:
    through = make_summary(exchange(conversation)).through_message_id
    removed = summaries.remove(conversation)
    with pytest.raises(SummaryChanged):
        summaries.correct(conversation, "What I saw before it was removed.", through=through)
    written = summaries.correct(conversation, "Mine.", through=through, seen=removed.pk)
    assert current(conversation) == written


def test_what_was_written_from_a_removed_one_is_gone_from_other_branches_as_well(conversation: Conversation) -> None:
    trunk, second = exchange(conversation), exchange(conversation)
    of_trunk = make_summary(trunk, "A secret.")
    make_summary(second, "The secret, and more.", follows=of_trunk)
    branches.edit(second.prompt, text="Else?", request_key="e", model="openai:scripted")
    conversation.refresh_from_db()
    summaries.remove(conversation)
    assert set(Summary.objects.values_list("text", flat=True)) == {""}


def test_it_can_be_switched_off_and_on(conversation: Conversation) -> None:
    for on in (False, True):
        summaries.switch(conversation, on)
        conversation.refresh_from_db()
        assert conversation.summarises is on


def test_a_branch_has_the_summaries_above_where_it_begins(conversation: Conversation) -> None:
    first, second = exchange(conversation), exchange(conversation)
    make_summary(first, "Of the trunk.")
    make_summary(second, "Of the first branch.")
    edit(second.prompt, "Otherwise?", "So.")
    assert text_of(conversation) == "Of the trunk."
    other = exchange(conversation)
    make_summary(other, "Of the second branch.")
    assert text_of(conversation) == "Of the second branch."
    Conversation.objects.filter(pk=conversation.pk).update(head=reply_of(second))
    assert text_of(conversation) == "Of the first branch."


def test_it_goes_with_the_newest_message_it_stands_for(conversation: Conversation) -> None:
    first, second = exchange(conversation), exchange(conversation)
    make_summary(first, "First.")
    make_summary(second, "Second.")
    Message.objects.filter(pk=second.prompt_id).delete()
    assert list(Summary.objects.values_list("text", flat=True)) == ["First."]


def test_the_way_to_the_nearest_one_is_limited(conversation: Conversation) -> None:
    turns = [exchange(conversation) for _ in range(5)]
    made = make_summary(turns[1], "Two turns.")
    conversation.refresh_from_db()
    found = [
        [one.id for one in stand_ins(conversation.pk, before=conversation.head_id, rows=rows)]
        for rows in (6, 7, WHOLE_BRANCH)
    ]
    assert found == [[], [made.pk], [made.pk]]
    assert [one.id for one in stand_ins(conversation.pk, read=[made.through_message_id], before=None)] == [made.pk]


def test_the_admin_calls_them_by_their_name(admin_client: Client) -> None:
    page = admin_client.get("/admin/").content.decode()
    assert "Summaries" in page
    assert "Summarys" not in page
