"""Addresses: accounts from allauth, the admin, the API, and conversations for everything else."""

from django.contrib import admin
from django.urls import include, path

urlpatterns = [
    path("accounts/", include("allauth.account.urls")),
    path("accounts/", include("accounts.urls")),
    path("admin/", admin.site.urls),
    path("", include("conversations.urls")),
]
