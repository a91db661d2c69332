"""What the database keeps, whatever the code does."""

from collections.abc import Callable
from typing import Any

import pytest
from django.apps import apps
from django.db import IntegrityError, connection, transaction
from django.utils import timezone

from accounts.models import User
from conversations.models import Conversation, Message, ModelCall, Summary, Turn
from tests.factories import answer, ask, exchange, make_conversation, make_summary, make_user

pytestmark = pytest.mark.django_db


def refused(constraint: str, write: Callable[[], Any]) -> bool:
    """The database names the constraint that `write` breaks; deferred ones are checked at once."""
    try:
        with transaction.atomic():
            write()
            connection.check_constraints()
    except IntegrityError as error:
        return constraint in str(error)
    return False


def test_a_conversation_has_one_live_turn(conversation: Conversation) -> None:
    first = ask(conversation)
    second = Turn(conversation=conversation, prompt=first.prompt, request_key="2", lease_until=timezone.now())
    assert refused("one_live_turn_per_conversation", second.save)


def test_a_request_key_names_one_turn_of_a_conversation(conversation: Conversation) -> None:
    first = exchange(conversation)
    again = Turn(
        conversation=conversation,
        prompt=first.prompt,
        request_key=first.request_key,
        status="complete",
        finished_at=timezone.now(),
        lease_until=timezone.now(),
    )
    assert refused("one_turn_per_conversation_and_request_key", again.save)


def test_a_request_key_names_one_conversation_of_an_owner(conversation: Conversation, stranger: User) -> None:
    key = conversation.request_key
    again = Conversation(owner=conversation.owner, request_key=key)
    assert refused("one_conversation_per_owner_and_request_key", again.save)
    Conversation.objects.create(owner=stranger, request_key=key)


@pytest.mark.parametrize("status", ["complete", "stopped", "failed", "interrupted"])
def test_a_turn_with_a_terminal_status_has_an_end(conversation: Conversation, status: str) -> None:
    turn = ask(conversation)
    error_code = "dropped" if status == "failed" else ""
    end = Turn.objects.filter(pk=turn.pk).update
    assert refused(
        "turn_is_finished_exactly_when_its_status_is_terminal", lambda: end(status=status, error_code=error_code)
    )


@pytest.mark.parametrize("status", ["queued", "streaming"])
def test_a_live_turn_has_no_end(conversation: Conversation, status: str) -> None:
    turn = ask(conversation)
    end = Turn.objects.filter(pk=turn.pk).update
    assert refused(
        "turn_is_finished_exactly_when_its_status_is_terminal",
        lambda: end(status=status, finished_at=timezone.now()),
    )


def test_only_known_statuses_roles_sources_and_purposes_are_kept(conversation: Conversation) -> None:
    turn = exchange(conversation)
    turns, messages = Turn.objects.filter(pk=turn.pk), Message.objects.filter(turn=turn)
    call = ModelCall(conversation=conversation, purpose="gossip", latency_ms=1)
    # Two constraints refuse it; the database names either.
    assert refused("turn_", lambda: turns.update(status="asleep"))
    assert refused("message_role_is_known", lambda: messages.update(role="narrator"))
    assert refused("message_tokens_source_is_known", lambda: messages.update(tokens_source="hearsay"))
    assert refused("model_call_purpose_is_known", call.save)


def test_a_turn_says_why_exactly_when_it_failed(conversation: Conversation) -> None:
    turn = Turn.objects.filter(pk=exchange(conversation).pk)
    assert refused("turn_says_why_exactly_when_it_failed", lambda: turn.update(status="failed"))
    assert refused("turn_says_why_exactly_when_it_failed", lambda: turn.update(error_code="dropped"))


def test_a_title_and_its_source_come_together(conversation: Conversation) -> None:
    row = Conversation.objects.filter(pk=conversation.pk)
    name = "conversation_has_a_title_exactly_when_it_has_a_source"
    assert refused(name, lambda: row.update(title="Bees"))
    assert refused(name, lambda: row.update(title_source="user"))
    assert refused("conversation_title_source_is_known", lambda: row.update(title="Bees", title_source="gossip"))


def test_a_message_and_its_parent_are_in_the_same_conversation(conversation: Conversation, owner: User) -> None:
    elsewhere = exchange(make_conversation(owner))
    here = exchange(conversation)
    messages = Message.objects.filter(turn=here, role="assistant")
    name = "message_parent_is_in_the_same_conversation"
    assert refused(name, lambda: messages.update(parent=elsewhere.prompt))


def test_a_message_and_its_turn_are_in_the_same_conversation(conversation: Conversation, owner: User) -> None:
    elsewhere = exchange(make_conversation(owner))
    here = exchange(conversation)
    messages = Message.objects.filter(turn=here, role="assistant")
    assert refused("message_turn_is_in_the_same_conversation", lambda: messages.update(turn=elsewhere))


def test_a_turn_and_its_question_are_in_the_same_conversation(conversation: Conversation, owner: User) -> None:
    elsewhere = exchange(make_conversation(owner))
    here = Turn.objects.filter(pk=exchange(conversation).pk)
    assert refused("turn_prompt_is_in_the_same_conversation", lambda: here.update(prompt=elsewhere.prompt))


def test_the_head_is_a_message_of_the_conversation(conversation: Conversation, owner: User) -> None:
    elsewhere = exchange(make_conversation(owner))
    row = Conversation.objects.filter(pk=conversation.pk)
    assert refused("conversation_head_is_one_of_its_messages", lambda: row.update(head=elsewhere.prompt))


def test_a_parent_is_older_than_its_child(conversation: Conversation) -> None:
    turn = exchange(conversation)
    reply = Message.objects.get(turn=turn, role="assistant")
    question = Message.objects.filter(pk=turn.prompt_id)
    assert refused("message_parent_is_older", lambda: question.update(parent=reply))


def test_the_place_one_left_a_branch_at_is_below_it_in_the_same_conversation(
    conversation: Conversation, owner: User
) -> None:
    elsewhere, here, later = exchange(make_conversation(owner)), exchange(conversation), exchange(conversation)
    question, last = Message.objects.filter(pk=here.prompt_id), Message.objects.filter(pk=later.prompt_id)
    question.update(resume_at=later.prompt)
    name = "message_resumes_in_the_same_conversation"
    assert refused(name, lambda: Message.objects.filter(pk=elsewhere.prompt_id).update(resume_at=later.prompt))
    assert refused("message_resumes_at_itself_or_below", lambda: last.update(resume_at=here.prompt))


def test_content_is_a_list_of_blocks(conversation: Conversation) -> None:
    message = Message.objects.filter(turn=exchange(conversation))
    assert refused("message_content_is_a_list", lambda: message.update(content={"type": "text"}))


def test_a_summary_ends_at_a_message_of_its_conversation_and_names_who_wrote_it(
    conversation: Conversation, owner: User
) -> None:
    elsewhere, here = make_summary(exchange(make_conversation(owner))), make_summary(exchange(conversation))
    row = Summary.objects.filter(pk=here.pk)
    through = elsewhere.through_message_id
    assert refused("summary_goes_with_the_newest_message_it_stands_for", lambda: row.update(through_message=through))
    assert refused("summary_follows_one_of_the_same_conversation", lambda: row.update(follows=elsewhere))
    assert refused("summary_follows_an_older_one", lambda: row.update(follows=here))
    assert refused("summary_names_a_model_exactly_when_one_wrote_it", lambda: row.update(source="user"))
    assert refused("summary_names_a_model_exactly_when_one_wrote_it", lambda: row.update(model=""))
    assert refused("summary_", lambda: row.update(source="other"))


def test_a_version_that_goes_is_let_go_by_what_was_written_from_it(conversation: Conversation) -> None:
    first, second = exchange(conversation), exchange(conversation)
    older, other = make_summary(first), make_summary(second)
    Summary.objects.filter(pk=other.pk).update(follows=older)
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM conversations_summary WHERE id = %s", [older.pk])
        connection.check_constraints()
    other.refresh_from_db()
    assert other.follows_id is None


def test_an_address_has_one_account_whatever_its_case(owner: User) -> None:
    assert refused("one_account_per_address", User(email=owner.email.upper(), password="x").save)


def test_deleting_a_conversation_is_one_statement_and_leaves_nothing(conversation: Conversation, owner: User) -> None:
    kept = exchange(make_conversation(owner))
    turn = answer(ask(conversation))
    ModelCall.objects.create(conversation=conversation, turn=turn, purpose="reply", latency_ms=1)
    make_summary(turn, follows=make_summary(turn))
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM conversations_conversation WHERE id = %s", [conversation.pk])
    assert not Message.objects.filter(conversation_id=conversation.pk).exists()
    assert not Turn.objects.filter(conversation_id=conversation.pk).exists()
    assert not ModelCall.objects.filter(conversation_id=conversation.pk).exists()
    assert not Summary.objects.filter(conversation_id=conversation.pk).exists()
    assert Turn.objects.filter(pk=kept.pk).exists()


def test_deleting_a_message_takes_what_follows_it_and_the_head_falls_back(conversation: Conversation) -> None:
    first = exchange(conversation)
    second = exchange(conversation)
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM conversations_message WHERE id = %s", [second.prompt_id])
        connection.check_constraints()
    conversation.refresh_from_db()
    assert conversation.head_id is None
    assert set(Message.objects.filter(conversation=conversation).values_list("turn_id", flat=True)) == {first.pk}
    assert not Turn.objects.filter(pk=second.pk).exists()


def test_every_reference_to_a_conversation_turn_or_message_goes_with_it() -> None:
    """For every table there is, also those nobody has thought of yet: a cascade, or a head that is let go."""
    tables = [model._meta.db_table for model in (Conversation, Turn, Message)]
    with connection.cursor() as cursor:
        cursor.execute(
            """SELECT conname, confdeltype::text FROM pg_constraint
               WHERE contype = 'f' AND confrelid::regclass::text = ANY(%s)""",
            [tables],
        )
        kept = {name: kind for name, kind in cursor.fetchall() if kind != "c"}
    assert kept == {"conversation_head_is_one_of_its_messages": "n", "message_resumes_in_the_same_conversation": "n"}


def test_every_field_that_points_to_such_a_row_has_a_reference_in_the_database() -> None:
    targets = {Conversation, Turn, Message}
    with connection.cursor() as cursor:
        for model in apps.get_models():
            constraints = connection.introspection.get_constraints(cursor, model._meta.db_table).values()
            kept = {
                column for constraint in constraints if constraint["foreign_key"] for column in constraint["columns"]
            }
            for field in model._meta.concrete_fields:
                if field.related_model in targets:
                    assert field.column in kept, f"{model.__name__}.{field.name} is kept by nobody"


def test_deleting_an_account_takes_its_conversations(conversation: Conversation) -> None:
    exchange(conversation)
    bystander = make_conversation(make_user())
    conversation.owner.delete()
    assert list(Conversation.objects.all()) == [bystander]
    assert not Message.objects.exists()
