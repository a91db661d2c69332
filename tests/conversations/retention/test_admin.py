"""Rules, holds and purges in the admin: nothing is changed by anybody who has not seen what it does."""

import re
from datetime import timedelta
from uuid import uuid4

import pytest
from django.contrib.auth.models import Permission
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from django_celery_beat.models import IntervalSchedule, PeriodicTask

from accounts.models import User
from conversations import runs
from conversations.models import Conversation, Hold, RetentionChange, RetentionRule, TaskRun
from conversations.refusals import ChangeNotConfirmed
from conversations.retention import changes, holds, schedule
from conversations.retention.changes import Change
from pocketchat.celery import app
from tests.factories import PASSWORD, make_user
from tests.ruling import aged, group_of, rule

pytestmark = pytest.mark.django_db

ADD = "/admin/conversations/retentionrule/add/"
OVERVIEW = "/admin/conversations/retentionrule/overview/"
EVERYONE = {"scope": "everyone", "idle_days": "30"}


@pytest.fixture
def administrator(client: Client) -> Client:
    client.force_login(User.objects.create_superuser("admin@example.org", PASSWORD))
    return client


@pytest.fixture(autouse=True)
def _planned() -> None:
    """As after the migration, every 24 hours and next in twelve; tests that empty the tables take the plan along."""
    daily, _ = IntervalSchedule.objects.get_or_create(every=1, period="days")
    PeriodicTask.objects.filter(task=schedule.TASK).delete()
    last = timezone.now() - timedelta(hours=12)
    PeriodicTask.objects.create(task=schedule.TASK, name="purge", interval=daily, last_run_at=last)


def token_in(page: str) -> str:
    found = re.search(r'name="token"\s+value="([^"]+)"', page)
    assert found, page
    return found[1]


def asked(administrator: Client, address: str, **form: str) -> str:
    """The page that a form leads to, as text."""
    return " ".join(administrator.post(address, form).content.decode().split())


def confirm(administrator: Client, address: str, **form: str) -> None:
    token = token_in(asked(administrator, address, **form))
    assert administrator.post(address, {"token": token})["Location"] == OVERVIEW


def test_a_rule_is_made_after_the_page_that_says_what_it_deletes(administrator: Client, owner: User) -> None:
    aged(owner, 31), aged(owner, 1)
    page = asked(administrator, ADD, **EVERYONE)
    assert "1 more conversation would be out of sight at once" in page
    assert "deleted 30 days after their last message" in page
    assert not RetentionRule.objects.exists()
    administrator.post(ADD, {"token": token_in(page)})
    assert RetentionRule.objects.get().idle_days == 30
    change = RetentionChange.objects.get()
    assert (change.what, str(change.by), change.after["idle_days"]) == ("rule_made", "admin@example.org", 30)
    assert change.due["conversations"] == 1


def test_a_rule_shortened_by_mistake_shows_the_damage(administrator: Client, owner: User) -> None:
    for days in range(20, 380, 20):
        aged(owner, days)
    rule(idle_days=365)
    address = f"/admin/conversations/retentionrule/{RetentionRule.objects.get().pk}/change/"
    page = asked(administrator, address, scope="everyone", idle_days="30")
    assert "17 more conversations would be out of sight at once" in page
    assert RetentionRule.objects.get().idle_days == 365
    assert changes.propose(Change("everyone", {"idle_days": 30}), by=None, now=timezone.now()).more == 17


def test_a_change_that_spares_some_and_ends_others_tells_both(administrator: Client, owner: User) -> None:
    aged(owner, 31), aged(owner, 32), aged(owner, 1, age=400)
    rule(idle_days=30)
    address = f"/admin/conversations/retentionrule/{RetentionRule.objects.get().pk}/change/"
    page = asked(administrator, address, scope="everyone", age_days="90")
    assert "1 more conversation would be out of sight at once" in page
    assert "2 conversations due now would stay" in page


def test_a_rule_is_removed_after_the_same_page(administrator: Client, owner: User) -> None:
    aged(owner, 40)
    rule(idle_days=30)
    address = f"/admin/conversations/retentionrule/{RetentionRule.objects.get().pk}/delete/"
    assert "seen again at once" in administrator.get(address).content.decode()
    administrator.post(address, {"post": "yes"})
    assert RetentionRule.objects.exists()
    confirm(administrator, address)
    assert not RetentionRule.objects.exists()
    assert RetentionChange.objects.latest("pk").what == "rule_removed"


def test_nothing_else_in_the_admin_saves_or_deletes_a_rule(administrator: Client) -> None:
    rule(idle_days=30)
    pk = RetentionRule.objects.get().pk
    changelist = "/admin/conversations/retentionrule/"
    administrator.post(changelist, {"action": "delete_selected", "_selected_action": [pk], "post": "yes"})
    administrator.post(f"{changelist}{pk}/change/", {"scope": "everyone", "idle_days": "1", "_save": "Save"})
    assert RetentionRule.objects.get().idle_days == 30


@pytest.mark.parametrize(
    ("form", "said"),
    [
        ({"scope": "everyone", "idle_days": "0"}, "greater than or equal to 1"),
        ({"scope": "everyone", "idle_days": "30", "forever": "on"}, "not both"),
        ({"scope": "everyone", "least_days": "9", "most_days": "8"}, "must not be more than the maximum"),
        ({"scope": "user", "idle_days": "30"}, "Name the group, or the user"),
        ({"scope": "own", "idle_days": "30"}, "not one of the available choices"),
    ],
)
def test_what_no_rule_may_say_is_told_in_the_form(administrator: Client, form: dict[str, str], said: str) -> None:
    assert said in asked(administrator, ADD, **form)
    assert not RetentionRule.objects.exists()


def test_traces_and_limits_stand_in_the_rule_for_everyone_alone(administrator: Client, owner: User) -> None:
    page = asked(administrator, ADD, scope="group", group=str(group_of(owner).pk), trace_days="30")
    assert "say them in the rule for everyone" in page


def test_a_token_that_is_altered_stale_or_somebody_elses_changes_nothing(owner: User, stranger: User) -> None:
    now = timezone.now()
    token = changes.propose(Change("everyone", {"idle_days": 30}), by=owner, now=now).token
    for bad, by in ((token + "x", owner), (token[:-4], owner), ("", owner), (token, stranger), (token, None)):
        with pytest.raises(ChangeNotConfirmed):
            changes.confirm(bad, by=by, now=now)
    rule(owner, idle_days=200)
    with pytest.raises(ChangeNotConfirmed):
        changes.confirm(token, by=owner, now=now)
    assert list(RetentionRule.objects.values_list("scope", flat=True)) == ["user"]


def test_a_token_for_somebody_who_is_gone_changes_nothing(owner: User, stranger: User) -> None:
    now = timezone.now()
    token = changes.propose(Change("user", {"idle_days": 30}, user_id=stranger.pk), by=owner, now=now).token
    stranger.delete()
    with pytest.raises(ChangeNotConfirmed):
        changes.confirm(token, by=owner, now=now)


def test_a_token_is_good_once_and_for_a_quarter_of_an_hour(owner: User, monkeypatch: pytest.MonkeyPatch) -> None:
    now = timezone.now()
    change = Change("everyone", {"idle_days": 30})
    token = changes.propose(change, by=owner, now=now).token
    with monkeypatch.context() as later:
        later.setattr(changes, "VALID", timedelta(seconds=-1))
        with pytest.raises(ChangeNotConfirmed):
            changes.confirm(token, by=owner, now=now)
    assert changes.confirm(token, by=owner, now=now)
    with pytest.raises(ChangeNotConfirmed):
        changes.confirm(token, by=owner, now=now)


def test_a_stale_confirmation_in_the_admin_says_so(administrator: Client) -> None:
    token = token_in(asked(administrator, ADD, **EVERYONE))
    rule(idle_days=90)
    page = administrator.post(ADD, {"token": token}, follow=True).content.decode()
    assert "Look at the change again" in page
    assert RetentionRule.objects.get().idle_days == 90


def test_what_people_chose_for_themselves_is_seen_and_not_changed(administrator: Client, owner: User) -> None:
    rule(owner, own=True, idle_days=7)
    own = f"/admin/conversations/retentionrule/{RetentionRule.objects.get().pk}"
    assert "7 days after the last message" in administrator.get("/admin/conversations/retentionrule/").content.decode()
    assert administrator.post(f"{own}/change/", {"scope": "own", "idle_days": "1"}).status_code == 403
    assert administrator.post(f"{own}/delete/").status_code == 404


def test_the_overview_says_what_holds_for_whom_and_what_goes_tonight(administrator: Client, owner: User) -> None:
    student, lawyer = make_user(), make_user()
    for person in (owner, student, lawyer):
        aged(person, 29.9), aged(person, 100)
    confirm(administrator, ADD, scope="everyone", idle_days="90")
    confirm(administrator, ADD, scope="group", group=str(group_of(student).pk), idle_days="30")
    administrator.post("/admin/conversations/hold/add/", {"user": lawyer.pk, "reason": "Case 7"})
    page = " ".join(administrator.get(OVERVIEW).content.decode().split())
    assert "Conversations are deleted 90 days after their last message" in page
    assert "1 person</span> <span>Conversations are deleted 30 days" in page
    assert "A legal hold is in force" in page
    # At twelve hours from now one more of the student's is over.
    assert "3 conversations of 2 people" in page
    assert "2 conversations of 2 people" in " ".join(administrator.get(f"{OVERVIEW}?dry-run").content.decode().split())


def test_a_purge_that_did_not_run_for_three_days_is_seen_wherever_one_looks(administrator: Client) -> None:
    now = timezone.now()
    assert "is late" not in administrator.get("/admin/").content.decode()
    runs.record("purge", started_at=now, finished_at=now, did={"conversations": 3})
    assert "is late" not in administrator.get(OVERVIEW).content.decode()
    TaskRun.objects.update(started_at=now - timedelta(days=3), finished_at=now - timedelta(days=3))
    for page in ("/admin/", OVERVIEW):
        assert "The purge is late" in administrator.get(page).content.decode()
    assert "icon-no" in administrator.get("/admin/conversations/taskrun/").content.decode()
    PeriodicTask.objects.update(enabled=False)
    assert "Nothing starts the purge" in administrator.get("/admin/").content.decode()


def test_a_run_that_broke_off_is_no_run(administrator: Client) -> None:
    now = timezone.now()
    runs.record("purge", started_at=now - timedelta(days=3), finished_at=now - timedelta(days=3), did={"failed": 0})
    runs.record("purge", started_at=now, finished_at=now, did={}, error="OperationalError")
    assert schedule.schedule(now).is_late


def test_purges_that_are_started_and_never_come_to_an_end_are_late() -> None:
    """Each start renews the date of the plan."""
    now = timezone.now()
    runs.record("purge", started_at=now, finished_at=now, did={}, error="OperationalError")
    PeriodicTask.objects.update(total_run_count=1)
    assert not schedule.schedule(now).is_late
    PeriodicTask.objects.update(total_run_count=2)
    assert schedule.schedule(now).is_late


def test_the_plan_is_the_administrators_and_a_weekly_purge_is_not_late_after_three_days() -> None:
    now = timezone.now()
    weekly = IntervalSchedule.objects.create(every=7, period="days")
    PeriodicTask.objects.filter(task=schedule.TASK).update(interval=weekly, last_run_at=now - timedelta(days=3))
    TaskRun.objects.create(task="purge", started_at=now - timedelta(days=3), finished_at=now - timedelta(days=3))
    told = schedule.schedule(now)
    assert not told.is_late
    assert told.next_at
    assert timedelta(days=3.9) < told.next_at - now < timedelta(days=4.1)


def test_run_now_queues_a_purge(administrator: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    queued: list[str] = []
    monkeypatch.setattr(app, "send_task", lambda name, *_, **__: queued.append(name))
    assert administrator.get(f"{OVERVIEW}run/").status_code == 405
    administrator.post(f"{OVERVIEW}run/")
    assert queued == ["conversations.purge"]


def test_only_who_may_see_and_change_rules_does(client: Client, owner: User) -> None:
    owner.is_staff = True
    owner.save()
    client.force_login(owner)
    assert client.get(OVERVIEW).status_code == 403
    owner.user_permissions.add(Permission.objects.get(codename="view_retentionrule"))
    client.force_login(User.objects.get(pk=owner.pk))
    assert client.get(OVERVIEW).status_code == 200
    assert "Run now" not in client.get(OVERVIEW).content.decode()
    assert client.post(f"{OVERVIEW}run/").status_code == 403
    assert client.post(ADD, EVERYONE).status_code == 403
    token = changes.propose(Change("everyone", {"idle_days": 1}), by=owner, now=timezone.now()).token
    assert client.post(ADD, {"token": token}).status_code == 403
    assert not RetentionRule.objects.exists()
    client.force_login(make_user())
    assert client.get(OVERVIEW).status_code == 302


def test_before_a_hold_is_lifted_it_is_said_what_goes_then(administrator: Client, owner: User, stranger: User) -> None:
    aged(owner, 40), aged(owner, 50), aged(owner, 1), aged(stranger, 60)
    rule(idle_days=30)
    hold = holds.place(user=owner, reason="Case 7", by=None, now=timezone.now())
    page = administrator.get(f"/admin/conversations/hold/{hold.pk}/lift/").content.decode()
    assert "2 more conversations would be out of sight at once" in " ".join(page.split())
    assert Hold.objects.lasting().filter(pk=hold.pk).exists()
    assert not RetentionChange.objects.filter(what="hold_lifted").exists()


def test_holds_are_placed_and_lifted_and_never_deleted(administrator: Client, conversation: Conversation) -> None:
    add = "/admin/conversations/hold/add/"
    both = {"user": str(conversation.owner.pk), "conversation": str(conversation.pk)}
    for wrong in ({}, both):
        assert "one of the two" in asked(administrator, add, reason="Case 7", **wrong)
    assert "no conversation of this id" in asked(administrator, add, reason="x", conversation=str(uuid4()))
    assert "not a valid UUID" in asked(administrator, add, reason="x", conversation="nonsense")
    administrator.post(add, {"conversation": conversation.pk, "reason": "Case 7"})
    hold = Hold.objects.get()
    assert (str(hold.placed_by), hold.reason) == ("admin@example.org", "Case 7")
    address = f"/admin/conversations/hold/{hold.pk}"
    assert "Lift this hold" in administrator.get(f"{address}/change/").content.decode()
    assert administrator.post(f"{address}/delete/").status_code == 403
    administrator.get(f"{address}/lift/")
    assert Hold.objects.lasting().exists()
    administrator.post(f"{address}/lift/")
    hold.refresh_from_db()
    assert (str(hold.lifted_by), holds.held([conversation.pk])) == ("admin@example.org", set())
    told = RetentionChange.objects.order_by("pk").values_list("what", flat=True)
    assert list(told) == ["hold_placed", "hold_lifted"]


def test_changes_can_be_searched_and_nobody_changes_them(administrator: Client, owner: User) -> None:
    rule(owner, idle_days=30)
    rule(idle_days=90)
    address = reverse("admin:conversations_retentionchange_changelist")
    page = administrator.get(address, {"q": owner.email}).content.decode()
    assert "30 days after the last message" in page
    assert "90 days after the last message" not in page
    change = RetentionChange.objects.latest("pk")
    assert administrator.post(f"{address}{change.pk}/delete/").status_code == 403
    assert administrator.post(f"{address}{change.pk}/change/", {}).status_code == 403
