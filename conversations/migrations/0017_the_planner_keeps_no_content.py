"""PostgreSQL keeps the most frequent values of each column for its planner: of what people wrote, it shall not.

They would stay there after their rows are gone.
"""

from django.db import migrations

COLUMNS = {
    "accounts_user": ("email",),
    "account_emailaddress": ("email",),
    "conversations_conversation": ("title", "system_prompt", "request_key"),
    "conversations_embedding": ("vector", "words"),
    "conversations_message": ("content",),
    "conversations_summary": ("text",),
    "conversations_turn": ("request_key",),
    "django_admin_log": ("object_repr", "change_message"),
    "django_session": ("session_data",),
}
EXPRESSIONS = {"one_account_per_address": 1}
"""Indexes of expressions have statistics of their own."""


def statements(target: int) -> list[str]:
    return [
        *(
            f"ALTER TABLE {table} ALTER COLUMN {column} SET STATISTICS {target}"
            for table, columns in COLUMNS.items()
            for column in columns
        ),
        *(
            f"ALTER INDEX {index} ALTER COLUMN {number} SET STATISTICS {target}"
            for index, number in EXPRESSIONS.items()
        ),
    ]


class Migration(migrations.Migration):
    dependencies = [
        ("conversations", "0016_erasures_leave_receipts"),
        ("accounts", "0001_user"),
        ("account", "0001_initial"),
        ("admin", "0001_initial"),
        ("sessions", "0001_initial"),
    ]

    operations = [migrations.RunSQL(sql, undo) for sql, undo in zip(statements(0), statements(-1), strict=True)]
