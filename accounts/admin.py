"""Accounts in the admin: who may log in, who may open the admin."""

from django.contrib import admin
from django.contrib.auth.admin import UserAdmin
from django.contrib.auth.forms import AdminPasswordChangeForm, BaseUserCreationForm

from accounts.models import User


class NewUserForm(BaseUserCreationForm):  # type: ignore[type-arg]  # not subscriptable at run time
    class Meta:
        model = User
        fields = ("email",)


@admin.register(User)
class AccountAdmin(UserAdmin):  # type: ignore[type-arg]  # not subscriptable at run time
    """Like Django's own, by address instead of user name."""

    add_form = NewUserForm
    change_password_form = AdminPasswordChangeForm
    list_display = ("email", "is_active", "is_staff", "date_joined", "last_login")
    list_filter = ("is_active", "is_staff", "groups")
    search_fields = ("email",)
    ordering = ("email",)
    readonly_fields = ("date_joined", "last_login")
    fieldsets = (
        (None, {"fields": ("email", "password")}),
        ("Rights", {"fields": ("is_active", "is_staff", "is_superuser", "groups", "user_permissions")}),
        ("Dates", {"fields": ("date_joined", "last_login")}),
    )
    add_fieldsets = ((None, {"classes": ("wide",), "fields": ("email", "password1", "password2")}),)
