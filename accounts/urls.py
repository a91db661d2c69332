"""Addresses of the account's own pages; they stand beside allauth's."""

from django.urls import path

from accounts import views

urlpatterns = [
    path("tokens/", views.api_tokens, name="account_tokens"),
    path("tokens/<slug:token_key>/revoke/", views.revoke_token, name="account_revoke_token"),
]
