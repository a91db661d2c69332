"""What the search of all conversations finds, and at what cost."""

from datetime import timedelta
from uuid import uuid4

import pytest
from django.db import connection
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from accounts.models import User
from conversations import appending, binning, branches, searching, turns
from conversations.access import conversations_of
from conversations.models import Conversation, Message, SearchEntry, Turn
from conversations.recall.lexemes import sought
from conversations.searching import Found, Place
from conversations.streams import Shown
from tests.factories import answer, ask, edit, exchange, make_conversation, make_user, reply_of

pytestmark = pytest.mark.django_db


def found(user: User, query: str, *, limit: int = 20, after: Place | None = None) -> Found:
    return searching.search(conversations_of(user), sought(query), owner_id=user.pk, limit=limit, after=after)


def texts(user: User, query: str) -> list[str]:
    return [hit.message.text for hit in found(user, query).hits]


def test_a_question_is_found_as_soon_as_it_is_asked_and_its_answer_once_it_has_ended(
    owner: User, conversation: Conversation
) -> None:
    turn = ask(conversation, "Which bread rises slowly?")
    assert texts(owner, "bread") == ["Which bread rises slowly?"]
    turns.claim(turn.pk, lease=timedelta(minutes=1))
    turns.save_partial(turn, [{"type": "text", "text": "Sourdough"}])
    assert texts(owner, "sourdough") == []
    answer(turn, "Sourdough does.")
    assert texts(owner, "sourdough") == ["Sourdough does."]


def test_what_viewers_saw_of_a_lost_reply_is_found(owner: User, conversation: Conversation) -> None:
    turn = ask(conversation)
    turns.claim(turn.pk, lease=timedelta(minutes=1))
    turns.end_for_worker(turn, Turn.Status.INTERRUPTED, seen=Shown("Sourdough, I"), now=timezone.now())
    assert texts(owner, "sourdough") == ["Sourdough, I"]
    turns.keep_seen(turn, Shown("Sourdough, I think"))
    assert texts(owner, "think") == ["Sourdough, I think"]


def test_what_programs_append_is_found(owner: User, conversation: Conversation) -> None:
    appending.append(conversation.pk, [(Message.Role.USER, "Alma lives in Lisbon."), (Message.Role.ASSISTANT, "Oh.")])
    assert texts(owner, "lisbon") == ["Alma lives in Lisbon."]


def test_no_message_is_without_its_entry(conversation: Conversation) -> None:
    """Whatever wrote it."""
    exchange(conversation)
    answer(ask(conversation), "", status=Turn.Status.STOPPED)
    appending.append(conversation.pk, [(Message.Role.USER, "Alma"), (Message.Role.ASSISTANT, "Oh.")])
    said = Message.objects.filter(role__in=searching.SEARCHED_ROLES)
    assert said.count() == 5
    assert not said.filter(search_entry=None).exists()


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("Crème brûlée with RASPBERRIES", "creme raspberries"),
        ("creme brulee", "Crème BRÛL"),
        ("Stra\u00dfe", "STRASSE"),
        ("Cafe\u0301 in Paris", "caf\u00e9"),
        ("ＴＯＫＹＯ ﬁnally", "tokyo finally"),
        ("我们上个月在东京讨论的那个关于数据库的计划", "数据库"),
        ("我们上个月在东京讨论的那个关于数据库的计划", "东京 计划"),
        ("我们喝茶", "茶"),
        ("カタカナで書いたテキスト", "テキスト"),
        ("ｶﾞｷﾞｸﾞ", "ガギ"),
        ("학교에서 공부하는 사람", "공부"),
        ("ประเทศไทยสวยงาม", "ไทย"),
        ("हिन्दी में लिखा हुआ", "लिखा हिन्दी"),
        ("Где Москва?", "москва"),
        ("שָׁלוֹם לכולם", "שלום"),
        ("call my_function(x) in v1.2", "my_function v1"),
        ("an unfinished word", "unfin"),
    ],
)
def test_words_of_any_language_are_found_however_they_are_written(
    owner: User, conversation: Conversation, text: str, query: str
) -> None:
    exchange(conversation, text, "Yes.")
    hits = found(owner, query).hits
    assert [hit.message.text for hit in hits] == [text]
    assert any(part.is_match for part in hits[0].excerpt)


@pytest.mark.parametrize(
    "query", ["read", "bread butter", "brea butter", "東", "京都", "' | 'bread", "!bread:*", "bread\\"]
)
def test_other_words_are_not(owner: User, conversation: Conversation, query: str) -> None:
    exchange(conversation, "Which butter? 北京 is far", "Yes.")
    exchange(conversation, "Which bread?", "Yes.")
    expected = {"' | 'bread", "!bread:*", "bread\\"}  # Signs are nothing to look for, and no operators either.
    assert bool(found(owner, query).hits) == (query in expected)


def test_without_a_word_nothing_is_looked_for(owner: User, django_assert_num_queries: DjangoAssertNumQueries) -> None:
    with django_assert_num_queries(0):
        assert found(owner, " 😀 …! ") == Found()


def test_the_newest_come_first_and_pages_neither_repeat_nor_skip(owner: User) -> None:
    for number in range(7):
        exchange(make_conversation(owner), f"bread {number}", "Yes.")
    seen: list[str] = []
    place: Place | None = None
    while True:
        page = found(owner, "bread", limit=3, after=place)
        seen += [hit.message.text for hit in page.hits]
        exchange(make_conversation(owner), "bread, newer", "Yes.")
        if page.next_place is None:
            break
        place = Place.of(page.next_place.cursor())
    assert seen == [f"bread {number}" for number in reversed(range(7))]


def test_what_the_newest_do_not_have_is_found_further_back(
    owner: User, conversation: Conversation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(searching, "LOOKED_THROUGH", 4)
    for number in range(6):
        exchange(conversation, f"bread {number}", "Yes.")
    assert len(found(owner, "bread", limit=20).hits) == 6
    assert texts(owner, "bread 0") == ["bread 0"]


def test_what_hides_behind_much_that_is_in_the_bin_is_found(owner: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(searching, "LOOKED_THROUGH", 1)
    monkeypatch.setattr(searching, "TAKEN", 2)
    for number in range(5):
        exchange(made := make_conversation(owner), f"bread {number}", "Yes.")
        if number:
            binning.put(made, timezone.now())
    assert texts(owner, "bread") == ["bread 0"]


def test_archived_ones_are_found_binned_ones_never_and_restored_ones_again(
    owner: User, conversation: Conversation
) -> None:
    exchange(conversation, "Which bread?", "Rye.")
    Conversation.objects.update(archived=True, title="Bread and rolls", title_source="user")
    assert found(owner, "bread").hits[0].message.conversation.archived
    assert found(owner, "rolls").titles[0].conversation == conversation
    binning.put(conversation, timezone.now())
    assert found(owner, "bread") == Found()
    binning.take_out(conversation)
    assert texts(owner, "bread") == ["Which bread?"]


def test_a_stranger_finds_nothing_of_it(stranger: User, conversation: Conversation) -> None:
    exchange(conversation, "Which bread?", "Rye.")
    Conversation.objects.update(title="Bread", title_source="user")
    assert found(stranger, "bread") == Found()


def test_numbers_of_people_that_begin_alike_are_told_apart(owner: User) -> None:
    """Words carry the number of their owner in front: 1 must not find what 11 said."""
    other = make_user()
    User.objects.filter(pk=other.pk).update(id=int(f"{owner.pk}1"))
    other = User.objects.get(pk=int(f"{owner.pk}1"))
    exchange(make_conversation(other), "Which bread?", "Rye.")
    assert found(owner, "bread") == Found()
    assert texts(other, "bread") == ["Which bread?"]


def test_messages_of_every_branch_are_found(owner: User, conversation: Conversation) -> None:
    first = exchange(conversation, "Which bread?", "Rye.")
    edit(first.prompt, "Which butter?", "Salted.")
    assert texts(owner, "bread") == ["Which bread?"]
    branches_before = Conversation.objects.values_list("head_id", flat=True).get()
    assert branches_before != reply_of(first).pk


def test_what_is_deleted_is_found_no_more(owner: User, conversation: Conversation) -> None:
    first = exchange(conversation, "Which bread?", "Rye.")
    edit(first.prompt, "Which butter?", "Salted.")
    branches.remove(conversation.pk, first.prompt_id)
    assert texts(owner, "bread") == []
    Conversation.objects.all().delete()
    with connection.cursor() as cursor:
        connection.check_constraints()
        cursor.execute("SELECT count(*) FROM conversations_searchentry")
        assert cursor.fetchone() == (0,)


def test_titles_are_found_by_all_their_words_the_last_used_first(owner: User) -> None:
    now = timezone.now()
    for number, title in enumerate(["Bread with rye", "Rye grass", "RYÉ bread rolls", "Unbread rye"]):
        make_conversation(owner, title=title, title_source="user", last_activity_at=now + timedelta(minutes=number))
    titles = found(owner, "rye brea").titles
    assert [hit.conversation.title for hit in titles] == ["RYÉ bread rolls", "Bread with rye"]
    assert [part.text for part in titles[0].title if part.is_match] == ["RYÉ", "bread"]
    assert found(owner, "rye brea", after=Place(now, 1)).titles == ()


def test_the_end_of_a_long_question_is_found_once_it_was_answered(owner: User, conversation: Conversation) -> None:
    turn = ask(conversation, "word " * 4001 + "needle")
    assert not found(owner, "needle").hits
    answer(turn)
    assert found(owner, "needle").hits


@pytest.mark.parametrize("text", ["\U0001f600" * 10_000, "x" * 100_000, "a\n" * 20_000, "ÀÉ" * 9000 + " end"])
def test_odd_texts_are_indexed_and_excerpted(owner: User, conversation: Conversation, text: str) -> None:
    exchange(conversation, text, "Yes.")
    assert SearchEntry.objects.count() == 2
    for hit in found(owner, "end").hits:
        assert len("".join(part.text for part in hit.excerpt)) < 300


def test_a_page_costs_the_same_however_much_there_is(
    owner: User, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    for _ in range(2):
        for number in range(5):
            exchange(make_conversation(owner, title=f"Bread {uuid4()}", title_source="user"), f"bread {number}")
        with django_assert_num_queries(4):  # Titles, their rows, the newest that match, these messages.
            found(owner, "bread", limit=3)
        with django_assert_num_queries(3):  # Titles, the newest, the index.
            assert found(owner, "nowhere") == Found()
