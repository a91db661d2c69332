"""`/api/v1/turns`: the state of a reply, stopping it, having another version written."""

from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from conversations import access, asking
from conversations.api.conversations import answered
from conversations.api.keys import IDEMPOTENCY_KEY, request_key
from conversations.api.serializers import RegenerateSerializer, TurnSerializer
from conversations.handing_over import stop_turn
from conversations.prompts import model_for


class TurnDetail(APIView):
    @extend_schema(responses=TurnSerializer)
    def get(self, request: Request, turn_id: UUID) -> Response:
        return Response(TurnSerializer(access.turn_of(request.user, turn_id)).data)


class TurnStop(APIView):
    @extend_schema(request=None, responses=TurnSerializer)
    def post(self, request: Request, turn_id: UUID) -> Response:
        turn = access.turn_of(request.user, turn_id)
        stop_turn(turn)
        return Response(TurnSerializer(access.turn_of(request.user, turn_id)).data)


class TurnRegenerate(APIView):
    @extend_schema(
        request=RegenerateSerializer,
        parameters=[IDEMPOTENCY_KEY],
        responses={201: TurnSerializer, 200: TurnSerializer},
    )
    def post(self, request: Request, turn_id: UUID) -> Response:
        turn = access.turn_of(request.user, turn_id)
        chosen = RegenerateSerializer(data=request.data)
        chosen.is_valid(raise_exception=True)
        own = model_for(turn.conversation)
        model = (chosen.validated_data["model"] or model_for(None)) if "model" in chosen.validated_data else own
        return answered(asking.retry(turn, request_key=request_key(request), model=model))
