"""Who changed which rule or hold, and when: for looking and searching."""

from typing import cast

from django.contrib import admin

from conversations.administration.read_only import ReadOnlyAdmin
from conversations.models import RetentionChange, RetentionRule
from conversations.retention.wording import said as said_by


@admin.register(RetentionChange)
class RetentionChangeAdmin(ReadOnlyAdmin):
    list_display = ("at", "who", "what", "about", "said", "went")
    list_filter = ("what", "scope")
    list_select_related = ("by", "user")
    ordering = ("-at", "-pk")
    search_fields = ("by__email", "user__email", "group", "conversation_id")
    date_hierarchy = "at"
    fields = ("at", "who", "what", "about", "said", "due")
    readonly_fields = fields

    @admin.display(description="by", ordering="by__email")
    def who(self, change: RetentionChange) -> str:
        return str(change.by or "a command, or a closed account")

    @admin.display(description="for")
    def about(self, change: RetentionChange) -> str:
        if change.conversation_id:
            return f"conversation {change.conversation_id}"
        whom = change.user or change.group or ("everyone" if change.scope == "everyone" else "a closed account")
        return f"{whom}, their own" if change.scope == "own" else str(whom)

    @admin.display(description="said")
    def said(self, change: RetentionChange) -> str:
        before, after = _said(change.before), _said(change.after)
        return f"{before} → {after}" if change.before else after

    @admin.display(description="due then")
    def went(self, change: RetentionChange) -> str:
        return f"{change.due['conversations']:,} conversations" if change.due else "–"


def _said(what: dict[str, object]) -> str:
    if not what:
        return "no rule"
    if "groups" in what:
        return f"in {', '.join(cast('list[str]', what['groups'])) or 'no group with a rule'}"
    return f"hold {what['hold']}" if "hold" in what else said_by(RetentionRule(**what))
