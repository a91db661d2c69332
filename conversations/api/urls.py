"""Addresses below `/api/v1/`."""

from django.urls import path
from drf_spectacular.views import SpectacularAPIView

from conversations.api import (
    binning,
    contexts,
    conversations,
    exports,
    imports,
    me,
    recall,
    retention,
    search,
    summaries,
    turns,
)
from conversations.api.events import turn_events

app_name = "api"
urlpatterns = [
    path("me/retention", retention.MyRetention.as_view(), name="my_retention"),
    path("schema/", SpectacularAPIView.as_view(api_version="1"), name="schema"),
    path("conversations", conversations.ConversationList.as_view(), name="conversations"),
    path("conversations/<uuid:conversation_id>", conversations.ConversationDetail.as_view(), name="conversation"),
    path("conversations/restore", binning.RestoringMany.as_view(), name="restore_many"),
    path("conversations/<uuid:conversation_id>/restore", binning.Restoring.as_view(), name="restore"),
    path("conversations/<uuid:conversation_id>/messages", conversations.MessageList.as_view(), name="messages"),
    path(
        "conversations/<uuid:conversation_id>/messages/<int:message_id>",
        conversations.MessageDetail.as_view(),
        name="message",
    ),
    path(
        "conversations/<uuid:conversation_id>/context",
        contexts.ConversationContext.as_view(),
        name="conversation_context",
    ),
    path(
        "conversations/<uuid:conversation_id>/title",
        conversations.TitleSuggestion.as_view(),
        name="title_suggestion",
    ),
    path(
        "conversations/<uuid:conversation_id>/summary",
        summaries.ConversationSummary.as_view(),
        name="conversation_summary",
    ),
    path("conversations/<uuid:conversation_id>/recall", recall.Recall.as_view(), name="recall"),
    path(
        "conversations/<uuid:conversation_id>/export", exports.ConversationExport.as_view(), name="export_conversation"
    ),
    path("exports", exports.ExportList.as_view(), name="exports"),
    path("exports/<uuid:export_id>", exports.ExportDetail.as_view(), name="export"),
    path("exports/<uuid:export_id>/download", exports.ExportDownload.as_view(), name="download_export"),
    path("conversations/<uuid:conversation_id>/turns", conversations.TurnList.as_view(), name="turns"),
    path("me", me.Me.as_view(), name="me"),
    path("search", search.Search.as_view(), name="search"),
    path("imports", imports.ImportList.as_view(), name="imports"),
    path("imports/<uuid:import_id>", imports.ImportDetail.as_view(), name="import"),
    path("turns/<uuid:turn_id>", turns.TurnDetail.as_view(), name="turn"),
    path("turns/<uuid:turn_id>/events", turn_events, name="turn_events"),
    path("turns/<uuid:turn_id>/context", contexts.TurnContext.as_view(), name="turn_context"),
    path("turns/<uuid:turn_id>/stop", turns.TurnStop.as_view(), name="turn_stop"),
    path("turns/<uuid:turn_id>/regenerate", turns.TurnRegenerate.as_view(), name="turn_regenerate"),
]
