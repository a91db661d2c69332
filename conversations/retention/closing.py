"""Closing an account: nobody can use it from then on, and a worker erases everything of it, in bounded steps.

It begins with a receipt that is not yet done, so that whoever is killed over it is followed by another.
"""

from collections.abc import Collection, Sequence
from contextlib import suppress
from datetime import datetime
from uuid import UUID

import structlog
from django.conf import settings
from django.core.mail import send_mail
from django.db import transaction
from django.db.models import Q, QuerySet
from django.template.loader import render_to_string
from knox.models import AuthToken

from accounts.models import User
from conversations.models import Conversation, Erasure, Turn
from conversations.pace import keeps_pace
from conversations.refusals import Held, LastAdministrator, TooManyPasswords, WrongPassword
from conversations.retention import accounts, looks, rows
from conversations.retention.erase import Cause, Reason, erased, go_on, insistent, is_mine
from conversations.retention.holds import held, is_held
from conversations.retention.manifest import QUICK

log = structlog.get_logger(__name__)

AT_ONCE = 1000
"""Conversations whose ids are in memory at the same time."""
MOST_PASSWORDS = 5
"""Tried by one person, a minute."""


def refuse_when_kept(user: User, *, is_told: bool) -> None:
    """Whether the account may be closed. `is_told`: who asks knows that it is the last administrator's.

    Raises:
        Held: the account, or one of its conversations.
        LastAdministrator
    """
    if is_held(user):
        raise Held
    if found := held(Conversation.objects.filter(owner=user).values_list("pk", flat=True)):
        raise Held(found)
    if not is_told and is_last_administrator(user):
        raise LastAdministrator


def why_kept(user: User) -> str:
    """The sentence of what keeps the account from being closed at all; empty: nothing does."""
    try:
        refuse_when_kept(user, is_told=True)
    except Held as refusal:
        return str(refusal)
    return ""


def why_not(users: Sequence[User]) -> list[str]:
    """Whose account among these cannot be closed by an administrator, and why. The last of their kind does that
    themselves, where they are asked."""
    kept = [f"{user}: {why}" for user in users if (why := why_kept(user))]
    administrators = set(User.objects.filter(is_superuser=True, is_active=True).values_list("pk", flat=True))
    if administrators and administrators <= {user.pk for user in users}:
        kept.append(str(LastAdministrator()))
    return kept


def expect_password(user: User, password: str) -> None:
    """Whoever has somebody's session, or a token, has not their password.

    Raises:
        WrongPassword, TooManyPasswords
    """
    if not keeps_pace(f"closing:{user.pk}", most=MOST_PASSWORDS):
        raise TooManyPasswords(MOST_PASSWORDS)
    if not user.check_password(password):
        raise WrongPassword


def preview(users: Collection[int]) -> dict[str, int]:
    """What goes with accounts, by table."""
    conversations = Conversation.objects.filter(owner__in=users)
    theirs = rows.counted(conversations.values("pk"))
    return accounts.counted(users) | theirs


def is_last_administrator(user: User) -> bool:
    others = User.objects.filter(is_superuser=True, is_active=True).exclude(pk=user.pk)
    return user.is_superuser and not others.exists()


def close(user: User, *, by: User, is_told: bool, now: datetime) -> Erasure:
    """Let nobody use the account any more; the receipt is not done before a worker has erased everything. Safe to run
    twice.

    Raises:
        Held, LastAdministrator: nothing was changed.
    """
    with transaction.atomic():
        locked = User.objects.select_for_update().get(pk=user.pk)
        begun = Erasure.objects.filter(accounts__contains=[user.pk], erased_at__isnull=True).first()
        if begun is not None:
            return begun
        refuse_when_kept(locked, is_told=is_told)
        locked.is_active = False
        locked.save(update_fields=["is_active"])
        AuthToken.objects.filter(user=locked).delete()
        reason = Reason.ACCOUNT if by.pk == user.pk else Reason.ADMINISTRATOR
        erasure = Cause(reason, by.pk, now).receipt(accounts=[user.pk], erased_at=None)
        erasure.save(force_insert=True)
    return erasure


def resumed(erasure: Erasure, *, now: datetime, is_told: bool = True) -> None:
    """Erase everything of the account, from where somebody was killed; whose it was is told of it by mail.

    Raises:
        Held: an administrator was faster.
        OperationalError: somebody holds a row, and went on holding it.
    """
    cause = Cause.of(erasure, now=now)
    # Live replies first: they stop.
    live = Turn.objects.live().filter(conversation__owner__in=erasure.accounts)
    erased(list(live.values_list("conversation", flat=True)), cause)
    while True:
        while ids := list(_theirs(erasure)[:AT_ONCE]):
            erased(ids, cause)
            go_on(erasure)
        with suppress(MoreCame):
            addresses = _last_step(erasure, now=now)
            break
    if addresses is None:
        return  # Somebody else was faster.
    looks.follow(erasure, QUICK, live=())
    for address in addresses if is_told else ():
        _tell(address, erasure)


class MoreCame(Exception):
    """A conversation was stored behind the last batch: it wants a receipt, too."""


def _theirs(erasure: Erasure) -> "QuerySet[Conversation, UUID]":
    theirs = Conversation.objects.filter(owner__in=erasure.accounts)
    return theirs.order_by("pk").values_list("pk", flat=True)


@insistent
def _last_step(erasure: Erasure, *, now: datetime) -> list[str] | None:
    """The person's own rows, and the receipt; returns the addresses to write to, or None when somebody else did it.

    Raises:
        Held, MoreCame: nothing was changed.
    """
    with transaction.atomic():
        if not is_mine(erasure):
            return None
        users = list(User.objects.select_for_update().filter(pk__in=erasure.accounts))
        for user in users:
            if is_held(user):
                raise Held
        if _theirs(erasure).exists():  # From here on none can be stored: their owner's row is held.
            raise MoreCame
        erasure.counts = accounts.counted(erasure.accounts)
        addresses = [user.email for user in users]
        for user in users:
            accounts.delete(user)
        erasure.erased_at = erasure.next_look_at = now
        erasure.save()
    return addresses


def _tell(address: str, erasure: Erasure) -> None:
    """The person's own receipt. A mail server that is away keeps nothing from being erased."""
    context = {"erasure": erasure, "counts": counts_of(erasure), "url": settings.POCKETCHAT_URL}
    words = render_to_string("account/email/account_closed_message.txt", context)
    try:
        send_mail("Your account is closed", words, None, [address])
    except OSError as error:
        log.warning("closing_not_told", erasure=erasure.pk, error=type(error).__name__)


def counts_of(erasure: Erasure) -> dict[str, int]:
    """Of the whole account: conversations and messages are on the receipts of the parts."""
    totals: dict[str, int] = {}
    parts = Erasure.objects.filter(Q(part_of=erasure) | Q(part_of__part_of=erasure))
    for counts in [erasure.counts, *parts.values_list("counts", flat=True).iterator()]:
        for name, count in counts.items():
            totals[name] = totals.get(name, 0) + count
    return totals
