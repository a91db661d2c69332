"""What is measured of an answer: the model's time, and nothing but the model's."""

import time

import pytest

from conversations.models import Conversation, ModelCall, Turn
from conversations.providers.values import TextDelta
from conversations.replies.draft import Draft
from conversations.replies.request import trace
from conversations.turns import Outcome
from tests.factories import ask

FAILED = Outcome(Turn.Status.FAILED, [], error_code="not_configured")


def test_the_time_before_the_model_was_asked_is_not_the_models() -> None:
    draft = Draft()
    time.sleep(0.1)
    draft.current.begin()
    draft.current.take(TextDelta("So."))
    assert draft.current.first_token_ms is not None
    assert draft.current.first_token_ms < 90
    assert draft.current.elapsed_ms < 90


@pytest.mark.django_db
def test_a_round_that_was_never_asked_is_no_call(conversation: Conversation) -> None:
    turn, draft = ask(conversation), Draft()
    trace(turn, draft, FAILED)
    assert not ModelCall.objects.exists()
    draft.current.begin()
    trace(turn, draft, FAILED)
    assert ModelCall.objects.get().outcome == "not_configured"
