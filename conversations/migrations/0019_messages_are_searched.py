"""All of a person's messages are searched by words."""

import django.contrib.postgres.indexes
import django.contrib.postgres.search
import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.state import StateApps

from conversations.blocks import text_in
from conversations.models.references import Reference
from conversations.recall.lexemes import lexemes

BATCH = 500

WRITE_SQL = """
    INSERT INTO conversations_searchentry (message_id, conversation_id, owner_id, said_at, words)
    SELECT m.id, m.conversation_id, c.owner_id, m.created_at,
           array_to_tsvector(array(
               SELECT c.owner_id || '.' || word FROM unnest(string_to_array(said.words, ' ')) AS word
           ))
    FROM unnest(%s::bigint[], %s::text[]) AS said (id, words)
    JOIN conversations_message m ON m.id = said.id
    JOIN conversations_conversation c ON c.id = m.conversation_id
"""

NARROW = """
    ALTER TABLE conversations_searchentry SET (toast_tuple_target = 128);
    ALTER TABLE conversations_searchentry ALTER COLUMN words SET STATISTICS 0;
"""
"""The words are kept beside the rows: of a hundred thousand that the index names, the moments are read alone.

Of which words there are most says nothing, where each person has their own; without a count PostgreSQL takes any to be
rare, and asks the index."""


def write_all(apps: StateApps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """What was said before is found, too."""
    messages = apps.get_model("conversations", "Message").objects.filter(role__in=["user", "assistant"])
    below = None
    while True:
        rows = messages.filter(pk__lt=below) if below else messages
        some = list(rows.order_by("-pk").values_list("pk", "content")[:BATCH])
        if not some:
            break
        below = some[-1][0]
        words = [" ".join(lexemes(text_in(content))) for _, content in some]
        with schema_editor.connection.cursor() as cursor:
            cursor.execute(WRITE_SQL, [[pk for pk, _ in some], words])
    # An index cannot be made while references are still to be checked.
    schema_editor.execute("SET CONSTRAINTS ALL IMMEDIATE")
    schema_editor.execute("SET CONSTRAINTS ALL DEFERRED")


class Migration(migrations.Migration):
    dependencies = [
        ("conversations", "0018_lists_of_the_archive_and_the_bin"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="SearchEntry",
            fields=[
                (
                    "message",
                    models.OneToOneField(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        primary_key=True,
                        related_name="search_entry",
                        serialize=False,
                        to="conversations.message",
                    ),
                ),
                (
                    "said_at",
                    models.DateTimeField(help_text="When the message was said: what was said last is shown first."),
                ),
                ("words", django.contrib.postgres.search.SearchVectorField()),
                (
                    "conversation",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="conversations.conversation",
                    ),
                ),
                (
                    "owner",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "verbose_name_plural": "search entries",
                "indexes": [
                    models.Index(
                        models.F("owner"),
                        models.OrderBy(models.F("said_at"), descending=True),
                        models.OrderBy(models.F("message"), descending=True),
                        name="search_entry_newest",
                    ),
                    models.Index(fields=["conversation", "message"], name="search_entry_of_conversation"),
                ],
                "constraints": [
                    Reference(
                        name="search_entry_goes_with_its_message",
                        fields=("conversation", "message"),
                        to="conversations.Message",
                        to_fields=("conversation", "id"),
                    ),
                ],
            },
        ),
        migrations.RunSQL(NARROW, migrations.RunSQL.noop),
        migrations.RunPython(write_all, migrations.RunPython.noop),
        migrations.AddIndex(
            model_name="searchentry",
            index=django.contrib.postgres.indexes.GinIndex(
                fields=["words"], name="search_entry_words", fastupdate=False
            ),
        ),
    ]
