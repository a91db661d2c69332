"""The bundled model itself writes a summary that may stand for a conversation."""

import sys
from collections.abc import Iterator

import pytest
from pytest_django import Settings

from conversations import summaries
from conversations.models import Conversation, ModelCall, Summary
from conversations.providers.registry import BUNDLED
from pocketchat.embedded.listening import answers, free_port
from pocketchat.embedded.process import Command, kill_group, spawn, wait_until
from pocketchat.settings import BASE_DIR
from tests.conversations.summaries.living import fresh_small_model, lived

pytestmark = pytest.mark.django_db

BREAD = """\
Then bake a plain bread without seeds. You need 500 grams of flour, a packet of dry yeast, salt and warm water.
Mix everything, knead the dough for ten minutes and let it rest until it has doubled in size."""
OVEN = """\
The oven should be hot, at about 220 degrees. Put a bowl of water inside, because steam makes the crust crisp.
After ten minutes turn it down to 200 degrees and bake the bread for another half an hour."""
DONE = """\
Knock on the bottom of the bread. When it sounds hollow, the bread is done. The crust should be brown as well.
Let it cool on a rack before you cut it, or the inside becomes sticky."""
TALK = (
    ("I want to bake bread. My daughter Lena is allergic to sesame.", BREAD),
    ("How hot should the oven be?", OVEN),
    ("How do I know that it is done?", DONE),
)


@pytest.fixture
def _bundled(settings: Settings, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    port = free_port()
    command = Command((sys.executable, "-m", "pocketchat.embedded.model", str(port)), {}, folder=BASE_DIR)
    model = spawn(command, output=tmp_path_factory.mktemp("model") / "model.out")
    try:
        assert wait_until(lambda: answers("127.0.0.1", port, "/health"), seconds=60)
        settings.POCKETCHAT_CHAT_MODEL = "openai:scripted"
        settings.POCKETCHAT_SMALL_MODEL = BUNDLED
        settings.POCKETCHAT_BUNDLED_URL = f"http://127.0.0.1:{port}/v1"
        settings.POCKETCHAT_CONTEXT_WINDOW = 8000
        settings.POCKETCHAT_HISTORY_TOKENS = 200
        settings.POCKETCHAT_RECALL = False
        with fresh_small_model():
            yield
    finally:
        kill_group(model)


@pytest.mark.usefixtures("_bundled")
def test_the_bundled_model_writes_a_summary(conversation: Conversation) -> None:
    for question, reply in TALK:
        lived(conversation, 1, question=question, reply=reply)
    lived(conversation, 8)
    assert summaries.roll(conversation.pk)
    told = Summary.objects.latest("pk")
    assert told.model == BUNDLED
    lines = told.text.splitlines()
    assert lines[0].startswith("- “I want to bake bread. My daughter Lena is allergic to sesame.”")
    calls = ModelCall.objects.filter(purpose="summary", outcome="ok")
    assert sum("” – " in line for line in lines[:3]) == calls.count() > 0
