"""Each store of the manifest: what is put there is found, erased, and found no more; without it, it would stay."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from uuid import uuid4

import pytest
from django.conf import settings as django_settings
from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.contenttypes.models import ContentType
from django.core.cache import cache
from django.test import Client
from django.utils import timezone
from pytest_django import Settings
from redis import Redis

from accounts.models import User
from accounts.tokens import issue
from conversations import handing_over
from conversations.models import Conversation, Erasure, Turn
from conversations.retention import finishing, looks, manifest
from conversations.retention.ids import Ids
from conversations.streams import announce_end, may_requeue, seal, stream_key
from conversations.transfer import files as exported
from conversations.transfer.incoming import files as imported
from pocketchat import celery_app
from pocketchat.embedded.places import Places
from tests.factories import exchange, make_conversation, make_user

pytestmark = pytest.mark.django_db


@dataclass
class Named:
    """What an erasure names."""

    conversation: Conversation
    turn: Turn
    user: User

    @property
    def ids(self) -> Ids:
        return Ids(frozenset([self.conversation.pk]), frozenset([self.turn.pk]), frozenset([self.user.pk]))

    def receipt(self) -> Erasure:
        """Of an erasure whose rows are said to be gone."""
        now = timezone.now()
        named = {"conversations": [self.conversation.pk], "turns": [self.turn.pk], "accounts": [self.user.pk]}
        return Erasure.objects.create(reason="owner", erased_at=now, next_look_at=now, **named)


@pytest.fixture
def named() -> Named:
    """Ids of rows that are gone."""
    user = make_user()
    conversation = Conversation(owner=user, request_key="1")
    return Named(conversation, Turn(conversation=conversation), user)


@pytest.fixture(autouse=True)
def places(settings: Settings, tmp_path: Path) -> Places:
    settings.PLACES = Places(var=tmp_path)
    settings.PLACES.logs.mkdir()
    return Places(var=tmp_path)


@pytest.fixture(autouse=True)
def _empty_queues() -> Iterator[None]:
    yield
    with Redis.from_url(django_settings.REDIS_URL) as redis:
        redis.delete("replies", "background", "unacked", "unacked_index")


def put_rows(named: Named) -> None:
    named.conversation = make_conversation(named.user)
    named.turn = exchange(named.conversation)


def put_account(named: Named) -> None:
    issue(named.user, life=None)
    Client().force_login(named.user)
    LogEntry.objects.create(
        user=named.user,
        content_type=ContentType.objects.get_for_model(User),
        object_id=str(named.user.pk),
        object_repr=named.user.email,
        action_flag=CHANGE,
    )


def put_export(named: Named) -> None:
    """Its row is gone with the account; the file is not."""
    path = exported.path_of(named.user.pk, uuid4())
    path.parent.mkdir(parents=True)
    path.write_bytes(b"PK")


def put_import(named: Named) -> None:
    path = imported.path_of(named.user.pk, uuid4())
    path.parent.mkdir(parents=True)
    path.write_bytes(b"[]")


def put_streams(named: Named) -> None:
    announce_end(named.turn.pk, "complete")


def put_notes(named: Named) -> None:
    assert may_requeue(named.turn.pk)
    cache.add(f"rolling:{named.conversation.pk}", 1, timeout=60)
    cache.add(f"pace:suggestions:{named.user.pk}", 1, timeout=60)


def put_queue(named: Named) -> None:
    assert handing_over.enqueue_answer(named.turn.pk)
    assert handing_over.enqueue_title(named.conversation.pk)
    assert handing_over.enqueue_title(uuid4())
    with Redis.from_url(django_settings.REDIS_URL) as redis:
        # As kombu keeps what a worker has taken.
        taken = redis.rpop("replies")
        redis.hset("unacked", "tag", json.dumps([json.loads(taken), "", "replies"]))
        redis.zadd("unacked_index", {"tag": 1})


def put_log_lines(named: Named) -> None:
    path = django_settings.PLACES.logs / "web.jsonl"
    lines = [{"turn": str(named.turn.pk)}, {"key": stream_key(named.turn.pk)}, {"turn": str(uuid4())}]
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))


PUT: dict[str, tuple[Callable[[Named], None], int]] = {
    "rows": (put_rows, 6 + 1),
    "account": (put_account, 4),
    "exports": (put_export, 1),
    "imports": (put_import, 1),
    "streams": (put_streams, 1),
    "notes": (put_notes, 3),
    "queue": (put_queue, 2),
    "log lines": (put_log_lines, 2),
}


def test_every_store_is_tried_here() -> None:
    assert [store.name for store in manifest.STORES] == list(PUT)


@pytest.mark.parametrize("name", PUT)
def test_what_is_in_it_is_found_and_erased(named: Named, name: str) -> None:
    (store,) = (store for store in manifest.STORES if store.name == name)
    put, count = PUT[name]
    if name != "account":
        User.objects.filter(pk=named.user.pk).delete() if name != "rows" else None
    assert store.find(Ids()) == 0
    put(named)
    ids = named.ids if name != "rows" else Ids(named.ids.conversations, named.ids.turns)
    assert store.find(ids) == count
    assert store.find(Ids(frozenset([uuid4()]), frozenset([uuid4()]))) == 0
    assert store.erase(ids) > 0
    assert store.find(ids) == 0
    assert store.erase(ids) == 0


@pytest.mark.parametrize("name", PUT)
def test_an_erasure_without_it_would_leave_something(named: Named, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    store = next(store for store in manifest.STORES if store.name == name)
    others = [other for other in manifest.STORES if other.name != name]
    PUT[name][0](named)
    named.receipt()
    monkeypatch.setattr(finishing, "STORES", others)
    if name == "rows":  # Whose owner is a row, too, that does not go without them.
        monkeypatch.setattr(finishing, "STORES", [other for other in others if other.name != "account"])
    finishing.finish(now=timezone.now())
    assert store.find(named.ids) > 0
    monkeypatch.setattr(finishing, "STORES", manifest.STORES)
    finishing.finish(now=timezone.now() + timedelta(hours=1))
    assert store.find(named.ids) == 0
    assert Erasure.objects.get().is_verified


def test_the_seal_of_a_stream_is_no_leftover(named: Named) -> None:
    seal([named.turn.pk])
    (streams,) = (store for store in manifest.STORES if store.name == "streams")
    assert streams.find(named.ids) == streams.erase(named.ids) == 0
    with Redis.from_url(django_settings.REDIS_URL) as redis:
        assert redis.delete(stream_key(named.turn.pk)) == 1


class Broken:
    """A place that cannot be reached, or that says it has erased and has not."""

    name = "attic"

    def __init__(self, *, raises: bool) -> None:
        self.raises, self.left = raises, 1

    def erase(self, ids: Ids) -> int:
        if self.raises:
            raise OSError("zq is not for logs")
        return 1

    def find(self, ids: Ids) -> int:
        return self.left


@pytest.mark.parametrize(("raises", "told"), [(True, "OSError"), (False, 1)])
def test_a_store_that_fails_or_is_not_clean_leaves_the_receipt_unverified_and_is_tried_again(
    named: Named, raises: bool, told: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = Broken(raises=raises)
    named.user.delete()
    receipt = named.receipt()
    put_log_lines(named)
    monkeypatch.setattr(finishing, "STORES", [broken, *manifest.STORES])
    now = timezone.now()
    assert finishing.finish(now=now) == finishing.Finished(1, 1)
    receipt.refresh_from_db()
    assert (receipt.is_verified, receipt.left) == (False, {"attic": told})
    assert receipt.counts["log lines"] == 2, "no store that fails keeps the others from being erased"
    assert receipt.next_look_at == now + looks.FIRST_PAUSE
    broken.raises, broken.left = False, 0
    assert finishing.finish(now=now + looks.FIRST_PAUSE) == finishing.Finished(1, 0)
    receipt.refresh_from_db()
    assert (receipt.is_verified, receipt.left) == (True, {})


def test_many_receipts_read_the_log_once(named: Named, monkeypatch: pytest.MonkeyPatch) -> None:
    named.user.delete()
    put_log_lines(named)
    others = [Named(Conversation(), Turn(), User(pk=10_000 + number)).receipt() for number in range(5)]
    receipt = named.receipt()
    finishing.finish(now=timezone.now())
    receipt.refresh_from_db()
    assert receipt.counts == {"log lines": 2}
    assert all(Erasure.objects.get(pk=other.pk).counts == {} for other in others)


def test_a_task_that_names_nothing_of_it_stays_in_the_queue(named: Named) -> None:
    put_queue(named)
    (queue,) = (store for store in manifest.STORES if store.name == "queue")
    queue.erase(named.ids)
    with Redis.from_url(django_settings.REDIS_URL) as redis:
        assert redis.llen("replies") == 1
        assert not redis.exists("unacked", "unacked_index")


def test_the_queues_of_the_settings_are_those_of_celery() -> None:
    from_routes = {celery_app.amqp.router.route({}, name)["queue"].name for name in celery_app.tasks}
    assert from_routes - {"celery"} <= {"replies", "background"}
