"""What a rule has ended exists for nobody any more, at once, whoever reads by whatever address."""

from collections.abc import Iterator
from datetime import timedelta
from io import StringIO
from uuid import UUID

import pytest
from django.core.management import call_command
from django.db import connection
from django.http import Http404
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import URLPattern, URLResolver, get_resolver, reverse
from django.utils import timezone

from accounts.models import User
from conversations import access, tree
from conversations.beginnings import begin
from conversations.listing import SIDEBAR
from conversations.memory import ConversationMemory, UnknownConversation
from conversations.models import Conversation, Embedding, Turn
from conversations.retention import holds
from tests.conversations.transfer.rich import PIXEL
from tests.factories import exchange, make_conversation
from tests.ruling import aged, no_rule, rule

pytestmark = pytest.mark.django_db

IDS = {"conversation_id", "turn_id", "message_id"}
OTHERS = {"number", "export_id", "import_id", "name"}
"""An export is a file of what was there when it was made, and has an end of its own; an import tells what became of a
file, with titles of what its owner may see; the name of a format; which picture of a message."""
METHODS = ("post", "put", "patch", "delete")
TITLE = "A walk in the fens"


def addresses(resolver: URLResolver | None = None, names: tuple[str, ...] = ()) -> Iterator[tuple[str, set[str]]]:
    """Every named address of conversations, with the ids it takes."""
    for one in (resolver or get_resolver()).url_patterns:
        if isinstance(one, URLResolver):
            yield from addresses(one, (*names, one.namespace) if one.namespace else names)
        elif isinstance(one, URLPattern) and names[:1] == ("conversations",):
            yield ":".join((*names, one.name or "?")), set(one.pattern.converters)


ADDRESSES = sorted(addresses(), key=lambda pair: pair[0])
OF_ONE = [(name, sorted(ids)) for name, ids in ADDRESSES if ids & IDS]
OF_ALL = [name for name, ids in ADDRESSES if not ids]


@pytest.fixture
def turn(owner: User) -> Turn:
    """Of a conversation whose last message is 40 days old."""
    made = exchange(make_conversation(owner, title=TITLE, title_source="user"), "Where?", "In the fens.")
    made.prompt.content = [*made.prompt.content, {"type": "image", "media_type": "image/png", "data": PIXEL}]
    made.prompt.save(update_fields=["content"])
    then = timezone.now() - timedelta(days=40)
    Conversation.objects.update(last_activity_at=then, created_at=then)
    return made


def test_every_address_that_takes_an_id_is_known_here() -> None:
    """Whoever adds one that takes another kind of id says here how that is denied."""
    assert not [(name, ids) for name, ids in ADDRESSES if ids - IDS - OTHERS]


@pytest.mark.parametrize(("name", "ids"), OF_ONE, ids=lambda value: value if isinstance(value, str) else "")
def test_an_expired_conversation_has_no_address(page: Client, turn: Turn, name: str, ids: list[str]) -> None:
    known = {"conversation_id": turn.conversation_id, "turn_id": turn.pk, "message_id": turn.prompt_id}
    known |= {"name": "json", "number": 1}
    address = reverse(name, kwargs={one: known[one] for one in ids})
    rule(idle_days=30)
    sent = {"data": {}, "content_type": "application/json"}
    answers = {method: getattr(page, method)(address, **sent).status_code for method in METHODS}
    answers["get"] = page.get(address, {"q": "fens"}).status_code
    assert set(answers.values()) <= {404, 405}, answers
    assert 404 in answers.values()


@pytest.mark.parametrize("name", OF_ALL)
def test_an_expired_conversation_stands_in_no_list(page: Client, turn: Turn, name: str) -> None:
    rule(idle_days=30)
    shown = page.get(reverse(name), {"q": "fens"})
    assert TITLE not in shown.content.decode()
    assert str(turn.conversation_id) not in shown.content.decode()


def test_it_is_there_until_it_is_over_and_there_again_when_the_rule_is_gone(page: Client, turn: Turn) -> None:
    address = reverse("conversations:conversation", args=[turn.conversation_id])
    rule(idle_days=41)
    assert TITLE in page.get(address).content.decode()
    rule(idle_days=40)
    assert page.get(address).status_code == 404
    no_rule()
    assert page.get(address).status_code == 200


def test_what_asks_for_conversations_in_other_ways_does_not_find_it_either(owner: User, turn: Turn) -> None:
    memory = ConversationMemory.open(conversation_id=turn.conversation_id)
    rule(idle_days=30)
    with pytest.raises(UnknownConversation):
        memory.recent()
    with pytest.raises(UnknownConversation):
        memory.add("user", "Hello?")
    with pytest.raises(Http404):
        tree.locked(turn.conversation_id)
    with pytest.raises(Http404):
        begin(owner, request_key=turn.conversation.request_key)
    assert not access.sees_live_turn(owner, turn.pk)


def test_nothing_of_it_is_read_to_an_embedder(turn: Turn, owner: User) -> None:
    exchange(aged(owner, 1))
    rule(idle_days=30)
    out = StringIO()
    call_command("index_messages", stdout=out)
    assert out.getvalue().splitlines()[-1] == "2 messages were put into the index."
    assert not Embedding.objects.filter(conversation=turn.conversation_id).exists()


def seen(user: User) -> set[UUID]:
    return set(access.conversations_of(user).values_list("pk", flat=True))


def test_renaming_does_not_make_it_younger_and_a_rule_for_one_ends_nothing_of_another(
    owner: User, stranger: User
) -> None:
    mine, theirs = aged(owner, 40, age=400), aged(stranger, 40, age=400)
    mine.title, mine.title_source, mine.pinned = "New", "user", True
    mine.save()
    rule(owner, idle_days=30)
    assert (seen(owner), seen(stranger)) == (set(), {theirs.pk})


def test_what_is_over_by_its_age_is_over_though_it_goes_on(owner: User) -> None:
    aged(owner, 1, age=400)
    young = aged(owner, 1, age=300)
    rule(age_days=365)
    assert seen(owner) == {young.pk}


def test_a_temporary_one_ends_by_its_own_life_and_others_do_not(owner: User) -> None:
    aged(owner, 2, temporary=True)
    others = {aged(owner, 2).pk, aged(owner, 0.5, temporary=True).pk}
    rule(temporary_hours=24)
    assert seen(owner) == others


def test_what_is_kept_stays_where_it_may(owner: User) -> None:
    kept = aged(owner, 400, kept=True)
    rule(idle_days=30, age_days=60)
    assert seen(owner) == set()
    rule(idle_days=30, age_days=60, may_keep=True)
    assert seen(owner) == {kept.pk}


def test_what_is_held_stays_itself_or_with_its_owner(owner: User, stranger: User) -> None:
    held, other, theirs = aged(owner, 400), aged(owner, 400), aged(stranger, 400)
    rule(idle_days=30)
    holds.place(conversation=held, reason="Case 7", by=None, now=timezone.now())
    assert (seen(owner), seen(stranger)) == ({held.pk}, set())
    hold = holds.place(user=stranger, reason="Case 8", by=None, now=timezone.now())
    assert seen(stranger) == {theirs.pk}
    holds.lift(hold, by=None, now=timezone.now())
    assert seen(stranger) == set()
    assert other.pk not in seen(owner)


def test_what_is_in_the_bin_for_long_enough_is_not_in_it_any_more(owner: User) -> None:
    now = timezone.now()
    aged(owner, 50, trashed_at=now - timedelta(days=8))
    fresh = aged(owner, 50, trashed_at=now - timedelta(days=6))
    rule(bin_days=7)
    assert set(Conversation.objects.in_bin_of(owner)) == {fresh}
    rule(bin_days=7, idle_days=30)
    assert not Conversation.objects.in_bin_of(owner).exists()


def test_the_condition_costs_no_query_and_keeps_the_order_of_the_index(owner: User) -> None:
    """With many conversations the first page of the sidebar is read from its index, and nothing is sorted."""
    now = timezone.now()
    rule(idle_days=90, age_days=400, temporary_hours=24, may_keep=True)
    Conversation.objects.bulk_create(
        Conversation(owner=owner, request_key=str(number), last_activity_at=now - timedelta(minutes=number))
        for number in range(5000)
    )
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE conversations_conversation, conversations_retentionrule, accounts_user")
    shown = access.conversations_of(owner).shown().order_by(*SIDEBAR.fields)[:51]
    with CaptureQueriesContext(connection) as queries:
        assert len(list(shown)) == 51
    assert len(queries) == 1
    plan = shown.explain(analyze=True, timing=False)
    assert "conversation_list" in plan, plan
    assert "Sort" not in plan.split("conversation_list")[0], plan
