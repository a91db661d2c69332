"""What a person chooses for themselves: shorter, within limits, and after seeing what goes."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries
from rest_framework.test import APIClient

from accounts.models import User
from conversations.models import Conversation, RetentionChange, RetentionRule
from conversations.retention import holds
from conversations.retention.lives import life_of
from conversations.retention.own import chosen
from tests.factories import make_user
from tests.ruling import aged, no_rule, rule

pytestmark = pytest.mark.django_db

ADDRESS = "/api/v1/me/retention"
DAY = timedelta(days=1)


def shown(response: Any) -> str:
    return " ".join(response.content.decode().split())


def test_the_api_says_what_holds_in_a_sentence_and_in_numbers(api: APIClient) -> None:
    rule(idle_days=90, age_days=400, bin_days=7, least_days=10, may_keep=True)
    told = api.get(ADDRESS).json()
    assert told["sentence"] == (
        "Conversations are deleted 90 days after their last message, and 400 days after they were begun at the latest; "
        "those that are kept stay; what is deleted by hand stays in the bin for 7 days."
    )
    assert told["effective"] == {"idle_days": 90, "age_days": 400, "temporary_hours": None, "bin_days": 7}
    assert told["own"] == {"idle_days": None, "age_days": None, "temporary_hours": None, "bin_days": None}
    assert told["limits"]["idle_days"] == {"least": 10, "most": 90}
    assert told["limits"]["temporary_hours"] == {"least": 1, "most": None}
    assert (told["may_keep"], told["held"]) == (True, False)


def test_a_choice_is_made_by_whoever_saw_what_goes(api: APIClient, owner: User, stranger: User) -> None:
    aged(owner, 40), aged(owner, 10), aged(stranger, 40), aged(stranger, 100)
    rule(idle_days=90)
    refused = api.patch(ADDRESS, {"idle_days": 30}, format="json")
    told = refused.json()
    assert (refused.status_code, told["code"], told["more"]) == (409, "confirmation_needed", 1)
    # Of others it says nothing.
    assert (told["deletes"]["conversations"], told["deletes"]["people"]) == (1, 1)
    assert told["sentence"].startswith("Conversations are deleted 30 days after")
    assert not RetentionRule.objects.filter(scope="own").exists()
    for other in ({"idle_days": 20}, {"idle_days": 30, "bin_days": 0}):
        altered = api.patch(ADDRESS, {**other, "confirm": told["token"]}, format="json")
        assert altered.json()["code"] == "change_not_confirmed"
    made = api.patch(ADDRESS, {"idle_days": 30, "confirm": told["token"]}, format="json")
    assert made.json()["effective"]["idle_days"] == 30
    assert life_of(stranger).idle == 90 * DAY
    assert RetentionChange.objects.latest("pk").by == owner


def test_a_strangers_token_changes_nothing(api: APIClient, stranger: User) -> None:
    token = api.patch(ADDRESS, {"idle_days": 30}, format="json").json()["token"]
    other = APIClient()
    other.force_authenticate(stranger)
    assert other.patch(ADDRESS, {"idle_days": 30, "confirm": token}, format="json").status_code == 409
    assert not RetentionRule.objects.exists()


@pytest.mark.parametrize(
    ("says", "sentence"),
    [
        ({"idle_days": 91}, "from 10 days to 90 days"),
        ({"idle_days": 9}, "from 10 days to 90 days"),
        ({"bin_days": 8}, "from 0 days to 7 days"),
        ({"temporary_hours": 0}, "1 hour or more"),
    ],
)
def test_longer_than_the_rules_or_shorter_than_the_minimum_is_refused_with_the_limits(
    api: APIClient, says: dict[str, int], sentence: str
) -> None:
    rule(idle_days=90, bin_days=7, least_days=10)
    refused = api.patch(ADDRESS, says, format="json")
    assert (refused.status_code, refused.json()["code"]) == (422, "beyond_limits")
    assert sentence in refused.json()["detail"]
    assert refused.json()["field"] == next(iter(says))


def test_a_choice_that_a_new_rule_has_overtaken_is_in_nobodys_way(api: APIClient, owner: User) -> None:
    rule(owner, own=True, idle_days=60)
    rule(idle_days=30)
    assert api.patch(ADDRESS, {"bin_days": 3}, format="json").json()["code"] == "confirmation_needed"


@pytest.mark.parametrize("says", [{"idle_days": -1}, {"idle_days": "soon"}, {"age_days": 10**9}])
def test_nonsense_is_refused_by_its_name(api: APIClient, says: dict[str, Any]) -> None:
    refused = api.patch(ADDRESS, says, format="json")
    assert refused.status_code == 400
    assert next(iter(says)) in refused.json()["fields"]


def test_null_takes_a_choice_back(api: APIClient, owner: User) -> None:
    rule(owner, own=True, idle_days=7)
    token = api.patch(ADDRESS, {"idle_days": None}, format="json").json()["token"]
    api.patch(ADDRESS, {"idle_days": None, "confirm": token}, format="json")
    assert not RetentionRule.objects.exists()


def test_the_page_says_the_sentence_shows_the_damage_and_then_changes(page: Client, owner: User) -> None:
    aged(owner, 40), aged(owner, 50)
    rule(idle_days=90)
    assert "Conversations are deleted 90 days after their last message" in shown(page.get("/data/"))
    asked = shown(page.post("/data/retention/", {"idle_days": "45"}))
    assert "1 of your conversations is older than that" in asked
    token = re.search(r'name="confirm"\s+value="([^"]+)"', asked)
    assert token
    assert life_of(owner).idle == 90 * DAY
    done = shown(page.post("/data/retention/", {"confirm": token[1]}, follow=True))
    assert "Conversations are deleted 45 days after their last message" in done
    assert Conversation.objects.visible_to(owner).count() == 1


def test_the_page_refuses_what_the_rules_do_not_leave(page: Client, owner: User) -> None:
    rule(idle_days=90)
    refused = page.post("/data/retention/", {"idle_days": "91"})
    assert refused.status_code == 422
    assert "from 1 day to 90 days" in shown(refused)
    assert page.post("/data/retention/", {"confirm": "nonsense"}, follow=True).status_code == 200
    assert page.get("/data/retention/")["Location"] == "/data/"
    assert not RetentionRule.objects.filter(scope="own").exists()


def test_a_choice_that_is_not_on_the_page_stays(page: Client, owner: User) -> None:
    rule(owner, own=True, idle_days=60, bin_days=3)
    rule(bin_days=0)
    assert 'name="bin_days"' not in shown(page.get("/data/"))
    asked = shown(page.post("/data/retention/", {"idle_days": "", "age_days": "90", "temporary_hours": ""}))
    token = re.search(r'name="confirm"\s+value="([^"]+)"', asked)
    assert token
    page.post("/data/retention/", {"confirm": token[1]})
    assert chosen(owner) == {"idle_days": None, "age_days": 90, "temporary_hours": None, "bin_days": 3}


def test_who_is_held_is_told_and_chooses_nothing(page: Client, owner: User) -> None:
    holds.place(user=owner, reason="Case 7", by=None, now=timezone.now())
    told = shown(page.get("/data/"))
    assert "A legal hold is in force" in told
    assert "Have it deleted sooner" not in told
    assert "Case 7" not in told


def test_the_privacy_notice_says_the_rules_to_everybody(client: Client, owner: User) -> None:
    rule(idle_days=90, trace_days=30, log_days=14)
    rule(owner, idle_days=200)
    public = shown(client.get("/privacy/"))
    assert "Conversations are deleted 90 days after their last message" in public
    assert "kept for 30 days, log lines for 14 days" in public
    assert "provider of the model" in public
    assert "Backups" in public
    client.force_login(owner)
    assert "Conversations are deleted 200 days after" in shown(client.get("/privacy/"))


def test_a_temporary_conversation_is_begun_where_it_has_a_life(page: Client, owner: User) -> None:
    assert "Temporary" not in shown(page.get("/"))
    refused = page.post("/", {"text": "Hello", "temporary": "on"})
    assert (refused.status_code, Conversation.objects.count()) == (422, 0)
    rule(temporary_hours=48)
    assert "Temporary: deleted 2 days after its last message" in shown(page.get("/"))
    page.post("/", {"text": "Hello", "temporary": "on"})
    made = Conversation.objects.get()
    assert made.temporary
    assert made.ends_at == made.last_activity_at + timedelta(hours=48)
    told = re.sub(r"<[^>]+>", "", shown(page.get(f"/c/{made.pk}/")))
    assert f"Temporary, until {timezone.localtime(made.ends_at):%-d %b, %H:%M}" in told


def test_the_api_begins_temporary_ones_and_keeps_others(api: APIClient, owner: User) -> None:
    address = "/api/v1/conversations"
    assert api.post(address, {"temporary": True}, format="json").json()["code"] == "no_temporary_ones"
    rule(temporary_hours=48, idle_days=30)
    made = api.post(address, {"temporary": True}, format="json").json()
    assert made["temporary"]
    assert made["ends_at"]
    one = f"{address}/{made['id']}"
    assert api.patch(one, {"temporary": False}, format="json").status_code == 400
    assert api.patch(one, {"kept": True}, format="json").json()["code"] == "keeping_not_allowed"
    rule(temporary_hours=48, idle_days=30, may_keep=True)
    kept = api.patch(one, {"kept": True}, format="json").json()
    assert (kept["kept"], kept["temporary"], kept["ends_at"]) == (True, False, None)
    [listed] = api.get(address).json()["results"]
    assert (listed["kept"], listed["ends_at"]) == (True, None)
    assert api.patch(one, {"kept": False}, format="json").json()["ends_at"]


def test_a_list_costs_the_same_however_many_have_an_end(
    api: APIClient, owner: User, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    rule(idle_days=90)
    for days in range(20):
        aged(owner, days)
    with django_assert_num_queries(1):
        ends = [row["ends_at"] for row in api.get("/api/v1/conversations").json()["results"]]
    assert all(ends)
    assert len(ends) == 20


def test_keep_stands_in_the_menu_where_it_may_be_done(page: Client, client: Client, owner: User) -> None:
    one = aged(owner, 10)
    rule(idle_days=30)
    address = f"/c/{one.pk}/"
    assert "Keep from being deleted" not in shown(page.get(address))
    assert "leave you no conversation to keep" in shown(page.post(f"{address}keep/", {"on": "1"}, follow=True))
    rule(idle_days=30, may_keep=True)
    assert "Keep from being deleted" in shown(page.get(address))
    page.get(f"{address}keep/")
    assert not Conversation.objects.get().kept
    assert "Kept: no rule deletes it." in shown(page.post(f"{address}keep/", {"on": "1"}, follow=True))
    assert "No longer keep" in shown(page.get(address))
    page.force_login(make_user())
    assert page.post(f"{address}keep/").status_code == 404
    assert Conversation.objects.get().kept


def test_without_a_bin_deleting_is_for_good_and_is_said_before(page: Client, api: APIClient, owner: User) -> None:
    one, two = aged(owner), aged(owner)
    assert "restored for 30 days" in shown(page.get(f"/c/{one.pk}/delete/"))
    rule(owner, own=True, bin_days=0)
    assert "gone for good, at once" in shown(page.get(f"/c/{one.pk}/delete/"))
    assert "gone for good" in shown(page.post(f"/c/{one.pk}/delete/", follow=True))
    assert api.delete(f"/api/v1/conversations/{two.pk}").status_code == 204
    assert not Conversation.objects.exists()
    no_rule()
