"""`/api/v1/me`: the account behind the token; which address is the first of it; closing it."""

from typing import Any, ClassVar, cast

from allauth.account.models import EmailAddress
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.models import User
from conversations.handing_over import enqueue_finishing
from conversations.refusals import NoPassword
from conversations.retention import closing


class AddressSerializer(serializers.ModelSerializer[EmailAddress]):
    is_confirmed = serializers.BooleanField(source="verified")
    is_primary = serializers.BooleanField(source="primary")

    class Meta:
        model = EmailAddress
        fields = ("email", "is_confirmed", "is_primary")


class MeSerializer(serializers.ModelSerializer[User]):
    """`email` can be changed to another confirmed address of the same account."""

    addresses = AddressSerializer(source="emailaddress_set", many=True, read_only=True)
    is_administrator = serializers.BooleanField(source="is_staff", read_only=True)

    class Meta:
        model = User
        fields = ("id", "email", "addresses", "is_administrator", "date_joined")
        read_only_fields = ("id", "date_joined")
        extra_kwargs: ClassVar[dict[str, Any]] = {"email": {"validators": []}}

    def validate_email(self, email: str) -> str:
        confirmed = EmailAddress.objects.filter(user=self.instance, email__iexact=email, verified=True).first()
        if confirmed is None:
            raise serializers.ValidationError(
                "This is no confirmed address of your account. Add it on the page of your addresses first."
            )
        return str(confirmed.email)

    def update(self, instance: User, validated_data: dict[str, Any]) -> User:
        if "email" in validated_data:
            EmailAddress.objects.get(user=instance, email=validated_data["email"]).set_as_primary()
            instance.refresh_from_db()
        return instance


class CloseSerializer(serializers.Serializer[Any]):
    password = serializers.CharField(trim_whitespace=False, help_text="Of the account; a token alone is not enough.")
    last_administrator = serializers.BooleanField(
        required=False, default=False, help_text="Say true to close the last account that may open the admin."
    )


class ClosedSerializer(serializers.Serializer[Any]):
    receipt = serializers.IntegerField(help_text="Its number. A mail says when everything was erased.")


class Me(APIView):
    """Who I am."""

    @extend_schema(responses=MeSerializer)
    def get(self, request: Request) -> Response:
        return Response(MeSerializer(cast("User", request.user)).data)

    @extend_schema(request=MeSerializer, responses=MeSerializer)
    def patch(self, request: Request) -> Response:
        """Make another confirmed address the first one."""
        changed = MeSerializer(cast("User", request.user), data=request.data, partial=True)
        changed.is_valid(raise_exception=True)
        changed.save()
        return Response(changed.data)

    @extend_schema(request=CloseSerializer, responses={202: ClosedSerializer})
    def delete(self, request: Request) -> Response:
        """Close the account: it works no longer from now on, and a worker erases everything of it.

        Send `{"password": "…"}`; the last administrator adds `"last_administrator": true`.
        """
        user = cast("User", request.user)
        sent = CloseSerializer(data=request.data)
        sent.is_valid(raise_exception=True)
        if not user.has_usable_password():
            raise NoPassword
        closing.expect_password(user, sent.validated_data["password"])
        is_told = sent.validated_data["last_administrator"]
        erasure = closing.close(user, by=user, is_told=is_told, now=timezone.now())
        enqueue_finishing()
        return Response({"receipt": erasure.pk}, status=status.HTTP_202_ACCEPTED)
