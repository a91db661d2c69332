"""`/api/v1/me/retention`: how long what I have is kept, and my own choice of a shorter life."""

from collections.abc import Mapping
from typing import Any, cast

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.models import User
from conversations.models.retention_rule import MOST_DAYS, MOST_HOURS
from conversations.refusals import ConfirmationNeeded
from conversations.retention import changes, own
from conversations.retention.lives import life_of
from conversations.retention.own import CHOICES
from conversations.retention.wording import sentence


def _number(most: int) -> serializers.IntegerField:
    return serializers.IntegerField(required=False, allow_null=True, min_value=0, max_value=most)


class NumbersSerializer(serializers.Serializer[Any]):
    """Null: never, or nothing chosen."""

    idle_days = _number(MOST_DAYS)
    age_days = _number(MOST_DAYS)
    temporary_hours = _number(MOST_HOURS)
    bin_days = _number(MOST_DAYS)


class ChoiceSerializer(NumbersSerializer):
    """What is not sent stays as it is; null takes a choice back."""

    confirm = serializers.CharField(
        required=False, help_text="The `token` of the answer that showed what this choice deletes."
    )


class LimitSerializer(serializers.Serializer[Any]):
    """What may be chosen; `most` null: no limit."""

    least = serializers.IntegerField()
    most = serializers.IntegerField(allow_null=True)


class LimitsSerializer(serializers.Serializer[Any]):
    idle_days = LimitSerializer()
    age_days = LimitSerializer()
    temporary_hours = LimitSerializer()
    bin_days = LimitSerializer()


class RetentionSerializer(serializers.Serializer[Any]):
    """What holds for me: all rules together, in one sentence and in numbers."""

    sentence = serializers.CharField()
    effective = NumbersSerializer(help_text="Days after the last message and after the beginning, hours, days.")
    own = NumbersSerializer(help_text="What I chose.")
    limits = LimitsSerializer()
    may_keep = serializers.BooleanField(help_text="Whether conversations can be `kept`.")
    held = serializers.BooleanField(help_text="Nothing of mine is deleted: a legal hold.")


class MyRetention(APIView):
    """How long my conversations are kept."""

    @extend_schema(responses=RetentionSerializer)
    def get(self, request: Request) -> Response:
        return Response(_shown(cast("User", request.user)))

    @extend_schema(request=ChoiceSerializer, responses=RetentionSerializer)
    def patch(self, request: Request) -> Response:
        """Choose a shorter life, in two steps: without `confirm` nothing is changed, and 409 `confirmation_needed`
        tells what would go, with the `token` that confirms it within a quarter of an hour."""
        user = cast("User", request.user)
        asked = ChoiceSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        says = own.chosen(user) | {name: asked.validated_data[name] for name in CHOICES if name in asked.validated_data}
        change = own.own_change(user, says)
        if not (token := asked.validated_data.get("confirm")):
            proposal = changes.propose(change, by=user, now=timezone.now())
            ((then, _),) = proposal.lives
            raise ConfirmationNeeded(
                token=proposal.token,
                sentence=then,
                deletes=proposal.then.counts,
                more=proposal.more,
                oldest=proposal.then.oldest,
                newest=proposal.then.newest,
            )
        changes.confirm(token, by=user, now=timezone.now(), change=change)
        return Response(_shown(user))


def _shown(user: User) -> Mapping[str, Any]:
    life = life_of(user)
    spans = {"idle_days": life.idle, "age_days": life.age, "temporary_hours": life.temporary, "bin_days": life.in_bin}
    shown: Mapping[str, Any] = RetentionSerializer(
        {
            "sentence": sentence(life),
            "effective": {name: own.counted_in(CHOICES[name][1], span) for name, span in spans.items()},
            "own": own.chosen(user),
            "limits": own.limits(life),
            "may_keep": life.may_keep,
            "held": life.is_held,
        }
    ).data
    return shown
