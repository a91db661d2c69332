"""A conversation as the writers of files read it: as often as they like, never all of it at once.

Read inside of `access.as_of_one_moment`: what is written meanwhile is no part of it.
"""

from collections.abc import Iterator
from functools import cached_property
from typing import Any

from django.db.models import Func, IntegerField

from conversations.models import Conversation, Message, Summary, Turn
from conversations.transfer import rows
from conversations.transfer.outline import Outline
from conversations.transfer.rows import MessageRow, SummaryRow, TurnRow


class StoredSize(Func):
    """Bytes a value takes in its table, known without reading it."""

    function = "pg_column_size"
    output_field = IntegerField()


class Content:
    """`messages` and `turns` are of all branches, `spoken` is the active one."""

    def __init__(self, conversation: Conversation) -> None:
        self.conversation = conversation

    def turns(self) -> Iterator[TurnRow]:
        return rows.turns(self._of(Turn))

    def messages(self) -> Iterator[MessageRow]:
        for ids in self._outline.batches():
            yield from self._messages(ids)

    def summaries(self) -> Iterator[SummaryRow]:
        return rows.summaries(self._of(Summary))

    def spoken(self) -> Iterator[tuple[MessageRow, list[TurnRow]]]:
        """The messages of the active branch, each with the turns that answered it, or tried to."""
        for ids in self._outline.batches(self._outline.branch(self.conversation.head_id)):
            answering: dict[int, list[TurnRow]] = {}
            for turn in rows.turns(self._of(Turn).filter(prompt__in=ids), with_context=False):
                answering.setdefault(turn.prompt, []).append(turn)
            for message in self._messages(ids):
                yield message, answering.get(message.id, [])

    @cached_property
    def _outline(self) -> Outline:
        sized = self._of(Message).order_by("id").values_list("id", "parent_id", StoredSize("content"))
        return Outline(sized.iterator(chunk_size=rows.ROWS_AT_ONCE))

    def _messages(self, ids: list[int]) -> Iterator[MessageRow]:
        return rows.messages(self._of(Message).filter(pk__in=ids))

    def _of(self, model: type[Any]) -> Any:
        return model.objects.filter(conversation=self.conversation)
