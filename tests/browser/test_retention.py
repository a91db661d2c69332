"""An administrator says how long conversations are kept, sees what that deletes, and has it deleted; a person reads
what holds for them, and chooses less."""

from datetime import timedelta
from pathlib import Path

import pytest
from django.utils import timezone
from django_celery_beat.models import IntervalSchedule, PeriodicTask
from playwright.sync_api import Page, expect

from accounts.models import User
from conversations.models import Conversation, RetentionRule, TaskRun
from conversations.retention import holds, schedule
from pocketchat.embedded.process import wait_until
from tests.browser.conftest import Visit
from tests.browser.pictures import snap
from tests.factories import exchange, make_user
from tests.ruling import aged, group_of, rule

pytestmark = [pytest.mark.browser, pytest.mark.stack, pytest.mark.django_db(transaction=True)]

OVERVIEW = "/admin/conversations/retentionrule/overview/"


@pytest.fixture
def planned() -> None:
    """The tables may have been emptied by another test, the plan of the purge among them."""
    daily, _ = IntervalSchedule.objects.get_or_create(every=1, period="days")
    last = timezone.now() - timedelta(hours=12)
    PeriodicTask.objects.all().delete()
    PeriodicTask.objects.create(task=schedule.TASK, name="delete what is over", interval=daily, last_run_at=last)


def old(owner: User, *days: int) -> None:
    for number in days:
        one = aged(owner, number)
        exchange(one, "How do I bake bread?", "With flour, water and patience.")
        Conversation.objects.filter(pk=one.pk).update(last_activity_at=timezone.now() - timedelta(days=number))


def confirm(page: Page) -> None:
    page.get_by_role("button", name="Yes, change the rules").click()
    page.wait_for_url(f"**{OVERVIEW}")


def test_an_administrator_sets_rules_sees_the_damage_and_purges(
    visit: Visit, person: User, planned: None, pictures: Path | None
) -> None:
    person.is_staff = person.is_superuser = True
    person.save()
    student, lawyer = make_user("student@example.org"), make_user("lawyer@example.org")
    group_of(student)
    for someone in (person, student, lawyer):
        old(someone, 10, 40, 100, 400)
    holds.place(user=lawyer, reason="Case 7", by=person, now=timezone.now())

    page = visit.log_in(person, OVERVIEW)
    snap(page, pictures, "admin-before")
    page.get_by_role("link", name="Rules", exact=True).click()
    page.get_by_role("link", name="Add retention rule").click()
    page.get_by_label("For:").select_option("everyone")
    page.get_by_label("Days after the last message:").fill("90")
    snap(page, pictures, "admin-rule")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_text("4 more conversations would be out of sight at once")).to_be_visible()
    snap(page, pictures, "admin-confirm")
    confirm(page)

    page.goto(f"{visit.address}/admin/conversations/retentionrule/add/")
    page.get_by_label("For:").select_option("group")
    page.get_by_label("Group:").select_option("students")
    page.get_by_label("Days after the last message:").fill("30")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_text("1 more conversation would be out of sight at once")).to_be_visible()
    confirm(page)
    expect(page.get_by_text("5 conversations of 2 people")).to_be_visible()
    expect(page.get_by_text("A legal hold is in force")).to_be_visible()
    snap(page, pictures, "admin-overview")

    page.get_by_role("button", name="Run now").click()
    expect(page.get_by_text("A purge has been started")).to_be_visible()
    assert wait_until(lambda: TaskRun.objects.filter(task="purge").exists(), seconds=15)
    assert Conversation.objects.count() == 7
    page.goto(visit.address + OVERVIEW)
    expect(page.get_by_text("Deleted: 5 conversations")).to_be_visible()
    snap(page, pictures, "admin-after")
    page.goto(f"{visit.address}/admin/conversations/retentionchange/")
    expect(page.get_by_text("30 days after the last message")).to_be_visible()
    snap(page, pictures, "admin-changes")
    page.goto(f"{visit.address}/admin/")
    snap(page, pictures, "admin-index")


def test_a_person_reads_what_holds_chooses_less_and_keeps_one(
    visit: Visit, person: User, pictures: Path | None
) -> None:
    rule(idle_days=90, temporary_hours=24, may_keep=True)
    old(person, 10, 40)
    page = visit.log_in(person)
    page.get_by_label("Temporary: deleted 1 day after its last message").check()
    snap(page, pictures, "home")
    visit.ask("What is the capital of France?")
    expect(page.locator(".bar-badge")).to_contain_text("Temporary, until")
    expect(page.get_by_role("button", name="Send")).to_be_visible()
    snap(page, pictures, "temporary")
    page.get_by_label("More for this conversation").click()
    snap(page, pictures, "menu", again=lambda: page.locator("#conversation-menu").evaluate("menu => menu.open = true"))
    page.get_by_role("button", name="Keep from being deleted").click()
    expect(page.locator(".bar-badge")).to_have_text("Kept")
    assert Conversation.objects.get(kept=True).temporary is False

    visit.go("/data/")
    page.get_by_text("Have it deleted sooner").click()
    page.get_by_label("Days after the last message").fill("30")
    snap(page, pictures, "data")
    page.get_by_role("button", name="See what goes").click()
    expect(page.get_by_text("1 of your conversations is older than that")).to_be_visible()
    snap(page, pictures, "confirm")
    page.get_by_role("button", name="Yes, delete sooner").click()
    expect(page.get_by_role("status").get_by_text("30 days after their last message")).to_be_visible()
    assert RetentionRule.objects.get(scope="own").idle_days == 30
    page.get_by_role("link", name="Privacy notice").first.click()
    expect(page.get_by_text("outside of our reach")).to_be_visible()
    snap(page, pictures, "privacy")
