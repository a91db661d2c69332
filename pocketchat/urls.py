"""Addresses: accounts from allauth, the admin, the API, and conversations for everything else."""

from allauth.account.decorators import secure_admin_login
from django.contrib import admin
from django.urls import include, path

# One log-in for everything: the admin's own would count no attempts.
admin.site.login = secure_admin_login(admin.site.login)  # type: ignore[method-assign]  # the way allauth documents

urlpatterns = [
    path("accounts/", include("allauth.account.urls")),
    path("accounts/", include("accounts.urls")),
    path("admin/", admin.site.urls),
    path("", include("conversations.urls")),
]
