"""Who is put into a group with a rule, or taken out, is put there after somebody has seen what that deletes."""

import re
from datetime import timedelta

import pytest
from django.contrib.auth.models import Group, Permission
from django.test import Client
from django.utils import timezone

from accounts.models import User
from conversations.models import RetentionChange
from conversations.refusals import ChangeNotConfirmed
from conversations.retention import changes, memberships
from conversations.retention.changes import Change
from tests.factories import PASSWORD, make_user
from tests.ruling import aged, group_of, rule

pytestmark = pytest.mark.django_db


@pytest.fixture
def admin() -> User:
    return User.objects.create_superuser("admin@example.org", PASSWORD)


@pytest.fixture
def administrator(client: Client, admin: User) -> Client:
    client.force_login(admin)
    return client


@pytest.fixture
def students() -> Group:
    group = group_of(name="students")
    rule(group=group, idle_days=30)
    return group


def form_of(user: User, *groups: Group) -> dict[str, object]:
    joined = {"date_joined_0": "2026-01-01", "date_joined_1": "00:00:00"}
    return {"email": user.email, "is_active": "on", "is_staff": "on", "groups": [one.pk for one in groups], **joined}


def sent(administrator: Client, user: User, *groups: Group) -> str:
    """Where the form of an account leads to."""
    response = administrator.post(f"/admin/accounts/user/{user.pk}/change/", form_of(user, *groups))
    assert response.status_code == 302, response.content.decode()
    return str(response["Location"])


def test_putting_somebody_into_a_group_shows_what_goes_and_waits(
    administrator: Client, owner: User, stranger: User, students: Group
) -> None:
    aged(owner, 31), aged(owner, 29), aged(stranger, 31)
    plain = Group.objects.create(name="editors")
    address = sent(administrator, owner, students, plain)
    owner.refresh_from_db()
    assert owner.is_staff, "the rest of the form is saved"
    assert [*owner.groups.all()] == [plain]
    page = " ".join(administrator.get(address).content.decode().split())
    assert "owner@example.org would be in students" in page
    assert "1 more conversation would be out of sight at once" in page
    token = re.search(r'name="token"\s+value="([^"]+)"', page)
    assert token
    administrator.post(address, {"token": token[1]})
    assert {*owner.groups.all()} == {plain, students}
    change = RetentionChange.objects.latest("pk")
    assert (change.what, change.user, change.due["conversations"]) == ("membership", owner, 1)
    assert (
        "in no group with a rule → in students"
        in administrator.get("/admin/conversations/retentionchange/").content.decode()
    )


def test_so_does_taking_them_out(administrator: Client, owner: User, students: Group) -> None:
    group_of(owner)
    aged(owner, 31)
    address = sent(administrator, owner)
    assert owner.groups.filter(pk=students.pk).exists()
    assert "1 conversation due now would stay" in administrator.get(address).content.decode()


def test_groups_without_rules_are_changed_at_once(administrator: Client, owner: User, students: Group) -> None:
    group_of(owner)
    plain = Group.objects.create(name="editors")
    assert sent(administrator, owner, students, plain) == "/admin/accounts/user/"
    assert {*owner.groups.all()} == {plain, students}


def test_nobody_confirms_what_they_have_not_seen(owner: User, admin: User, students: Group) -> None:
    now = timezone.now()
    token = memberships.propose(owner, [students.pk], by=admin, now=now).token
    for spoilt, user, by in (
        (token[:-1], owner, admin),
        ("", owner, admin),
        (token, owner, make_user()),
        (token, admin, admin),
    ):
        with pytest.raises(ChangeNotConfirmed):
            memberships.confirm(spoilt, user=user, by=by, now=now)
    rule(group=students, idle_days=1)
    with pytest.raises(ChangeNotConfirmed):
        memberships.confirm(token, user=owner, by=admin, now=now)
    token = memberships.propose(owner, [students.pk], by=admin, now=now).token
    memberships.confirm(token, user=owner, by=admin, now=now)
    with pytest.raises(ChangeNotConfirmed):
        memberships.confirm(token, user=owner, by=admin, now=now + timedelta(seconds=1))


def test_a_proposal_changes_nothing(owner: User, admin: User, students: Group) -> None:
    aged(owner, 31)
    proposal = memberships.propose(owner, [students.pk], by=admin, now=timezone.now())
    assert (proposal.more, proposal.then.people) == (1, 1)
    assert proposal.lives[0][0].startswith("Conversations are deleted 30 days after")
    assert not owner.groups.exists()


def test_a_rule_shown_before_somebody_joined_its_group_is_shown_again(
    owner: User, admin: User, students: Group
) -> None:
    """What was shown no longer says whom it concerns."""
    from_now = timezone.now()
    page = memberships.propose(owner, [students.pk], by=admin, now=from_now)
    from_rule = Change("group", {"idle_days": 7}, group_id=students.pk)
    token = changes.propose(from_rule, by=admin, now=from_now).token
    memberships.confirm(page.token, user=owner, by=admin, now=from_now)
    with pytest.raises(ChangeNotConfirmed):
        changes.confirm(token, by=admin, now=from_now)


def test_so_is_the_first_rule_of_a_group(administrator: Client, owner: User, admin: User) -> None:
    """Who enters a group without a rule is not asked about."""
    group, now = Group.objects.create(name="editors"), timezone.now()
    token = changes.propose(Change("group", {"idle_days": 7}, group_id=group.pk), by=admin, now=now).token
    assert sent(administrator, owner, group) == "/admin/accounts/user/"
    with pytest.raises(ChangeNotConfirmed):
        changes.confirm(token, by=admin, now=now)


def test_only_who_may_change_accounts_sees_it(client: Client, owner: User, students: Group) -> None:
    address = f"/admin/accounts/user/{owner.pk}/membership/?group={students.pk}"
    staff = User.objects.create_user("staff@example.org", PASSWORD, is_staff=True)
    staff.user_permissions.add(Permission.objects.get(codename="view_user"))
    client.force_login(staff)
    assert client.get(address).status_code == 403
    assert client.post(address, {"token": "x"}).status_code == 403
    client.logout()
    assert client.get(address).status_code == 302
