"""What the database keeps across tables; last, because each reference needs the other table's unique key."""

from django.db import migrations

import conversations.models.references


class Migration(migrations.Migration):
    dependencies = [("conversations", "0001_turns")]

    operations = [
        migrations.AddConstraint(
            model_name="conversation",
            constraint=conversations.models.references.Reference(
                fields=("id", "head"),
                name="conversation_head_is_one_of_its_messages",
                on_delete="SET NULL (head_id)",
                to="conversations.Message",
                to_fields=("conversation", "id"),
            ),
        ),
        migrations.AddConstraint(
            model_name="turn",
            constraint=conversations.models.references.Reference(
                fields=("conversation",),
                name="turn_goes_with_its_conversation",
                on_delete="CASCADE",
                to="conversations.Conversation",
                to_fields=("id",),
            ),
        ),
        migrations.AddConstraint(
            model_name="turn",
            constraint=conversations.models.references.Reference(
                fields=("conversation", "prompt"),
                name="turn_prompt_is_in_the_same_conversation",
                on_delete="CASCADE",
                to="conversations.Message",
                to_fields=("conversation", "id"),
            ),
        ),
        migrations.AddConstraint(
            model_name="modelcall",
            constraint=conversations.models.references.Reference(
                fields=("conversation",),
                name="model_call_goes_with_its_conversation",
                on_delete="CASCADE",
                to="conversations.Conversation",
                to_fields=("id",),
            ),
        ),
        migrations.AddConstraint(
            model_name="modelcall",
            constraint=conversations.models.references.Reference(
                fields=("conversation", "turn"),
                name="model_call_goes_with_its_turn",
                on_delete="CASCADE",
                to="conversations.Turn",
                to_fields=("conversation", "id"),
            ),
        ),
        migrations.AddConstraint(
            model_name="message",
            constraint=conversations.models.references.Reference(
                fields=("conversation",),
                name="message_goes_with_its_conversation",
                on_delete="CASCADE",
                to="conversations.Conversation",
                to_fields=("id",),
            ),
        ),
        migrations.AddConstraint(
            model_name="message",
            constraint=conversations.models.references.Reference(
                fields=("conversation", "turn"),
                name="message_turn_is_in_the_same_conversation",
                on_delete="CASCADE",
                to="conversations.Turn",
                to_fields=("conversation", "id"),
            ),
        ),
        migrations.AddConstraint(
            model_name="message",
            constraint=conversations.models.references.Reference(
                fields=("conversation", "parent"),
                name="message_parent_is_in_the_same_conversation",
                on_delete="CASCADE",
                to="conversations.Message",
                to_fields=("conversation", "id"),
            ),
        ),
    ]
