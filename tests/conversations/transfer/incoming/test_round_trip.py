"""What was taken away comes back as it was: in another account, another installation, under other numbers."""

import json
from typing import Any

import pytest
from django.utils import timezone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pytest_django import Settings

from accounts.models import User
from conversations.models import Conversation, Message, Summary, Turn
from conversations.text import clean
from conversations.transfer import as_json, exports, files, making
from conversations.transfer.content import Content
from tests.conversations.transfer.incoming.conftest import BringIn
from tests.conversations.transfer.plain import plain
from tests.conversations.transfer.rich import go_back, make_rich
from tests.factories import answer, ask, edit, exchange, make_conversation, make_summary, make_user, regenerate

SENT_AS = ("sections", "tools", "was_cut", "digits")


def exported(conversation: Conversation) -> dict[str, Any]:
    conversation.refresh_from_db()
    written: dict[str, Any] = json.loads("".join(as_json.written(Content(conversation), now=timezone.now())))
    return written


def brought(bring_in: BringIn, document: dict[str, Any], user: User) -> dict[str, Any]:
    run = bring_in(json.dumps(document).encode(), user, takes_instructions=True)
    assert (run.imported, run.error) == (1, ""), list(run.results.values())
    return exported(Conversation.objects.filter(owner=user).latest("import_results__id"))


def test_everything_of_a_rich_conversation_comes_back(bring_in: BringIn, owner: User, stranger: User) -> None:
    rich = make_rich(owner, pinned=True, kept=True)
    go_back(rich, Message.objects.filter(conversation=rich, role="assistant").order_by("id")[0])
    document = exported(rich)
    back = brought(bring_in, document, stranger)
    assert plain(back) == plain(document)
    assert not {one["id"] for one in back["messages"]} & {one["id"] for one in document["messages"]}


STEPS = st.lists(
    st.tuples(st.sampled_from(["ask", "again", "edit", "stop", "fail", "back", "summary"]), st.integers(0, 30)),
    min_size=1,
    max_size=9,
)


@pytest.mark.django_db
@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=STEPS, text=st.text(max_size=20).map(clean))
def test_any_tree_comes_back(bring_in: BringIn, steps: list[tuple[str, int]], text: str) -> None:
    conversation = make_conversation(make_user())
    turns = [exchange(conversation, f"Q {text}", f"A {text}")]
    for step, pick in steps:
        turn = turns[pick % len(turns)]
        if step == "ask":
            turns.append(exchange(conversation))
        elif step == "again":
            turns.append(regenerate(turn, f"Another {text}"))
        elif step == "edit":
            turns.append(edit(turn.prompt, f"Other {text}", "Yes."))
        elif step == "stop":
            turns.append(answer(ask(conversation), "It was", status=Turn.Status.STOPPED))
        elif step == "fail":
            answer(ask(conversation), "", status=Turn.Status.FAILED, error_code="dropped")
        elif step == "back":
            conversation.refresh_from_db()
            go_back(conversation, Message.objects.filter(turn=turn).latest("pk"))
        else:
            make_summary(turn, f"Of {text}.")
    document = exported(conversation)
    assert plain(brought(bring_in, document, make_user())) == plain(document)


@pytest.mark.django_db(transaction=True)
def test_a_whole_export_comes_back(bring_in: BringIn, owner: User, stranger: User) -> None:
    empty = make_conversation(owner, title="Empty", title_source="user")
    documents = [exported(make_rich(owner)), exported(empty)]
    export = exports.request(owner, now=timezone.now())
    making.make(export.pk)
    sent = files.path_of(owner.pk, export.pk).read_bytes()
    run = bring_in(sent, stranger, takes_instructions=True)
    assert (run.status, run.source, run.imported, run.refused) == ("complete", "pocketchat", 2, 0)
    back = [plain(exported(one)) for one in Conversation.objects.filter(owner=stranger)]
    assert sorted(back, key=str) == sorted(map(plain, documents), key=str)
    assert bring_in(sent, owner).duplicates == 2


def test_one_s_own_unchanged_conversation_is_recognised(bring_in: BringIn, owner: User) -> None:
    rich = make_rich(owner)
    document = json.dumps(exported(rich)).encode()
    [result] = bring_in(document).results.all()
    assert (result.outcome, result.conversation_id) == ("duplicate", rich.pk)
    exchange(rich)
    assert bring_in(document).imported == 1


def test_an_imported_system_prompt_instructs_nobody_unless_its_owner_says_so(
    bring_in: BringIn, owner: User, stranger: User
) -> None:
    document = json.dumps(exported(make_rich(owner))).encode()
    run = bring_in(document, stranger)
    assert Conversation.objects.get(owner=stranger).system_prompt == ""
    assert "instructions to the model were left out" in run.results.get().detail
    third = make_user()
    bring_in(document, third, takes_instructions=True)
    assert Conversation.objects.get(owner=third).system_prompt == "Speak of bread."


def test_a_model_that_is_not_offered_here_is_not_kept(
    bring_in: BringIn, owner: User, stranger: User, settings: Settings
) -> None:
    settings.POCKETCHAT_CHAT_MODEL = "openai:here"
    document = exported(make_rich(owner, model="openai:elsewhere"))
    run = bring_in(json.dumps(document).encode(), stranger)
    assert Conversation.objects.get(owner=stranger).model == ""
    assert "openai:elsewhere, is not offered here" in run.results.get().detail
    assert Turn.objects.filter(conversation__owner=stranger, model="openai:scripted").exists()


def test_a_turn_that_was_being_answered_is_interrupted_here(bring_in: BringIn, owner: User, stranger: User) -> None:
    conversation = make_conversation(owner)
    ask(conversation, "Still there?")
    bring_in(json.dumps(exported(conversation)).encode(), stranger)
    turn = Turn.objects.get(conversation__owner=stranger)
    assert (turn.status, turn.finished_at is not None) == ("interrupted", True)


@pytest.mark.parametrize(
    ("spoil", "why"),
    [
        (lambda d: d["messages"].reverse(), "does not stand behind"),
        (lambda d: d["messages"][1].update(parent=d["messages"][1]["id"] + 10**6), "does not stand behind"),
        (lambda d: d["messages"].pop(0), "not in the file"),
        (lambda d: d["turns"].pop(0), "not in the file"),
        (lambda d: d["messages"][1].update(role="root"), "'role' is 'root'"),
        (lambda d: d["messages"][1].update(tokens=-1), "'tokens' is '-1'"),
        (lambda d: d["turns"][0].update(cost="a lot"), "'cost' is 'a lot'"),
        (lambda d: d["turns"][-1].update(prompt=d["turns"][0]["prompt"]), "of another question"),
        (lambda d: d.update(version=2), "of version 2"),
        (lambda d: d["conversation"].update(created_at="once"), "'created_at' is 'once'"),
        (lambda d: d["summaries"][0].update(through_message=10**6), "A summary reaches to message"),
        (lambda d: d["summaries"][0].update(through_message=[1]), "'through_message' is '[1]'"),
    ],
)
def test_what_breaks_the_rules_of_the_form_is_refused_with_what_is_wrong(
    bring_in: BringIn, owner: User, stranger: User, spoil: Any, why: str
) -> None:
    document = exported(make_rich(owner))
    spoil(document)
    run = bring_in(json.dumps(document).encode(), stranger)
    [result] = run.results.all()
    assert (result.outcome, why in result.detail) == ("refused", True), result.detail
    assert not Conversation.objects.filter(owner=stranger).exists()
    assert not Turn.objects.filter(conversation__owner=stranger).exists()


def test_a_head_and_a_forerunner_that_name_nothing_are_none(bring_in: BringIn, owner: User, stranger: User) -> None:
    document = exported(make_rich(owner))
    document["conversation"]["head"] = [1]
    document["summaries"][-1]["follows"] = {}
    assert bring_in(json.dumps(document).encode(), stranger).imported == 1
    assert Conversation.objects.get(owner=stranger).head_id is None
    assert not Summary.objects.filter(conversation__owner=stranger, follows__isnull=False).exists()


def test_a_record_names_only_messages_of_its_own_conversation(bring_in: BringIn, owner: User, stranger: User) -> None:
    document = exported(make_rich(owner))
    theirs = exchange(make_conversation(owner)).prompt_id
    kept = document["messages"][0]["id"]
    document["turns"][-1]["context"] = {
        "sent": [theirs, kept],
        "start": theirs,
        "sections": {"prompt": 1},
        "left_out": [{"ids": [theirs], "reason": "history_budget"}, "odd"],
        "recalled": [{"ids": [theirs, kept], "score": 4.0}],
        "summary": 10**9,
        "summarised_through": theirs,
    }
    bring_in(json.dumps(document).encode(), stranger)
    conversation = Conversation.objects.get(owner=stranger)
    first = Message.objects.filter(conversation=conversation).earliest("pk").pk
    context = Turn.objects.get(conversation=conversation, context__isnull=False).context
    assert context == {
        "sent": [first],
        "start": first,
        "sections": {"prompt": 1},
        "left_out": [],
        "recalled": [{"ids": [first], "score": 4.0}],
        "summary": None,
        "summarised_through": None,
    }
    assert Summary.objects.filter(conversation=conversation).count() == 2
