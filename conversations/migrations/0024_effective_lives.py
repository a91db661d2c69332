"""What all rules together come to, for every person: the one definition."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

VIEW = """
CREATE VIEW conversations_effectivelife AS
SELECT
    user_id,
    -- Null, an interval of nothing, is never. Hours, since a day of PostgreSQL's has 23 or 25 of them twice a year.
    make_interval(hours => (24 * nullif(greatest(least(ruled_idle, own_idle), floor), 'Infinity'))::int) AS idle,
    make_interval(hours => (24 * nullif(greatest(least(ruled_age, own_age), floor), 'Infinity'))::int) AS age,
    make_interval(hours => least(ruled_temporary, own_temporary)) AS temporary,
    make_interval(hours => 24 * least(ruled_in_bin, own_in_bin)) AS in_bin,
    may_keep,
    EXISTS (
        SELECT FROM conversations_hold AS hold WHERE hold.user_id = person.user_id AND hold.lifted_at IS NULL
    ) AS is_held,
    make_interval(hours => (24 * nullif(ruled_idle, 'Infinity'))::int) AS ruled_idle,
    make_interval(hours => (24 * nullif(ruled_age, 'Infinity'))::int) AS ruled_age,
    make_interval(hours => ruled_temporary) AS ruled_temporary,
    make_interval(hours => 24 * ruled_in_bin) AS ruled_in_bin,
    make_interval(hours => 24 * floor) AS floor
FROM (
    SELECT
        person.id AS user_id,
        greatest(
            least(
                coalesce(
                    CASE WHEN u.forever THEN 'Infinity' ELSE u.idle_days::float8 END,
                    g.idle,
                    CASE WHEN e.forever THEN 'Infinity' ELSE e.idle_days::float8 END,
                    'Infinity'
                ),
                e.most_days
            ),
            e.least_days
        ) AS ruled_idle,
        -- The maximum counts from the last message: here it makes shorter what there is, and nothing of never.
        CASE
            WHEN coalesce(
                CASE WHEN u.forever THEN 'Infinity' ELSE u.age_days::float8 END,
                g.age,
                CASE WHEN e.forever THEN 'Infinity' ELSE e.age_days::float8 END,
                'Infinity'
            ) = 'Infinity' THEN 'Infinity'
            ELSE greatest(least(coalesce(u.age_days, g.age, e.age_days), e.most_days), e.least_days)
        END AS ruled_age,
        coalesce(u.temporary_hours, g.temporary_hours, e.temporary_hours) AS ruled_temporary,
        coalesce(u.bin_days, g.bin_days, e.bin_days, 30) AS ruled_in_bin,
        coalesce(u.may_keep, g.may_keep, e.may_keep, false) AS may_keep,
        o.idle_days AS own_idle,
        o.age_days AS own_age,
        o.temporary_hours AS own_temporary,
        o.bin_days AS own_in_bin,
        e.least_days AS floor
    -- 0 stands for somebody new, about whom no rule says anything but the one for everyone.
    FROM (SELECT id FROM accounts_user UNION ALL SELECT 0::bigint) AS person
    LEFT JOIN conversations_retentionrule AS u ON u.scope = 'user' AND u.user_id = person.id
    LEFT JOIN conversations_retentionrule AS o ON o.scope = 'own' AND o.user_id = person.id
    LEFT JOIN conversations_retentionrule AS e ON e.scope = 'everyone'
    -- Of several groups the strictest, each in what it says.
    LEFT JOIN (
        SELECT
            member.user_id,
            min(CASE WHEN forever THEN 'Infinity' ELSE idle_days::float8 END) AS idle,
            min(CASE WHEN forever THEN 'Infinity' ELSE age_days::float8 END) AS age,
            min(temporary_hours) AS temporary_hours,
            min(bin_days) AS bin_days,
            bool_and(may_keep) AS may_keep
        FROM accounts_user_groups AS member
        JOIN conversations_retentionrule AS r ON r.scope = 'group' AND r.group_id = member.group_id
        GROUP BY member.user_id
    ) AS g ON g.user_id = person.id
) AS person
"""


class Migration(migrations.Migration):
    dependencies = [
        ("conversations", "0023_retention_rules"),
    ]

    operations = [
        migrations.CreateModel(
            name="EffectiveLife",
            fields=[
                (
                    "user",
                    models.OneToOneField(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        primary_key=True,
                        related_name="+",
                        serialize=False,
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("idle", models.DurationField(help_text="After the last message.", null=True)),
                ("age", models.DurationField(help_text="After the beginning.", null=True)),
                (
                    "temporary",
                    models.DurationField(help_text="Of a temporary conversation, after the last message.", null=True),
                ),
                ("in_bin", models.DurationField(help_text="After it was put into the bin; zero: there is no bin.")),
                (
                    "may_keep",
                    models.BooleanField(
                        help_text="Whether conversations this person keeps are spared by `idle` and `age`."
                    ),
                ),
                ("is_held", models.BooleanField(help_text="Nothing of this person is deleted.")),
                ("ruled_idle", models.DurationField(null=True)),
                ("ruled_age", models.DurationField(null=True)),
                ("ruled_temporary", models.DurationField(null=True)),
                ("ruled_in_bin", models.DurationField()),
                ("floor", models.DurationField(help_text="The minimum.", null=True)),
            ],
            options={
                "db_table": "conversations_effectivelife",
                "managed": False,
            },
        ),
        migrations.RunSQL(VIEW, "DROP VIEW conversations_effectivelife"),
    ]
