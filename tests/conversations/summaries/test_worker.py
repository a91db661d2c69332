"""Summaries beside the replies of a running product: written when there is time, and never waited for."""

import time
from collections.abc import Iterator

import pytest

from conversations.models import ModelCall, Summary
from pocketchat.embedded.process import wait_until
from tests.provider import Failure, Reply, Silence
from tests.provider.tokens import newest_question
from tests.stack import Caller, OwnStack, Stack

pytestmark = [pytest.mark.stack, pytest.mark.django_db(transaction=True)]

SMALL = "small"
NOTES = "The user counts."


@pytest.fixture(scope="module")
def running(own_stack: OwnStack) -> Iterator[Stack]:
    """With a small model, and little room."""
    with own_stack(
        POCKETCHAT_SUMMARIES="true",
        POCKETCHAT_SMALL_MODEL=f"openai:{SMALL}",
        POCKETCHAT_HISTORY_TOKENS="300",
        POCKETCHAT_TOOLS="false",
    ) as stack:
        yield stack


def talk(caller: Caller, conversation: str, turns: int, *, pause: float = 0) -> None:
    for number in range(turns):
        asked = caller.ask(
            conversation, f"Count to {number}, please." + " And go on." * 8, parent=caller.head(conversation)
        )
        assert caller.wait(asked.json()["id"])["status"] == "complete"
        time.sleep(pause)


def calls() -> list[str]:
    rows = ModelCall.objects.filter(purpose="summary").order_by("id")
    return list(rows.values_list("outcome", flat=True))


def test_a_summary_is_written_behind_a_reply_and_sent_after_the_cut(caller: Caller, stack: Stack) -> None:
    stack.provider.on(lambda body: body["model"] == SMALL, Reply(NOTES))
    conversation = caller.make_conversation()
    talk(caller, conversation, 12, pause=0.2)
    wait_until(lambda: "ok" in calls(), seconds=10)
    told = caller.http.get(f"conversations/{conversation}/summary").json()
    assert (told["text"], told["source"], told["model"]) == (NOTES, "model", "openai:small")
    talk(caller, conversation, 3)
    sent = [request.body for request in stack.provider.requests if request.body["model"] != SMALL]
    assert NOTES in str(sent[-1]["messages"][0])
    assert "Count to 0" not in newest_question(sent[-1])


@pytest.mark.parametrize("fault", [Failure("server"), Silence()])
def test_a_small_model_that_is_down_costs_no_reply_and_no_time(
    caller: Caller, stack: Stack, fault: Failure | Silence
) -> None:
    stack.provider.on(lambda body: body["model"] == SMALL, Reply(NOTES, fault=fault))
    conversation = caller.make_conversation()
    began = time.monotonic()
    talk(caller, conversation, 14)
    assert time.monotonic() - began < 20
    wait_until(lambda: any(one.body["model"] == SMALL for one in stack.provider.requests), seconds=5)
    assert not Summary.objects.exists()
    if isinstance(fault, Failure):
        wait_until(lambda: bool(calls()), seconds=5)
        assert set(calls()) == {"provider_down"}
