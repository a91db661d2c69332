"""A plan for the purge, which an administrator may change like any other."""

from datetime import timedelta
from typing import Any

from django.db import migrations
from django.utils import timezone

NAME = "delete what is over"
HOUR = 3


def plan(apps: Any, _: object) -> None:
    """Every 24 hours, first in the coming night. A time of the day would be missed by a machine that is off then; an
    interval that has passed is caught up with."""
    interval, _ = apps.get_model("django_celery_beat", "IntervalSchedule").objects.get_or_create(every=1, period="days")
    night = timezone.localtime().replace(hour=HOUR, minute=0, second=0, microsecond=0)
    if night > timezone.now():
        night -= timedelta(days=1)
    apps.get_model("django_celery_beat", "PeriodicTask").objects.get_or_create(
        task="conversations.purge", defaults={"name": NAME, "interval": interval, "last_run_at": night}
    )


def unplan(apps: Any, _: object) -> None:
    apps.get_model("django_celery_beat", "PeriodicTask").objects.filter(task="conversations.purge").delete()


class Migration(migrations.Migration):
    dependencies = [
        ("conversations", "0025_holds_and_changes_stay"),
        ("django_celery_beat", "0019_alter_periodictasks_options"),
    ]

    operations = [migrations.RunPython(plan, unplan)]
