"""The summary as pages show it: the version that a request holds, or the newest one and why it is not sent.

Its words are read where they are shown, and nowhere else.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal

from django.conf import settings

from conversations import summaries
from conversations.context.record import Record
from conversations.models import Conversation, Summary
from conversations.outlook import Outlook
from conversations.providers.registry import chat_model_info
from conversations.stand_ins import has_summaries
from conversations.summaries import Progress
from conversations.views.rows import Row, Rows

Standing = Literal["sent", "ahead", "later", "no_room", "off", "unavailable", "removed", "removed_ahead", "none"]

STANDINGS: Mapping[Standing, str] = {
    "sent": "It is sent with every question, in the place of messages that there is no room for.",
    "ahead": "Prepared ahead, not sent yet: what it stands for is still sent word for word. It follows once there is "
    "no more room for that.",
    "later": "It is newer than the request that is being answered. The next one holds it.",
    "no_room": "It is not sent: there is no room for it beside the rest.",
    "off": "Summaries are switched off for this conversation: none is written, none is sent.",
    "unavailable": "Summaries are switched off on this installation.",
    "removed": "You removed the summary: the model is not told what those messages said. Another is written when "
    "further messages make way; it tells of these alone.",
    "removed_ahead": "You removed the summary. Messages that it went up to are still sent word for word; once they "
    "have made way, the model is no longer told what they said. Another is written when further messages make way; it "
    "tells of these alone.",
    "none": "There is none yet. A model writes one when the oldest messages are about to make way for new ones.",
}
"""What is so of the newest summary, in words for its owner."""


WRITING = "A model is writing one now."
WRITING_ANOTHER = "A model is writing the next one now."
GAVE_WAY = "The model that writes it was needed for a reply. It is asked again after the next answer."
FAILED = "The last attempt to write one did not succeed. It is tried again after {after}."


@dataclass(frozen=True)
class Written:
    """A version of it; `through` is the turn that it goes up to, in a list of one."""

    row: Summary
    through: tuple[Row, ...] = ()

    @property
    def text(self) -> str:
        return self.row.text

    @property
    def tokens(self) -> int:
        return self.row.tokens

    @property
    def written_at(self) -> datetime:
        return self.row.created_at

    @property
    def writer(self) -> str:
        """A model's name; empty: its owner."""
        return chat_model_info(self.row.model).label if self.row.model else ""

    @property
    def is_correction(self) -> bool:
        """Whether its owner had words before them."""
        return not self.writer and self.row.follows is not None and not self.row.follows.is_removed


@dataclass(frozen=True)
class SummaryPart:
    """What a request holds of it, and what is so of the newest one."""

    is_sent: bool = False
    is_past: bool = False
    """The request was made and answered."""
    sent: Written | None = None
    """None although it was sent: its words are no longer stored."""
    newest: Written | None = None
    """Without words when it was removed. None also where it is the one that is sent, and of past requests."""
    standing: Standing = "none"
    progress: Progress | None = None
    """Of the next one; None where there will be none, and of past requests."""

    @property
    def progress_sentence(self) -> str:
        """What is so of the next one; empty while nothing is."""
        if self.progress is None or self.progress.state == "idle":
            return ""
        if self.progress.state == "being_written":
            return WRITING_ANOTHER if self.sent or (self.newest and self.newest.text) else WRITING
        if self.progress.state == "gave_way":
            return GAVE_WAY
        waits = self.progress.turns_to_wait
        return FAILED.format(after="the next answer" if waits <= 1 else f"{waits} more answers")

    @property
    def sentence(self) -> str:
        return STANDINGS[self.standing]

    @property
    def can_switch(self) -> bool:
        return self.standing != "unavailable"

    @property
    def is_on(self) -> bool:
        return self.standing not in ("off", "unavailable")

    @property
    def is_removed(self) -> bool:
        """And can be written anew."""
        return self.standing in ("removed", "removed_ahead")

    @property
    def throughs(self) -> set[int]:
        return {one.row.through_message_id for one in (self.sent, self.newest) if one}

    def placed(self, rows: Rows) -> "SummaryPart":
        """The same, with the turns that the versions go up to."""
        return replace(self, sent=_placed(self.sent, rows), newest=_placed(self.newest, rows))


def part_of(conversation: Conversation, outlook: Outlook) -> SummaryPart | None:
    """Of a request, sent or not; None: it was sent without one. A query where it holds one; for what
    lies ahead three, four after a failure."""
    held, is_past = outlook.record.summary, outlook.turn is not None and not outlook.turn.is_live
    if is_past and held is None:
        return None
    newest = None if is_past else summaries.current(conversation)
    sent = newest if newest and newest.pk == held else _version(conversation, held)
    return SummaryPart(
        is_sent=held is not None,
        is_past=is_past,
        sent=Written(sent) if sent and sent.text else None,
        newest=Written(newest) if newest and newest.pk != held else None,
        standing=standing_of(newest, conversation, outlook),
        progress=None if is_past else _progress_of(conversation),
    )


def newest_part(conversation: Conversation, outlook: Outlook | None) -> SummaryPart:
    """The newest one alone; `outlook` is of the next request, None when that would be refused. Four queries,
    five after a failure."""
    newest = summaries.current(conversation)
    written = Written(newest) if newest else None
    standing = standing_of(newest, conversation, outlook)
    part = SummaryPart(newest=written, standing=standing, progress=_progress_of(conversation))
    return part.placed(Rows(conversation, part.throughs))


def _progress_of(conversation: Conversation) -> Progress | None:
    return summaries.progress_of(conversation) if has_summaries(conversation) else None


def standing_of(newest: Summary | None, conversation: Conversation, outlook: Outlook | None) -> Standing:
    if not settings.POCKETCHAT_SUMMARIES:
        return "unavailable"
    if not conversation.summarises:
        return "off"
    if newest is None:
        return "none"
    if newest.is_removed:
        return "removed_ahead" if outlook and _is_ahead(newest, outlook.record) else "removed"
    return _standing_of_words(newest, outlook)


def _standing_of_words(newest: Summary, outlook: Outlook | None) -> Standing:
    if outlook is None:
        return "no_room"
    record = outlook.record
    if record.summary == newest.pk:
        return "sent"
    # An owner's own words do not wait for the cut, but until anything is left out.
    is_models = newest.source == Summary.Source.MODEL
    if not record.leaves_out_earlier or (is_models and _is_ahead(newest, record)):
        return "ahead"
    return "later" if outlook.turn else "no_room"


def _is_ahead(newest: Summary, record: Record) -> bool:
    """Whether messages that it stands for are sent word for word: ids only grow along a branch."""
    return not record.leaves_out_earlier or 0 < record.start <= newest.through_message_id


def _version(conversation: Conversation, pk: int | None) -> Summary | None:
    if pk is None:
        return None
    found: Summary | None = Summary.objects.filter(pk=pk, conversation=conversation).select_related("follows").first()
    return found


def _placed(written: Written | None, rows: Rows) -> Written | None:
    return replace(written, through=rows.of([written.row.through_message_id])) if written else None
