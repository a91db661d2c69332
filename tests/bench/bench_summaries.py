"""`make bench`: what is asked behind each reply, in conversations of very different lengths."""

import pytest
from pytest_django import Settings

from conversations import summaries
from conversations.models import Turn
from tests.bench.bench_context import timed
from tests.bench.bench_recall_speed import told
from tests.bench.bench_replies import say
from tests.conversations.summaries.living import lived
from tests.conversations.summaries.long import grow
from tests.factories import make_conversation, make_summary, make_user

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("messages", [100, 1_000, 10_000, 100_000])
def bench_whether_a_summary_is_due(settings: Settings, messages: int) -> None:
    settings.DEBUG = False
    settings.POCKETCHAT_RECALL = False
    settings.POCKETCHAT_CHAT_MODEL = "openai:scripted"
    settings.POCKETCHAT_HISTORY_TOKENS = 200
    conversation = make_conversation(make_user())
    grow(conversation, messages)
    make_summary(Turn.objects.order_by("created_at")[2])
    lived(conversation, 3)
    say(f"{messages:7,} messages: is due         {told(timed(lambda: summaries.is_due(conversation.pk)))}")
    conversation.refresh_from_db()
    say(f"{messages:7,} messages: the far summary {told(timed(lambda: summaries.current(conversation)))}")
