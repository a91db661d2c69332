"""The turns of a conversation as a page shows them: the newest of the active branch, or those before a message."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from functools import cached_property
from typing import Any
from uuid import uuid4

from django.db.models import F, Q
from django.urls import reverse
from django.utils.safestring import SafeString

from conversations.access import branch_page
from conversations.answers import joined_text, reply_messages
from conversations.models import Conversation, Message, Turn
from conversations.outcomes import outcome_sentence
from conversations.providers.registry import chat_model_info, default_model_name
from conversations.querysets import LIVE_STATUSES
from conversations.rendering import render_plain
from conversations.tools.lines import CallLine
from conversations.transfer.incoming.formats import label_of
from conversations.tree import Children, children_of
from conversations.views.pictures import addresses_of
from conversations.views.reply_parts import Part, parts_of
from conversations.views.versions import Version, reply_version_of, version_of

MESSAGES_A_PAGE = 60
RETRYABLE = ("failed", "interrupted", "stopped")
HOPELESS = ("context_too_long", "bad_key", "quota_exceeded")
"""The same again would fail the same way; who knows better still has Regenerate."""
MODEL_IS_GONE = ("unknown_model", "not_configured")


@dataclass(frozen=True)
class TurnView:
    """One question and its answer, with what tools returned on the way, ready for the template."""

    turn: Turn
    prompt: Message
    answers: tuple[Message, ...]
    is_newest: bool
    prompt_version: Version
    reply_version: Version | None
    attempt: "TurnView | None" = None
    """A later turn of the question, which brought nothing."""

    @property
    def id(self) -> str:
        return str(self.turn.pk)

    @property
    def anchor(self) -> str:
        return f"turn-{self.turn.pk}"

    @property
    def status(self) -> str:
        return self.turn.status

    @property
    def is_live(self) -> bool:
        return self.turn.is_live

    @cached_property
    def prompt_html(self) -> SafeString:
        return render_plain(self.prompt.text)

    @cached_property
    def prompt_pictures(self) -> list[str]:
        """Their addresses."""
        return addresses_of(self.prompt)

    @property
    def asked_at(self) -> datetime:
        """When this reply was asked for, which may be long after the question was first asked."""
        return self.turn.created_at

    @cached_property
    def answer_text(self) -> str:
        return joined_text(message for message in self.answers if message.role == Message.Role.ASSISTANT)

    @cached_property
    def parts(self) -> tuple[Part, ...]:
        return tuple(parts_of(self.answers, is_live=self.is_live))

    @property
    def blank_call(self) -> CallLine:
        """What a script fills when a call begins while the page is open."""
        return CallLine()

    @property
    def error(self) -> str:
        return outcome_sentence(self.turn.status, self.turn.error_code, was_begun=self.turn.started_at is not None)

    @property
    def was_cut_off(self) -> bool:
        return self.turn.was_cut_off

    @property
    def can_retry(self) -> bool:
        return self.is_newest and self.turn.status in RETRYABLE and self.turn.error_code not in HOPELESS

    @property
    def other_model_label(self) -> str:
        """The installation's own model, where this one is no longer to be had; empty: none to offer."""
        is_gone = self.turn.error_code in MODEL_IS_GONE and self.turn.model != default_model_name()
        return chat_model_info(default_model_name()).label if is_gone and self.can_retry else ""

    @property
    def model_label(self) -> str:
        return chat_model_info(self.turn.model).label

    @property
    def imported_from(self) -> str:
        """Where it was said, if that was not here: nobody here can vouch for it."""
        return label_of(self.turn.source)

    @property
    def input_tokens(self) -> int | None:
        return self.turn.input_tokens

    @property
    def output_tokens(self) -> int | None:
        return self.turn.output_tokens

    @property
    def cost(self) -> Decimal | None:
        return self.turn.cost

    @property
    def recalled(self) -> int:
        """Earlier turns that were brought back for it."""
        brought = _of_record(self.turn, "recalled")
        return len(brought) if isinstance(brought, list) else 0

    @property
    def has_record(self) -> bool:
        """It is known what the model was sent."""
        return bool(_of_record(self.turn, "start"))

    @property
    def context_url(self) -> str:
        return reverse("conversations:turn_context", args=[self.turn.pk])

    @property
    def events_url(self) -> str:
        return reverse("conversations:api:turn_events", args=[self.turn.pk])

    @property
    def stop_url(self) -> str:
        return reverse("conversations:stop", args=[self.turn.pk])

    @property
    def retry_key(self) -> str:
        """Of the button on this page: pressed twice it asks once, on a later page it asks anew."""
        return str(uuid4())

    @property
    def retry_url(self) -> str:
        return reverse("conversations:retry", args=[self.turn.pk])


@dataclass(frozen=True)
class Place:
    """A page of a branch: the turns before a message, or those up to one; neither: the newest."""

    before: int | None = None
    through: int | None = None

    @property
    def is_newest(self) -> bool:
        return self.before is None and self.through is None


NEWEST = Place()


@dataclass(frozen=True)
class Thread:
    """A page of a conversation. `older_before` is the message older turns stand before, None at the beginning.

    `elsewhere` is the live turn that is not on the page.
    """

    turns: tuple[TurnView, ...]
    older_before: int | None
    elsewhere: Turn | None
    is_newest_page: bool

    @property
    def live_turn(self) -> TurnView | None:
        return next((turn for turn in self.turns if turn.is_live), None)


def thread_of(conversation: Conversation, place: Place | None = None) -> Thread:
    """Three queries, whatever the length of the conversation; a fourth for where a page of older turns ends."""
    place = place or NEWEST
    messages = list(branch_page(conversation, before=place.before, through=place.through, limit=MESSAGES_A_PAGE))
    groups = _by_question(messages)
    children = children_of(conversation, {message.parent_id for message in messages} | {m.pk for m in messages[-1:]})
    turns = _turns_of(conversation, [prompt.pk for prompt, _ in groups])
    newest = groups[-1][0].pk if groups and place.is_newest else None
    views = tuple(_view(prompt, answers, turns, children, is_newest=prompt.pk == newest) for prompt, answers in groups)
    first = groups[0][0] if groups else None
    shown = {view.turn.pk for view in views}
    return Thread(
        views,
        older_before=first.pk if first and first.parent_id else None,
        elsewhere=next((turn for turn in turns if turn.is_live and turn.pk not in shown), None),
        is_newest_page=place.is_newest,
    )


def turn_view(turn: Turn) -> TurnView:
    """One turn alone, as it is after its end or before its first word."""
    answers = tuple(reply_messages(turn))
    is_newest = turn.conversation.head_id in {turn.prompt_id, *(answer.pk for answer in answers)}
    children = children_of(turn.conversation, {turn.prompt.parent_id, turn.prompt_id})
    versions = version_of(turn.prompt, children), reply_version_of(turn, children)
    return TurnView(turn, turn.prompt, answers, is_newest, *versions)


def _view(
    prompt: Message, answers: Sequence[Message], turns: Sequence[Turn], children: Children, *, is_newest: bool
) -> TurnView:
    """The turn that gave the answer, else the newest that brought nothing; `turns` are in order of time."""
    fruitful = {child.turn_id for child in children.get(prompt.pk, ())}
    attempts = [turn for turn in turns if turn.prompt_id == prompt.pk]
    fruitless = [turn for turn in attempts if turn.pk not in fruitful]
    # With its answer on the page that follows, it may have none of the former.
    unanswered = (fruitless or attempts)[-1]
    shown = next(turn for turn in attempts if turn.pk == answers[-1].turn_id) if answers else unanswered
    versions = version_of(prompt, children), reply_version_of(shown, children)
    view = TurnView(shown, prompt, tuple(answers), is_newest, *versions)
    # It is spoken of until the conversation goes on.
    last = turns[-1]
    is_told = last in fruitless and last != shown and not last.is_live
    attempt = replace(view, turn=last, answers=(), is_newest=True) if is_told else None
    return replace(view, attempt=attempt)


def _by_question(messages: Iterable[Message]) -> list[tuple[Message, list[Message]]]:
    """Questions with what answered them; answers whose question is on the page before are left to that page."""
    groups: list[tuple[Message, list[Message]]] = []
    for message in messages:
        if message.role == Message.Role.USER:
            groups.append((message, []))
        elif groups and message.role in (Message.Role.ASSISTANT, Message.Role.TOOL):
            groups[-1][1].append(message)
    return groups


def _turns_of(conversation: Conversation, prompts: Sequence[int]) -> list[Turn]:
    """The turns of the questions, and the live turn wherever it is, oldest first."""
    live = Q(conversation=conversation, status__in=LIVE_STATUSES)
    found = Turn.objects.filter(Q(prompt_id__in=prompts) | live).defer("context")
    return list(
        found.annotate(context_start=F("context__start"), context_recalled=F("context__recalled")).order_by(
            "created_at"
        )
    )


def _of_record(turn: Turn, name: str) -> Any:
    """Of the turns of a page that much of the record is read; of one alone, all of it."""
    if "context" in turn.get_deferred_fields():
        return getattr(turn, f"context_{name}")
    return turn.context.get(name) if isinstance(turn.context, dict) else None
