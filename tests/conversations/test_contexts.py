"""One way to a context: what the model of a question will be sent, read from the tables and recorded."""

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from pytest_django import Settings

from accounts.models import User
from conversations import branches
from conversations.context.record import LeftOut, Record
from conversations.context.values import Assembly, StoredMessage, Toolbox
from conversations.contexts import Question, context_of, question_of, record_context
from conversations.models import Conversation, Message, Turn
from conversations.providers.values import ToolCall, ToolResult, ToolSpec
from conversations.refusals import PromptTooLong
from tests.conversations.test_history import grown, head_of
from tests.factories import answer, ask, edit, exchange, make_summary, regenerate, reply_of

pytestmark = pytest.mark.django_db
TOOLS = Toolbox((ToolSpec("look", "Looks.", {}),), 20)


@pytest.fixture(autouse=True)
def _budget(settings: Settings) -> None:
    """Room for about ten of these tests' turns."""
    settings.POCKETCHAT_CHAT_MODEL = "openai:scripted"
    settings.POCKETCHAT_CONTEXT_WINDOW = 4000
    settings.POCKETCHAT_HISTORY_TOKENS = 200


def answered(
    conversation: Conversation, question: str = "Why?", *, tokens: int = 10, reply: str = "Because.", **facts: Any
) -> Record:
    """A turn as the worker would live through it: the record of its request."""
    turn = ask(conversation, question)
    assembly = context_of(question_of(turn), tools=Toolbox())
    record_context(turn, assembly.record.as_json())
    answer(turn, reply, **facts)
    Message.objects.filter(turn=turn).update(tokens=tokens)
    return assembly.record


def next_context(conversation: Conversation, *, model: str = "openai:scripted") -> Assembly:
    """What would be sent with a question that is not stored yet."""
    prompt = StoredMessage(10**12, "user", "Next?", 5)
    return context_of(Question(conversation, head_of(conversation), prompt, model), tools=Toolbox())


def sent_texts(assembly: Assembly) -> list[str]:
    return [message.text for message in assembly.request.messages[1:]]


def test_the_window_grows_until_it_overflows_and_stays_where_it_was_cut(conversation: Conversation) -> None:
    records = [answered(conversation, f"{number}?") for number in range(40)]
    starts = [record.start for record in records]
    cuts = [number for number, record in enumerate(records) if record.was_cut]
    # Ten turns of twenty tokens fit; a cut leaves six.
    assert cuts == [11, 16, 21, 26, 31, 36]
    assert [number for number in range(1, 40) if starts[number] != starts[number - 1]] == cuts
    # What lies before a window that stays is not read again.
    assert [len(record.left_out[0].ids) for record in records[12:16]] == [1] * 4
    assert all(record.reason == ("history_budget" if number >= 11 else None) for number, record in enumerate(records))


def test_two_queries_choose_a_context_one_finds_a_summary_three_recall_however_long_the_conversation_is(
    owner: User,
) -> None:
    counts = set()
    for messages in (4, 100, 2000):
        conversation = grown(owner, messages)
        head = head_of(conversation)
        question = Question(conversation, head, StoredMessage(10**12, "user", "Next?", 5), "openai:scripted")
        with CaptureQueriesContext(connection) as queries:
            context_of(question, tools=Toolbox())
        counts.add(len(queries))
    # The short one is sent whole: nothing is looked for.
    assert counts == {2, 6}


def test_a_later_request_of_the_same_turn_asks_only_for_the_past(conversation: Conversation) -> None:
    answered(conversation)
    turn = ask(conversation)
    record_context(turn, context_of(question_of(turn), tools=Toolbox()).record.as_json())
    question = question_of(turn)
    with CaptureQueriesContext(connection) as queries:
        context_of(question, tools=Toolbox())
    assert len(queries) == 1


def test_a_thousand_tiny_messages_are_stepped_over(owner: User, settings: Settings) -> None:
    settings.POCKETCHAT_HISTORY_TOKENS = 10**6
    settings.POCKETCHAT_CONTEXT_WINDOW = 10**7
    conversation = grown(owner, 1000)
    Message.objects.filter(conversation=conversation).update(tokens=0)
    records = [answered(conversation, tokens=0) for _ in range(4)]
    assert [len(record.sent) - 1 for record in records] == [1000, 666, 668, 670]
    assert [record.was_cut for record in records] == [False, True, False, False]


def test_a_turn_too_large_stays_the_reason_while_the_window_stays(conversation: Conversation) -> None:
    answered(conversation, tokens=10)
    answered(conversation, tokens=500)
    records = [answered(conversation) for _ in range(3)]
    assert [record.reason for record in records] == ["turn_too_large"] * 3
    assert [record.was_cut for record in records] == [True, False, False]


def test_the_start_was_deleted(conversation: Conversation) -> None:
    """With a version that is deleted goes all below it; the window is that of what is left."""
    answered(conversation, "0?")
    first = exchange(conversation, "1?")
    other = edit(first.prompt, "Other?", "Yes.")
    Turn.objects.filter(pk=other.pk).update(context=Record(sections=(), sent=(first.prompt_id,)).as_json())
    branches.remove(conversation.pk, first.prompt_id)
    assert sent_texts(next_context(conversation)) == ["0?", "Because.", "Other?", "Yes.", "Next?"]


def test_after_a_switch_of_the_branch_the_window_is_that_of_the_branch(conversation: Conversation) -> None:
    made = [answered(conversation, f"{number}?") for number in range(12)]
    assert made[-1].was_cut
    third = Turn.objects.order_by("created_at")[3]
    edit(third.prompt, "Other?", "Yes.")
    assert sent_texts(next_context(conversation)) == [
        *[text for number in range(3) for text in (f"{number}?", "Because.")],
        *["Other?", "Yes.", "Next?"],
    ]
    assert not next_context(conversation).record.was_cut


def test_a_start_on_another_branch_is_not_taken(conversation: Conversation) -> None:
    """A record that names a message of elsewhere, however that came: the newest that fit are sent."""
    for number in range(4):
        answered(conversation, f"{number}?")
    last = Turn.objects.order_by("-created_at")[0]
    Turn.objects.filter(pk=last.pk).update(context=Record(sections=(), sent=(10**11,)).as_json())
    assert len(next_context(conversation).record.sent) == 9


def test_another_model_begins_its_window_anew(conversation: Conversation) -> None:
    for number in range(12):
        answered(conversation, f"{number}?")
    kept = next_context(conversation).record
    assert (len(kept.sent), kept.was_cut) == (2 * 7 + 1, False)
    other = next_context(conversation, model="openai:other").record
    assert (len(other.sent), other.was_cut) == (2 * 6 + 1, True)


@pytest.mark.parametrize("stored", [None, {"sent": "1"}, {"sent": ["x"], "sections": {}}, [1], {"start": 1}])
def test_a_record_that_cannot_be_read_costs_no_reply(conversation: Conversation, stored: object) -> None:
    for number in range(3):
        answered(conversation, f"{number}?")
    Turn.objects.filter(conversation=conversation).update(context=stored)
    assert len(next_context(conversation).record.sent) == 7


def test_the_rounds_of_a_turn_keep_its_window(conversation: Conversation, settings: Settings) -> None:
    """The room shrinks with every result. Without the record of its own turn the window would slide with each."""
    settings.POCKETCHAT_CONTEXT_WINDOW = 1200
    settings.POCKETCHAT_RETRIEVED_TOKENS = 0
    settings.POCKETCHAT_HISTORY_TOKENS = 400
    for number in range(15):
        answered(conversation, f"{number}?")
    turn = ask(conversation, "Look!")
    rounds: list[StoredMessage] = []
    starts, cuts = [], []
    for number in range(10):
        assembly = context_of(question_of(turn), tools=TOOLS, rounds=rounds)
        record_context(turn, assembly.record.as_json())
        starts.append(assembly.record.start)
        cuts.append(assembly.record.was_cut)
        call, result = ToolCall("a", "look", "{}"), ToolResult("a", "look", "x" * 300)
        rounds += [
            StoredMessage(-1 - number, "assistant", "", 5, calls=(call,)),
            StoredMessage(-1 - number, "tool", "", 75, results=(result,)),
        ]
    assert len(set(starts)) == 2
    assert starts == sorted(starts)
    # That the turn's window was cut is told by its last record, too.
    assert cuts == sorted(cuts)
    assert cuts[-1]


def test_a_tightened_request_is_half_as_long(conversation: Conversation) -> None:
    for number in range(10):
        answered(conversation, f"{number}?")
    turn = ask(conversation, "Next?")
    whole = context_of(question_of(turn), tools=Toolbox()).record
    tight = context_of(question_of(turn), tools=Toolbox(), is_tightened=True).record
    assert (whole.was_tightened, tight.was_tightened) == (False, True)
    assert (whole.tokens_of("window"), whole.history, tight.history) == (200, 200, 100)
    assert 0 < tight.tokens_of("window") <= 66


def test_a_smaller_request_keeps_the_summary(conversation: Conversation) -> None:
    """When more is left out, what stands for it is wanted the more; turns that are brought back may go."""
    for number in range(20):
        answered(conversation, f"{number}?")
    make_summary(Turn.objects.order_by("created_at")[8], "They counted, from nought to eight and then further on.")
    turn = ask(conversation, "Next?")
    whole = context_of(question_of(turn), tools=Toolbox()).record
    tight = context_of(question_of(turn), tools=Toolbox(), is_tightened=True, refused=whole).record
    assert whole.summary
    assert tight.summary == whole.summary
    assert tight.tokens_of("window") <= whole.tokens_of("window") // 2


def test_a_question_that_fitted_is_not_refused_by_what_is_made_smaller_for_it(conversation: Conversation) -> None:
    """Three quarters of the window could not hold it: then the earlier turns go, and it stays."""
    answered(conversation)
    turn = ask(conversation, "word " * 2600)
    record = context_of(question_of(turn), tools=Toolbox(), is_tightened=True).record
    assert record.tokens_of("prompt") + record.reply > 3000
    assert record.sent == (turn.prompt_id,)
    assert record.window == record.tokens_of("system") + record.tokens_of("prompt") + record.reply


@pytest.fixture
def by_pairs(settings: Settings) -> None:
    settings.POCKETCHAT_CONTEXT_POLICY = "pairs"


@pytest.mark.usefixtures("by_pairs")
def test_pairs_are_chosen_where_the_settings_say_so(conversation: Conversation) -> None:
    records = [answered(conversation, f"{number}?", tokens=2) for number in range(8)]
    assert [len(record.sent) for record in records] == [1, 3, 5, 7, 9, 11, 13, 13]
    assert records[-1].left_out == (LeftOut(tuple(records[1].sent[:2]), "pair_limit"),)
    with CaptureQueriesContext(connection) as queries:
        next_context(conversation)
    # The head; the past; a summary; recall.
    assert [query["sql"].split()[0] for query in queries] == ["SELECT", "WITH", "WITH", "SELECT", "WITH", "SELECT"]


@pytest.mark.usefixtures("by_pairs")
def test_replies_that_were_stopped_take_nothing_of_the_pairs(conversation: Conversation) -> None:
    """However long they are: also where more of them were stored than the budget of the model takes."""
    answered(conversation, "Kept?", reply="Kept.")
    for _ in range(3):
        answered(conversation, "Stop?", tokens=150, reply="Long", status=Turn.Status.STOPPED)
    assembly = next_context(conversation)
    assert sent_texts(assembly) == ["Kept?", "Kept.", "Next?"]
    assert {span.reason for span in assembly.record.left_out} == {"not_complete"}


@pytest.mark.usefixtures("by_pairs")
def test_pairs_fit_the_model_too(conversation: Conversation) -> None:
    for number in range(4):
        answered(conversation, f"{number}?", tokens=45)
    assert sent_texts(next_context(conversation)) == ["2?", "Because.", "3?", "Because.", "Next?"]


@pytest.mark.usefixtures("by_pairs")
def test_a_question_too_long_for_pairs_is_refused(conversation: Conversation) -> None:
    prompt = StoredMessage(10**12, "user", "x" * 6001, 5)
    question = Question(conversation, None, prompt, "openai:scripted")
    with pytest.raises(PromptTooLong, match="under 6,000 characters"):
        context_of(question, tools=Toolbox())


def test_after_a_change_of_the_policy_the_window_is_filled_again(
    conversation: Conversation, settings: Settings
) -> None:
    settings.POCKETCHAT_CONTEXT_POLICY = "pairs"
    for number in range(9):
        answered(conversation, f"{number}?", tokens=5)
    settings.POCKETCHAT_CONTEXT_POLICY = "tokens"
    assembly = next_context(conversation)
    assert len(assembly.record.sent) == 19
    assert assembly.record.reason is None


def test_what_would_be_sent_is_what_is_sent(conversation: Conversation) -> None:
    for number in range(12):
        answered(conversation, f"{number}?")
    before = next_context(conversation)
    turn = ask(conversation, "Next?")
    after = context_of(question_of(turn), tools=Toolbox())
    assert sent_texts(before) == sent_texts(after)
    assert before.record.sent[:-1] == after.record.sent[:-1]


def test_a_retry_sends_the_question_with_what_lies_before_it(conversation: Conversation) -> None:
    answered(conversation, "0?")
    answered(conversation, "1?")
    last = Turn.objects.order_by("-created_at")[0]
    again = Turn.objects.get(pk=regenerate(last).pk)
    assert sent_texts(context_of(question_of(again), tools=Toolbox())) == ["0?", "Because.", "1?"]


def test_the_record_is_kept_only_while_the_turn_lives(conversation: Conversation) -> None:
    turn = ask(conversation)
    record_context(turn, {"sent": [1]})
    answer(turn)
    record_context(turn, {"sent": [2]})
    assert Turn.objects.get(pk=turn.pk).context == {"sent": [1]}
    assert reply_of(turn).text == "Because."
