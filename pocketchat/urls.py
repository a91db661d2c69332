"""Addresses: accounts from allauth, the admin, the API, and conversations for everything else."""

from allauth.account.decorators import secure_admin_login
from django.contrib import admin
from django.templatetags.static import static
from django.urls import include, path
from django.utils.functional import lazy
from django.views.generic import RedirectView

# One log-in for everything: the admin's own would count no attempts.
admin.site.login = secure_admin_login(admin.site.login)  # type: ignore[method-assign]  # the way allauth documents

admin.site.site_title = admin.site.site_header = "PocketChat administration"
admin.site.index_title = "Accounts and how turns went"

# For pages that name no icon, as those of the admin. The file's name is known once it is collected, so not yet.
favicon = RedirectView.as_view(url=lazy(static, str)("img/icon.svg"))

urlpatterns = [
    path("favicon.ico", favicon),
    path("accounts/", include("allauth.account.urls")),
    path("accounts/", include("accounts.urls")),
    path("admin/", admin.site.urls),
    path("", include("conversations.urls")),
]

handler400 = "pocketchat.errors.bad_request"
handler403 = "pocketchat.errors.permission_denied"
handler404 = "pocketchat.errors.not_found"
handler500 = "pocketchat.errors.server_error"
