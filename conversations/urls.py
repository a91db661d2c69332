"""Addresses of the pages and of the API."""

app_name = "conversations"
urlpatterns: list[object] = []
