"""A rule for how long conversations are kept: for everyone, for a group, for one user, or one's own."""

from typing import Any

from django.conf import settings
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import F, Q

MOST_DAYS = 36_500
MOST_HOURS = MOST_DAYS * 24


class Unconfirmed(RuntimeError):
    """Rules are changed by `retention.changes` alone, which shows what a change deletes before it is made."""

    def __init__(self) -> None:
        super().__init__("Propose the change with conversations.retention.changes, look at it, and confirm it.")


class RuleQuerySet(models.QuerySet[Any]):
    """For reading."""

    def _refuse(self, *args: Any, **kwargs: Any) -> Any:  # noqa: ARG002  # of whatever it stands for
        raise Unconfirmed

    update = delete = bulk_create = bulk_update = _refuse
    delete.alters_data = True  # type: ignore[attr-defined]  # no template may call it


def days(least: int, help_text: str) -> "models.PositiveIntegerField[int | None, int | None]":
    return models.PositiveIntegerField(
        null=True,
        blank=True,
        validators=[MinValueValidator(least), MaxValueValidator(MOST_DAYS)],
        help_text=help_text,
    )


class RetentionRule(models.Model):
    """What is left empty is decided by the next wider rule: user, then group (the strictest), then everyone.

    It is written by `retention.changes` alone, after somebody has seen what it does. A day is 24 hours, whatever the
    clocks do.
    """

    class Scope(models.TextChoices):
        EVERYONE = "everyone", "everyone"
        GROUP = "group", "a group"
        USER = "user", "one user"
        OWN = "own", "one’s own choice"

    id = models.BigAutoField(primary_key=True)
    scope = models.CharField(max_length=8, choices=Scope.choices, verbose_name="for")
    group = models.ForeignKey("auth.Group", null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.CASCADE, related_name="retention_rules"
    )
    idle_days = days(1, "Days after its last message after which a conversation is deleted.")
    age_days = days(1, "Days after its beginning after which a conversation is deleted, whatever happens in it.")
    forever = models.BooleanField(
        "for ever",
        default=False,
        help_text="Neither of the two, whatever wider rules say: conversations are not deleted by rule.",
    )
    temporary_hours = models.PositiveIntegerField(
        null=True,
        blank=True,
        validators=[MinValueValidator(1), MaxValueValidator(MOST_HOURS)],
        help_text="Hours after its last message after which a temporary conversation is deleted. Without, none are "
        "offered.",
    )
    bin_days = days(0, "Days that what people delete stays in the bin; 0: it is gone at once. 30 where no rule says.")
    may_keep = models.BooleanField(
        null=True,
        blank=True,
        help_text="Whether people may keep single conversations, which are then not deleted by rule.",
    )
    trace_days = days(1, "Days that the figures of calls to models are kept: their times, tokens and cost.")
    log_days = days(1, "Days that log lines are kept.")
    least_days = days(
        1,
        "The minimum: no rule, and nobody’s own choice, deletes a conversation that is not a temporary one sooner than "
        "so many days.",
    )
    most_days = days(
        1,
        "The maximum: without a message for so many days a conversation is deleted whatever other rules say, unless it "
        "is held, or kept by somebody who may.",
    )

    objects = RuleQuerySet.as_manager()

    class Meta:
        constraints = [
            models.CheckConstraint(
                name="rule_names_whom_it_is_for",
                condition=Q(scope="everyone", group__isnull=True, user__isnull=True)
                | Q(scope="group", group__isnull=False, user__isnull=True)
                | Q(scope__in=["user", "own"], group__isnull=True, user__isnull=False),
                violation_error_message="Name the group, or the user, that the rule is for, and nobody else.",
            ),
            models.UniqueConstraint(
                name="one_rule_for_everyone",
                fields=["scope"],
                condition=Q(scope="everyone"),
                violation_error_message="There is a rule for everyone already: change that one.",
            ),
            models.UniqueConstraint(
                name="one_rule_a_group",
                fields=["group"],
                condition=Q(scope="group"),
                violation_error_message="There is a rule for this group already: change that one.",
            ),
            models.UniqueConstraint(
                name="one_rule_a_user_and_one_of_their_own",
                fields=["user", "scope"],
                condition=Q(scope__in=["user", "own"]),
                violation_error_message="There is a rule for this user already: change that one.",
            ),
            *(
                models.CheckConstraint(
                    name=f"rule_{name}_is_possible", condition=Q(**{f"{name}__gte": least, f"{name}__lte": most})
                )
                for name, least, most in (
                    ("idle_days", 1, MOST_DAYS),
                    ("age_days", 1, MOST_DAYS),
                    ("temporary_hours", 1, MOST_HOURS),
                    ("bin_days", 0, MOST_DAYS),
                    ("trace_days", 1, MOST_DAYS),
                    ("log_days", 1, MOST_DAYS),
                    ("least_days", 1, MOST_DAYS),
                    ("most_days", 1, MOST_DAYS),
                )
            ),
            models.CheckConstraint(
                name="rule_minimum_is_no_more_than_its_maximum",
                condition=Q(least_days__lte=F("most_days")),
                violation_error_message="The minimum must not be more than the maximum.",
            ),
            models.CheckConstraint(
                name="rule_for_ever_names_no_days",
                condition=Q(forever=False) | Q(idle_days__isnull=True, age_days__isnull=True),
                violation_error_message="Name days after which conversations are deleted, or say for ever, not both.",
            ),
            models.CheckConstraint(
                name="rule_for_everyone_alone_speaks_of_the_installation",
                condition=Q(scope="everyone")
                | Q(trace_days__isnull=True, log_days__isnull=True, least_days__isnull=True, most_days__isnull=True),
                violation_error_message="Traces, log lines, minimum and maximum are the same for everyone: say them in "
                "the rule for everyone.",
            ),
            models.CheckConstraint(
                name="rule_of_ones_own_only_shortens",
                condition=~Q(scope="own") | Q(forever=False, may_keep__isnull=True),
            ),
        ]

    def __str__(self) -> str:
        whom = {self.Scope.EVERYONE: "everyone", self.Scope.GROUP: self.group, self.Scope.USER: self.user}
        return f"rule for {whom.get(self.Scope(self.scope), f'{self.user}, their own')}"

    def save(self, *args: Any, is_confirmed: bool = False, **kwargs: Any) -> None:
        """Raises `Unconfirmed` unless `retention.changes` does it."""
        if not is_confirmed:
            raise Unconfirmed
        super().save(*args, **kwargs)

    def delete(self, *args: Any, is_confirmed: bool = False, **kwargs: Any) -> tuple[int, dict[str, int]]:
        """Raises `Unconfirmed` unless `retention.changes` does it."""
        if not is_confirmed:
            raise Unconfirmed
        return super().delete(*args, **kwargs)
