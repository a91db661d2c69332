"""The summary of the branch one is on, for its owner: read, corrected, removed, switched off."""

from collections.abc import Collection
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet
from django.http import Http404

from conversations import tree
from conversations.budgets import most_of_owners_summary
from conversations.calibration import message_tokens
from conversations.models import Conversation, Hold, Message, Summary
from conversations.prompts import model_for
from conversations.refusals import Held, SummaryChanged, SummaryEmpty, SummaryTooLong
from conversations.stand_ins import stand_ins
from conversations.text import clean, is_blank

MOST_VERSIONS = 50
NONE_YET = "This conversation has no summary."


def current(conversation: Conversation) -> Summary | None:
    """What stands for the beginning of the branch its owner is on, also what was written ahead and will soon.

    One that was removed is blank (`is_removed`) and can be written anew. None: nothing was left out so far.
    """
    if conversation.head_id is None:
        return None
    found = stand_ins(conversation.pk, before=conversation.head_id, rows=tree.WHOLE_BRANCH, with_words=False)
    row: Summary | None = Summary.objects.filter(pk__in=[one.id for one in found]).select_related("follows").first()
    return row


def versions(summary: Summary) -> list[Summary]:
    """The summary and those it was written from, newest first, without those that lost their words."""
    older = Summary.objects.filter(conversation=summary.conversation_id, pk__lt=summary.pk).order_by("-pk")
    by_id: dict[int | None, Summary] = {row.pk: row for row in older[:MOST_VERSIONS]}
    chain = [summary]
    while (before := by_id.get(chain[-1].follows_id)) is not None:
        chain.append(before)
    return [one for one in chain if not one.is_removed]


def correct(conversation: Conversation, text: str, *, through: int, seen: int | None = None) -> Summary:
    """Put the owner's words in the place of the summary up to and including the message `through`; where it is known,
    `seen` is the version that they looked at.

    Raises:
        Http404: there is none, or no conversation.
        SummaryEmpty, SummaryTooLong
        SummaryChanged: the summary stands for other messages by now, or is another version than the one `seen`.
    """
    text = clean(text).strip()
    if is_blank(text):
        raise SummaryEmpty
    tokens, limit = measured(conversation, text)
    if tokens > limit:
        raise SummaryTooLong(size=tokens, limit=limit)
    with transaction.atomic():
        newest = _locked(conversation)
        is_another = newest.is_removed if seen is None else seen != newest.pk
        if newest.through_message_id != through or is_another:
            raise SummaryChanged(newest.through_message_id)
        return newest if newest.text == text else _follow(newest, text=text, tokens=tokens)


def measured(conversation: Conversation, text: str) -> tuple[int, int]:
    """The tokens that an owner's text takes as a summary, and how many it may."""
    model = model_for(conversation)
    return message_tokens(clean(text).strip(), model), most_of_owners_summary(model)


def remove(conversation: Conversation) -> Summary:
    """Take the words of all summaries of the branch away, for good; nothing stands for these messages from now on.

    Safe to run twice.

    Raises:
        Http404: there is none, or no conversation.
        Held: an administrator has it kept.
    """
    with transaction.atomic():
        newest = _locked(conversation)
        if Hold.objects.on_conversations([conversation.pk]):
            raise Held([conversation.pk])
        if newest.is_removed:
            return newest
        branch = Message.objects.branch(conversation.head_id, rows=tree.WHOLE_BRANCH)
        versions = Summary.objects.filter(conversation=conversation, through_message__in=branch.values("pk"))
        _take_words_of(versions)
        return _follow(newest, text="", tokens=0)


def _take_words_of(versions: QuerySet[Summary]) -> None:
    """And of all that were written from them, on whatever branch: these tell the same."""
    worded = versions.exclude(text="")
    while ids := list(worded.values_list("pk", flat=True)):
        Summary.objects.filter(pk__in=ids).update(text="", tokens=0)
        worded = Summary.objects.filter(follows__in=ids).exclude(text="")


def forget(conversation_id: UUID, message_ids: Collection[int]) -> int:
    """Delete every summary, of whatever branch, that stands for any of these messages; returns how many.

    They end at one of them, or at what hangs off it. The next roll writes anew what is still to be said.
    """
    below = Message.objects.below(*message_ids)
    told = Summary.objects.filter(conversation=conversation_id, through_message__in=below.values("pk"))
    return told.delete()[0]


def switch(conversation: Conversation, on: bool) -> None:  # it says nothing else
    """Have summaries of it made and sent, or neither."""
    conversation.summarises = on
    conversation.save(update_fields=["summarises"])


def _locked(conversation: Conversation) -> Summary:
    """The current summary, with the conversation held: nothing is rolled meanwhile."""
    conversation.head_id = tree.locked(conversation.pk).head_id
    newest = current(conversation)
    if newest is None:
        raise Http404(NONE_YET)
    return newest


def _follow(newest: Summary, *, text: str, tokens: int) -> Summary:
    return Summary.objects.create(
        conversation_id=newest.conversation_id,
        through_message_id=newest.through_message_id,
        text=text,
        tokens=tokens,
        source=Summary.Source.USER,
        follows=newest,
    )
