"""`search_conversation`: what it finds, and what it never finds."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext

from accounts.models import User
from conversations.models import Conversation, Turn
from conversations.tools import search
from conversations.tools.search import EXCERPT, HITS, around, found
from conversations.tools.values import ToolFault
from tests.factories import answer, ask, exchange, make_conversation
from tests.threads import with_own_connection

pytestmark = pytest.mark.django_db

NOTHING = "No earlier message of this conversation mentions it."


def searching(conversation: Conversation) -> Turn:
    """A turn that has just been asked."""
    conversation.refresh_from_db()
    return ask(conversation, "What did we say about it?")


def test_a_message_with_any_of_the_words_is_found_with_its_speaker(conversation: Conversation) -> None:
    exchange(conversation, "How do bees find home?", "By the sun.")
    exchange(conversation, "And wasps?", "They do not tell.")
    text = found(searching(conversation), "bees hornets")
    assert "The user, " in text
    assert "How do bees find home?" in text
    assert "wasps" not in text
    assert "By the sun." not in text


def test_words_of_a_reply_are_found_whatever_their_case(conversation: Conversation) -> None:
    exchange(conversation, "How?", "By the sun.")
    assert "The assistant, " in found(searching(conversation), "SUN")


def test_most_of_the_words_come_first_then_the_newest(conversation: Conversation) -> None:
    exchange(conversation, "old: the honey of Crete", "1")
    exchange(conversation, "middle: the honey", "2")
    exchange(conversation, "new: the honey", "3")
    text = found(searching(conversation), "the honey of Crete")
    assert text.index("old:") < text.index("new:") < text.index("middle:")


@pytest.mark.parametrize(
    ("said", "query"),
    [
        ("明日の東京の天気を教えてください", "東京"),
        ("明日の東京の天気を教えてください", "大阪 東京"),
        ("ราคาทองวันนี้เท่าไร", "ทอง"),
        ("Über die Größe", "größe"),
        ("Где пчёлы?", "пчёлы"),
        ("see foo_bar.py", "foo_bar.py"),
        ('quoted "word"\nnext line', "next"),
        ("100% sure", "100%"),
    ],
)
def test_languages_and_names_are_found(conversation: Conversation, said: str, query: str) -> None:
    exchange(conversation, said, "Yes.")
    assert said[:10] in found(searching(conversation), query)


@pytest.mark.parametrize("query", ["nothing_like_it", "' OR 1=1 --", "& | ! ()", "%", "tool_use", "type"])
def test_what_was_not_said_is_not_found(conversation: Conversation, query: str) -> None:
    exchange(conversation, "How do bees find home?", "By the sun.")
    assert found(searching(conversation), query) == NOTHING


def test_only_this_conversation_and_only_what_came_before(
    conversation: Conversation, owner: User, stranger: User
) -> None:
    exchange(make_conversation(owner), "bees elsewhere")
    exchange(make_conversation(stranger), "bees of a stranger")
    conversation.refresh_from_db()
    turn = ask(conversation, "bees in the question itself")
    assert found(turn, "bees") == NOTHING


def test_another_branch_is_not_looked_at(conversation: Conversation) -> None:
    exchange(conversation, "first", "left: bees")
    left = Conversation.objects.values_list("head_id", flat=True).get(pk=conversation.pk)
    exchange(conversation, "on the left", "more bees")
    Conversation.objects.filter(pk=conversation.pk).update(head=left)
    text = found(searching(conversation), "bees")
    assert "left: bees" in text
    assert "more bees" not in text


def test_hits_and_excerpts_are_bounded(conversation: Conversation) -> None:
    for number in range(HITS + 2):
        exchange(conversation, f"{number} " + "x " * 5000 + "needle " + "y " * 5000)
    text = found(searching(conversation), "needle")
    assert text.count("needle") == HITS
    assert text.endswith("There are more.")
    assert len(text) < HITS * (EXCERPT + 100)


def test_what_was_not_searched_is_not_said_to_be_missing(
    conversation: Conversation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "ROWS", 4)
    exchange(conversation, "A needle.")
    exchange(conversation, "Hay.")
    asked = searching(conversation)
    assert found(asked, "needle").startswith("The user")
    answer(asked)
    text = found(searching(conversation), "needle")
    assert text == "None of the newest 4 messages of this conversation mentions it; older ones were not searched."


@pytest.mark.django_db(transaction=True)
def test_the_database_itself_gives_up_a_search_that_takes_too_long(
    conversation: Conversation, monkeypatch: pytest.MonkeyPatch
) -> None:
    exchange(conversation, "bees")
    turn = searching(conversation)
    monkeypatch.setattr(search, "SECONDS", 0.3)

    with ThreadPoolExecutor(1) as elsewhere, transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("LOCK TABLE conversations_message")
        with pytest.raises(ToolFault, match="took too long"):
            elsewhere.submit(with_own_connection(found), turn, "bees").result(timeout=3)


def test_each_text_is_read_once_however_many_words_are_sought(conversation: Conversation) -> None:
    exchange(conversation, "bees")
    for query in ("bees", "bees " + " ".join(map(str, range(30)))):
        with CaptureQueriesContext(connection) as queries:
            found(searching(conversation), query)
            answer(Turn.objects.live().get())
        assert [one["sql"].count("to_tsvector") for one in queries if "plainto_tsquery" in one["sql"]] == [1]


def test_an_excerpt_shows_the_word_with_what_is_around_it() -> None:
    assert around("short needle", "needle") == "short needle"
    shown = around("x " * 500 + "needle" + " y" * 500, "needle")
    assert "x needle y" in shown
    assert shown.startswith("…")
    assert shown.endswith("…")
