"""Who was put into a group that has a rule, or taken out of it, is recorded as changes of rules are."""

from django.db import migrations, models
from django.db.models import Q

KNOWN = ["rule_made", "rule_changed", "rule_removed", "hold_placed", "hold_lifted", "membership"]


class Migration(migrations.Migration):
    dependencies = [
        ("conversations", "0028_the_minimum_leaves_temporary_conversations_alone"),
    ]

    operations = [
        migrations.RemoveConstraint(model_name="retentionchange", name="retention_change_is_known"),
        migrations.AlterField(
            model_name="retentionchange",
            name="what",
            field=models.CharField(
                choices=[
                    ("rule_made", "rule made"),
                    ("rule_changed", "rule changed"),
                    ("rule_removed", "rule removed"),
                    ("hold_placed", "hold placed"),
                    ("hold_lifted", "hold lifted"),
                    ("membership", "groups changed"),
                ],
                max_length=12,
            ),
        ),
        migrations.AddConstraint(
            model_name="retentionchange",
            constraint=models.CheckConstraint(condition=Q(what__in=KNOWN), name="retention_change_is_known"),
        ),
    ]
