"""Rows of the index of recall are read whole, all those of a conversation at once."""

from django.db import migrations

KEPT_TOGETHER = "ALTER TABLE conversations_embedding SET (toast_tuple_target = 8160, parallel_workers = 0)"
"""Of rows above 2 kB, as longer answers make them, PostgreSQL would put the vector elsewhere, and look it up for each:
ten thousand times a recall. Up to 8 kB, which a page holds, they stay where they are read.

More processes to read 15 MB would be started for longer than they save."""
AS_USUAL = "ALTER TABLE conversations_embedding RESET (toast_tuple_target, parallel_workers)"


class Migration(migrations.Migration):
    dependencies = [
        ("conversations", "0007_summaries_stand_for_what_no_longer_fits"),
    ]

    operations = [
        migrations.RunSQL(KEPT_TOGETHER, AS_USUAL),
    ]
