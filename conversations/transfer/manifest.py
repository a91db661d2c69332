"""What an export has of every table, or why it has nothing; `tests/test_completeness_of_exports.py` asks for each."""

from collections.abc import Mapping

TAKEN: Mapping[str, str] = {
    "conversations.Conversation": "conversations/*.json",
    "conversations.Turn": "conversations/*.json",
    "conversations.Message": "conversations/*.json",
    "conversations.Summary": "conversations/*.json",
    "conversations.Erasure": "receipts.json",
    "conversations.RetentionRule": "account.json",
    "accounts.User": "account.json",
    "account.EmailAddress": "account.json",
    "knox.AuthToken": "account.json",
}
"""Tables by their label, and the files they are in. Which of their fields are is said in `rows` and in `profile`; of
the rules, a person's own alone."""

LEFT_OUT: Mapping[str, str] = {
    "conversations.Embedding": "Follows from the messages, and is made again wherever they are read in.",
    "conversations.Export": "The file cannot be in itself; the page says which there are.",
    "conversations.Hold": "Between the administrator and whoever asked for it; whom it holds is told when they delete.",
    "conversations.SearchEntry": "Follows from the messages, and is made again wherever they are read in.",
    "conversations.Import": "Tells of files that were sent; what was brought in with them is here as any conversation.",
    "conversations.ImportResult": "The same.",
    "conversations.ModelCall": "What a reply took is told with its turn; the rest is how the installation fared.",
    "conversations.EffectiveLife": "No table: what the rules come to, as told under Your data.",
    "conversations.RetentionChange": "Of the installation: who changed which rule.",
    "conversations.TaskRun": "Of the installation: counts and times, of nobody.",
    "conversations.TokenScale": "Of the installation: figures of models, of nobody.",
    "account.EmailConfirmation": "A secret under way, which expires.",
    "accounts.User_groups": "Who may do what is the administrator's; groups are not told to their members.",
    "accounts.User_user_permissions": "Who may do what is the administrator's.",
    "auth.Group": "Who may do what is the administrator's.",
    "auth.Group_permissions": "Who may do what is the administrator's.",
    "auth.Permission": "Part of the product.",
    "admin.LogEntry": "The record of what administrators did; it is kept so that they answer for it.",
    "contenttypes.ContentType": "Part of the product.",
    "sessions.Session": "Secrets, which expire; what is in them says where somebody is logged in, and no more.",
    "django_celery_beat.SolarSchedule": "Of the installation: when its tasks run.",
    "django_celery_beat.IntervalSchedule": "Of the installation: when its tasks run.",
    "django_celery_beat.ClockedSchedule": "Of the installation: when its tasks run.",
    "django_celery_beat.CrontabSchedule": "Of the installation: when its tasks run.",
    "django_celery_beat.PeriodicTasks": "Of the installation: when its tasks run.",
    "django_celery_beat.PeriodicTask": "Of the installation: when its tasks run.",
}
"""Tables of which nothing is exported, and why."""
