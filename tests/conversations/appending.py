"""A process that asks and answers in a conversation into which others write, too, and politely waits its turn."""

import sys
import time
from uuid import UUID

import django

django.setup()

from conversations.models import Conversation  # noqa: E402  # models can be had only now
from conversations.refusals import ConversationBusy, NewerMessages  # noqa: E402  # as above
from tests.factories import answer, ask  # noqa: E402  # as above


def append(conversation: Conversation, question: str) -> None:
    while True:
        try:
            turn = ask(conversation, question)
        except (ConversationBusy, NewerMessages):
            time.sleep(0.002)
        else:
            answer(turn, f"Answer to {question}")
            return


def main(conversation_id: str, name: str, count: str) -> None:
    conversation = Conversation.objects.get(pk=UUID(conversation_id))
    for number in range(int(count)):
        append(conversation, f"{name}{number}")


if __name__ == "__main__":
    main(*sys.argv[1:])
