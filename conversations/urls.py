"""Addresses of the pages, and of the API below `/api/v1/`."""

from django.urls import include, path

from conversations.views import branches, closing, contexts, data, pages, summaries, titles, turns

app_name = "conversations"
urlpatterns = [
    path("", turns.home, name="home"),
    path("c/<uuid:conversation_id>/", pages.conversation, name="conversation"),
    path("context/", contexts.will_see, name="new_context"),
    path("context/meter/", contexts.meter, name="new_meter"),
    path("c/<uuid:conversation_id>/context/", contexts.will_see, name="context"),
    path("c/<uuid:conversation_id>/context/meter/", contexts.meter, name="meter"),
    path("c/<uuid:conversation_id>/model/", contexts.choose_model, name="choose_model"),
    path("c/<uuid:conversation_id>/summary/", summaries.summary, name="summary"),
    path("c/<uuid:conversation_id>/summary/correct/", summaries.correct, name="correct_summary"),
    path("c/<uuid:conversation_id>/summary/size/", summaries.size, name="summary_size"),
    path("c/<uuid:conversation_id>/summary/remove/", summaries.remove, name="remove_summary"),
    path("c/<uuid:conversation_id>/summary/switch/", summaries.switch, name="switch_summaries"),
    path("c/<uuid:conversation_id>/turns/", turns.send, name="send"),
    path("c/<uuid:conversation_id>/rename/", titles.rename, name="rename"),
    path("c/<uuid:conversation_id>/title/", titles.title, name="title"),
    path("c/<uuid:conversation_id>/title/suggest/", titles.suggest, name="suggest_title"),
    path("c/<uuid:conversation_id>/branch/", branches.switch, name="switch"),
    path("c/<uuid:conversation_id>/elsewhere/", branches.elsewhere, name="elsewhere"),
    path("c/<uuid:conversation_id>/messages/<int:message_id>/edit/", branches.edit, name="edit"),
    path("c/<uuid:conversation_id>/messages/<int:message_id>/delete/", branches.remove, name="remove"),
    path("data/", data.data, name="data"),
    path("sidebar/", pages.sidebar, name="sidebar"),
    path("turns/<uuid:turn_id>/", turns.turn, name="turn"),
    path("turns/<uuid:turn_id>/context/", contexts.saw, name="turn_context"),
    path("turns/<uuid:turn_id>/show/", turns.show, name="show"),
    path("turns/<uuid:turn_id>/stop/", turns.stop, name="stop"),
    path("turns/<uuid:turn_id>/retry/", turns.retry, name="retry"),
    path("data/close/", closing.close_account, name="close_account"),
    path("data/closed/", closing.account_closed, name="account_closed"),
    path("api/v1/", include("conversations.api.urls")),
]
