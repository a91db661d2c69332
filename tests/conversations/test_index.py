"""The index of a conversation's messages: what is found, and what never is."""

import pytest
from django.contrib.postgres.search import SearchVector
from django.db import connection
from django.db.models import Value
from django.utils import timezone

from accounts.models import User
from conversations import index, meaning
from conversations.models import Conversation, Embedding, Message
from conversations.providers.registry import embedder
from conversations.recall.languages import STEMMERS
from conversations.recall.scores import Candidates
from tests.factories import ask, edit, exchange, make_conversation

pytestmark = pytest.mark.django_db

SMALL_TALK = ("How are you today?", "What is the weather like?", "Tell me something nice.", "Shall we go on?")


def indexed(conversation: Conversation, *said: str) -> Conversation:
    """Turns that ask this, among small talk, all in the index."""
    for question in (*said, *SMALL_TALK):
        exchange(conversation, question, "All right.")
    index.write(index.unindexed(conversation.pk))
    conversation.refresh_from_db()
    return conversation


def matches_of(branch: index.Branch, query: str) -> Candidates:
    return index.candidates(branch, query, meaning.of_question(branch.conversation_id, query))


def found(conversation: Conversation, query: str, *, most: int = 1) -> list[str]:
    """The texts of the best hits on the active branch."""
    conversation.refresh_from_db()
    branch = index.branch_of(conversation.pk, conversation.head_id)
    hits = index.ranked(matches_of(branch, query), most=most)
    rows = Message.objects.in_bulk([hit.message_id for hit in hits])
    return [rows[hit.message_id].text for hit in hits]


def test_a_message_is_found_by_its_words_and_by_what_it_means(conversation: Conversation) -> None:
    indexed(conversation, "My sister Alma moved to Lisbon.", "I adopted a puppy.")
    assert found(conversation, "Where does Alma live?") == ["My sister Alma moved to Lisbon."]
    assert found(conversation, "Which pets do I have? A dog?") == ["I adopted a puppy."]


@pytest.mark.parametrize(
    ("said", "sought"),
    [
        ("我们上个月在东京塔下面见过面，记得吗？", "东京"),
        ("先週、友達と京都の美術館に行きました。", "美術館"),
        ("我更喜欢喝茶。", "茶？"),
        ("我每天喝茶和咖啡。", "茶？"),
        ("우리 집에서 만나요.", "집?"),
        ("ｶﾌｪで会いましょう。", "カフェ"),
        ("우리는 학교에서 만났어요.", "학교"),
        ("เมื่อวานเราไปวัดพระแก้วกัน", "วัดพระแก้ว"),
        ("ខ្ញុំរស់នៅភ្នំពេញ។", "ភ្នំពេញ"),
        ("We met at the cafe\u0301 in the park.", "The CAFÉ?"),
        ("It is on https://docs.example.org/guide/start.html", "What stood in those docs?"),
        ("Write to jane.doe@example.org about it.", "Doe's address"),
        ("The setting is called MAX_OPEN_FILES.", "maxOpenFiles"),
        ("It broke with Python 3.11.9 on that machine.", "Python 3.11"),
        ("Gestern haben wir in den alten Häusern der Stadt gegessen.", "Erzähl mir von dem Haus, in dem wir waren."),
    ],
)
def test_words_are_found_inside_sentences_and_inflected(conversation: Conversation, said: str, sought: str) -> None:
    if "Haus" in sought:  # A conversation is held in a language: so short texts have one, too.
        for _ in range(3):
            exchange(conversation, "Wir sprechen hier über das Wetter und über andere Dinge.", "Ja, gerne.")
    indexed(conversation, said)
    branch = index.branch_of(conversation.pk, conversation.head_id)
    matches = matches_of(branch, sought)
    place = matches.ids.tolist().index(Message.objects.get(content__0__text=said).pk)
    assert matches.says[place].any()
    assert found(conversation, sought) == [said]


def test_another_conversation_of_the_owner_and_one_of_a_stranger_are_never_found(
    conversation: Conversation, owner: User, stranger: User
) -> None:
    for someone in (owner, stranger):
        indexed(make_conversation(someone), "My sister Alma moved to Lisbon.")
    indexed(conversation)
    assert "My sister Alma moved to Lisbon." not in found(conversation, "Alma Lisbon", most=100)
    elsewhere = Message.objects.exclude(conversation=conversation).values_list("pk", flat=True)[0]
    assert not index.branch_of(conversation.pk, elsewhere).ids.size


def test_another_branch_is_never_found(conversation: Conversation) -> None:
    exchange(conversation, "What we have in common.")
    first = exchange(conversation, "My sister Alma moved to Lisbon.")
    edit(first.prompt, "My brother Otto moved to Porto.", "Oh.")
    indexed(conversation)
    assert found(conversation, "Alma moved", most=100).count("My sister Alma moved to Lisbon.") == 0
    assert found(conversation, "Where did Otto move?") == ["My brother Otto moved to Porto."]


def test_a_hit_knows_its_whole_turn(conversation: Conversation) -> None:
    first, second = exchange(conversation, "One?", "1"), exchange(conversation, "Two?", "2")
    conversation.refresh_from_db()
    branch = index.branch_of(conversation.pk, conversation.head_id)
    for turn in (first, second):
        ids = tuple(turn.messages.order_by("pk").values_list("pk", flat=True))
        assert [branch.turn_of(pk) for pk in ids] == [ids, ids]


def test_in_haste_a_message_is_of_the_conversations_language(conversation: Conversation) -> None:
    indexed(conversation, "My sister Alma moved to Lisbon in spring.")
    exchange(conversation, "Gestern haben wir in den alten Häusern der Stadt gegessen.", "Das war sehr schön bei euch.")
    index.write(index.unindexed(conversation.pk), is_hasty=True)
    assert set(Embedding.objects.values_list("language", flat=True)) == {"english"}
    index.write(conversation.messages.order_by("-pk")[:1])
    assert Embedding.objects.latest("message").language == "german"


def test_what_is_deleted_leaves_the_index_and_comes_back_by_no_late_writer(conversation: Conversation) -> None:
    turn = exchange(conversation)
    late = list(index.unindexed(conversation.pk))
    index.write(late)
    assert Embedding.objects.filter(conversation=conversation).count() == 2
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM conversations_message WHERE id = %s", [turn.prompt_id])
    assert not Embedding.objects.exists()
    index.write(late)
    assert not Embedding.objects.exists()


def test_messages_of_a_live_turn_wait(conversation: Conversation) -> None:
    exchange(conversation)
    ask(conversation, "And now?")
    assert index.write(index.unindexed()) == 2
    assert not index.unindexed().exists()


def test_what_is_in_the_bin_waits(conversation: Conversation) -> None:
    exchange(conversation)
    Conversation.objects.update(trashed_at=timezone.now())
    assert not index.unindexed().exists()
    assert not index.unindexed(conversation.pk).exists()
    Conversation.objects.update(trashed_at=None)
    assert index.unindexed().count() == 2


def test_a_changed_embedder_makes_its_own_and_compares_no_others(conversation: Conversation) -> None:
    indexed(conversation, "I adopted a puppy.")
    Embedding.objects.update(embedder="another@1", vector=[1.0, 0.0])
    branch = index.branch_of(conversation.pk, conversation.head_id)
    matches = matches_of(branch, "puppy")
    assert all(likeness != likeness for likeness in matches.likeness)  # NaN
    assert found(conversation, "puppy") == ["I adopted a puppy."]
    assert index.write(index.unindexed(conversation.pk)) == len(branch.ids)
    assert set(Embedding.objects.values_list("embedder", flat=True)) == {embedder().name}


@pytest.mark.parametrize(
    "query",
    ["", " ", "!!!", "it's 'quoted' \\ back\\\\slash", "a & b | !c <-> d:* (", "%s %% {mask}", "x" * 3000, "🎉", "the"],
)
def test_whatever_is_asked_is_no_syntax(conversation: Conversation, query: str) -> None:
    indexed(conversation, "it's back\\slash")
    assert len(found(conversation, query, most=100)) == 10


def test_a_question_of_many_words_is_looked_for_by_the_longest(conversation: Conversation) -> None:
    indexed(conversation, "We saw the philharmonic orchestra.")
    many = " ".join(f"w{number}" for number in range(200))
    branch = index.branch_of(conversation.pk, conversation.head_id)
    assert matches_of(branch, f"{many} philharmonic").says.any(axis=1).sum() == 1


def test_of_many_words_each_is_found_where_it_is_said(conversation: Conversation) -> None:
    """Those behind the first dozen are handed over beside them."""
    indexed(conversation, "A zebra.", "The longestwords7.")
    many = " ".join(f"longestwords{number}" for number in range(20))
    branch = index.branch_of(conversation.pk, conversation.head_id)
    matches = matches_of(branch, f"zebra {many}")
    said = {
        Message.objects.get(pk=pk).text: says.nonzero()[0].tolist()
        for pk, says in zip(matches.ids, matches.says, strict=True)
    }
    [zebra] = said["A zebra."]
    assert zebra > 12
    assert [len(words) for words in said.values()].count(0) == len(said) - 2


def test_messages_too_far_apart_are_not_mixed_up(conversation: Conversation) -> None:
    exchange(conversation, "My sister Alma moved to Lisbon.")
    with connection.cursor() as cursor:
        cursor.execute("SELECT setval(pg_get_serial_sequence('conversations_message', 'id'), %s)", [3 * 10**9])
    indexed(conversation, "My brother Otto moved to Porto.")
    assert found(conversation, "Where did Otto move?") == ["My brother Otto moved to Porto."]
    assert "My sister Alma moved to Lisbon." not in found(conversation, "Alma Lisbon", most=100)


def test_a_question_is_stemmed_in_each_language_the_conversation_is_held_in(conversation: Conversation) -> None:
    for number in range(30):
        exchange(
            conversation, f"Let us talk about the weather and about other things, {number}.", "Yes, with pleasure."
        )
    exchange(
        conversation, "Gestern haben wir in den alten Häusern der Stadt gegessen.", "Das klingt wirklich sehr schön."
    )
    indexed(conversation)
    branch = index.branch_of(conversation.pk, conversation.head_id)
    said = matches_of(branch, "Haus").says.any(axis=1)
    assert Message.objects.get(pk=branch.ids[said][0]).text.startswith("Gestern haben")
    assert matches_of(branch, "thing").says.any(axis=1).sum() == 30


def test_a_language_that_hardly_anything_is_taken_for_is_none_of_the_conversation(conversation: Conversation) -> None:
    for number in range(60):
        exchange(
            conversation, f"Let us talk about the weather and about other things, {number}.", "Yes, with pleasure."
        )
    indexed(conversation)
    mistaken = Embedding.objects.order_by("message")[:1].values("pk")
    words = SearchVector(Value("Let us talk about the weather"), config="danish")
    Embedding.objects.filter(pk__in=mistaken).update(language="danish", words=words)
    branch = index.branch_of(conversation.pk, conversation.head_id)
    assert not matches_of(branch, "about").says.any()  # Said often in English, and no stop word in Danish.


def test_only_so_many_messages_before_the_question_are_looked_at(
    conversation: Conversation, monkeypatch: pytest.MonkeyPatch
) -> None:
    indexed(conversation, "My sister Alma moved to Lisbon.", "And why did she?")
    monkeypatch.setattr("conversations.index.tree.MOST_MESSAGES", 11)
    assert index.branch_of(conversation.pk, conversation.head_id).ids.size == 11
    assert "My sister Alma moved to Lisbon." not in found(conversation, "Alma Lisbon", most=100)
    assert found(conversation, "Why?", most=100).count("And why did she?") == 1


def test_long_messages_stay_beside_their_vectors(conversation: Conversation) -> None:
    exchange(conversation, "Short?", " ".join(f"word{number}" for number in range(400)))
    before = size_elsewhere()
    index.write(index.unindexed())
    assert size_elsewhere() == before


def size_elsewhere() -> int:
    """Bytes that PostgreSQL keeps outside of the rows, of all there ever were."""
    with connection.cursor() as cursor:
        sql = "SELECT pg_relation_size(reltoastrelid) FROM pg_class WHERE relname = %s"
        cursor.execute(sql, [Embedding._meta.db_table])
        size: int = cursor.fetchone()[0]
    return size


def test_an_empty_conversation_has_no_hits(conversation: Conversation) -> None:
    assert found(conversation, "anything") == []


def test_of_a_huge_message_the_beginning_is_indexed(conversation: Conversation) -> None:
    huge = "Alma " + " ".join(f"word{number}" for number in range(200_000))
    exchange(conversation, "Short?", huge)
    assert index.write(index.unindexed()) == 2
    assert found(conversation, "Alma") == [huge]


def test_each_stemmer_is_one_of_postgresqls() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT cfgname FROM pg_ts_config")
        assert set(STEMMERS.values()) <= {name for (name,) in cursor.fetchall()}
