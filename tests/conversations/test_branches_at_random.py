"""Whatever one does with branches, in whatever order, the tree stays whole."""

from collections.abc import Callable
from uuid import uuid4

import pytest
from django.db import connection, transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from accounts.models import User
from conversations import asking, branches, turns
from conversations.models import Conversation, Message, Turn
from conversations.refusals import ConversationBusy, NoOtherVersion
from tests.factories import answer, edit, make_conversation, regenerate

pytestmark = pytest.mark.django_db

STEPS = ["ask", "branch", "edit", "regenerate", "switch", "remove", "save", "fail", "stop", *["finish"] * 4]
Step = tuple[str, int]


class World:
    """A conversation, and what must be there of it."""

    def __init__(self, owner: User) -> None:
        self.conversation = make_conversation(owner)
        self.kept: set[int] = set()

    def take(self, step: Step) -> None:
        """Do one thing, to the message that the number picks; what is refused changes nothing."""
        name, number = step
        act: Callable[[int], None] = getattr(self, f"_{name}")
        try:
            act(number)
        except (ConversationBusy, NoOtherVersion):
            assert self.stored() == self.kept
        self.kept |= self.stored()

    def stored(self) -> set[int]:
        return set(Message.objects.values_list("pk", flat=True))

    def check(self) -> None:
        connection.check_constraints()
        assert self.stored() == self.kept, "something else vanished, or came back"
        messages = {message.pk: message for message in Message.objects.select_related("turn")}
        head = Conversation.objects.get(pk=self.conversation.pk).head_id
        assert (head is None) == (not messages)
        assert head is None or head in messages
        for message in messages.values():
            self._check_place(message, messages)
        for turn in Turn.objects.all():
            assert messages[turn.prompt_id].role == "user"

    def _check_place(self, message: Message, messages: dict[int, Message]) -> None:
        parent = messages[message.parent_id] if message.parent_id else None
        if message.role == "assistant":
            assert parent is not None
            assert parent.pk == message.turn.prompt_id, "a reply without its question"
        elif parent is not None and parent.role == "user":
            attempts = parent.turns_asked.exclude(messages__role="assistant")
            assert attempts.exists(), "a question hangs off a question that was answered"
        if message.resume_at_id:
            assert Message.objects.below(message.pk).filter(pk=message.resume_at_id).exists()

    def _pick(self, number: int, **kind: object) -> Message | None:
        found = list(Message.objects.filter(**kind).order_by("pk"))
        return found[number % len(found)] if found else None

    def _live(self) -> Turn | None:
        live: Turn | None = Turn.objects.live().first()
        return live

    def _ask(self, _: int) -> None:
        head = Conversation.objects.get(pk=self.conversation.pk).head_id
        self._asked(head, is_branch=False)

    def _branch(self, number: int) -> None:
        parent = self._pick(number)
        self._asked(parent.pk if parent and number % 4 else None, is_branch=True)

    def _asked(self, parent_id: int | None, *, is_branch: bool) -> None:
        key = str(uuid4())
        asking.ask(self.conversation.pk, text="?", request_key=key, parent_id=parent_id, model="m", is_branch=is_branch)

    def _edit(self, number: int) -> None:
        if question := self._pick(number, role="user"):
            edit(question, "Else?")

    def _regenerate(self, number: int) -> None:
        ended = list(Turn.objects.exclude(status__in=["queued", "streaming"]).order_by("created_at"))
        if ended:
            regenerate(ended[number % len(ended)])

    def _switch(self, number: int) -> None:
        if message := self._pick(number):
            head = branches.switch(self.conversation.pk, message.pk)
            assert Message.objects.below(message.pk).filter(pk=head).exists()
            awaited = Turn.objects.live().filter(prompt_id=head)
            assert awaited.exists() or not Message.objects.filter(parent=head).exists(), "opened in the middle"

    def _remove(self, number: int) -> None:
        if message := self._pick(number):
            going = set(Message.objects.below(message.pk).values_list("pk", flat=True))
            branches.remove(self.conversation.pk, message.pk)
            self.kept -= going

    def _save(self, _: int) -> None:
        if live := self._live():
            turns.claim(live.pk, lease=asking.QUEUE_PATIENCE)
            turns.save_partial(live, [{"type": "text", "text": "…"}])

    def _finish(self, _: int) -> None:
        if live := self._live():
            answer(live, "!")

    def _fail(self, _: int) -> None:
        if live := self._live():
            answer(live, "", status=Turn.Status.FAILED, error_code="dropped")

    def _stop(self, _: int) -> None:
        if live := self._live():
            turns.request_stop(live)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=st.lists(st.tuples(st.sampled_from(STEPS), st.integers(0, 30)), min_size=5, max_size=30))
def test_the_tree_stays_whole(owner: User, steps: list[Step]) -> None:
    with transaction.atomic():
        world = World(owner)
        for step in steps:
            world.take(step)
            world.check()
        transaction.set_rollback(True)
