"""How well tokens are estimated before they are counted: conversations with the bundled model, as they are had.

It prints what `manage.py estimate_error` prints, after conversations in English and after some in other languages.
"""

import sys
from collections.abc import Iterator

import pytest
from django.core.management import call_command
from pytest_django import Settings

from conversations.models import Message
from conversations.providers.registry import BUNDLED
from pocketchat.embedded.listening import answers, free_port
from pocketchat.embedded.process import Command, kill_group, spawn, wait_until
from tests.factories import make_conversation, make_user
from tests.stack import ROOT
from tests.talk import Talk, Worker, running_worker

pytestmark = pytest.mark.django_db(transaction=True)

CODE = "def fib(n):\n    if n < 2:\n        return n\n    return fib(n - 1) + fib(n - 2)\n"
ENGLISH = (
    ("What is the capital of France?", "And of Spain?", "How far are they apart?"),
    (
        "Explain why bees dance, in two sentences.",
        "Do wasps dance as well?",
        "Thanks! One more: what is honey made of?",
    ),
    (f"What does this function do?\n\n```python\n{CODE}```", "Make it faster.", "Write a test for it."),
    ("Write a short, friendly reply to: 'I am afraid I cannot come to the meeting on Friday.'", "Shorter, please."),
    ((ROOT / "README.md").read_text()[:3000] + "\n\nSummarise this.", "What does it need to run?", "Why?"),
    ("hi", "who are you", "ok", "bye"),
)
OTHERS = (
    ("Was ist die Hauptstadt von Frankreich, und wie viele Menschen wohnen dort?", "Und in Spanien?"),
    ("Почему пчёлы танцуют? Ответь в двух предложениях.", "А осы?"),
    ("なぜミツバチは踊るのですか。二文で答えてください。", "スズメバチは？"),
    ('{"name": "bee", "legs": 6, "wings": [1, 2, 3, 4], "sting": true}\nDescribe this JSON.', "Add a wasp."),
)


@pytest.fixture
def worker(transactional_db: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Worker]:
    port = free_port()
    command = Command((sys.executable, "-m", "pocketchat.embedded.model", str(port)), {}, folder=ROOT)
    model = spawn(command, output=tmp_path_factory.mktemp("model") / "model.out")
    try:
        assert wait_until(lambda: answers("127.0.0.1", port, "/health"), seconds=30)
        url = f"http://127.0.0.1:{port}/v1"
        with running_worker(
            POCKETCHAT_CHAT_MODEL="", POCKETCHAT_BUNDLED_URL=url, POCKETCHAT_REPLY_TOKENS="60"
        ) as worker:
            yield worker
    finally:
        kill_group(model)


def bench_estimates_of_the_bundled_model(worker: Worker, settings: Settings) -> None:
    settings.POCKETCHAT_CHAT_MODEL = ""
    for name, conversations in (("English and code", ENGLISH), ("and other languages", OTHERS)):
        for questions in conversations:
            talk = Talk(make_conversation(make_user()), BUNDLED, worker)
            for question in questions:
                talk.ask(question)
        sources = Message.objects.filter(role="user").values_list("tokens_source", flat=True)
        sys.stdout.write(f"\n{name}: {len(sources)} questions, {list(sources).count('usage')} measured\n")
        call_command("estimate_error")
