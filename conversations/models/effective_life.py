"""What all rules together come to, for every person: the one definition, a view that nobody writes."""

from django.conf import settings
from django.db import models

SOMEBODY_NEW = 0
"""The row of a person without a group, a rule of their own, or an account yet."""


class EffectiveLife(models.Model):
    """One row a person. How it is reckoned stands in the migration that makes the view, and nowhere else.

    Null: never. A day is 24 hours: no time zone and no change of clocks has a part in it.
    """

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL,
        primary_key=True,
        on_delete=models.DO_NOTHING,
        db_constraint=False,
        related_name="+",
    )
    idle = models.DurationField(null=True, help_text="After the last message.")
    age = models.DurationField(null=True, help_text="After the beginning.")
    temporary = models.DurationField(null=True, help_text="Of a temporary conversation, after the last message.")
    in_bin = models.DurationField(help_text="After it was put into the bin; zero: there is no bin.")
    may_keep = models.BooleanField(help_text="Whether conversations this person keeps are spared by `idle` and `age`.")
    is_held = models.BooleanField(help_text="Nothing of this person is deleted.")

    # The same without what this person chose for themselves, who may not go beyond it.
    ruled_idle = models.DurationField(null=True)
    ruled_age = models.DurationField(null=True)
    ruled_temporary = models.DurationField(null=True)
    ruled_in_bin = models.DurationField()
    floor = models.DurationField(null=True, help_text="The minimum.")

    class Meta:
        managed = False
        db_table = "conversations_effectivelife"

    def __str__(self) -> str:
        return str(self.pk)
