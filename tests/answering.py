"""A process that answers the turns whose ids it reads, as a worker does, and prints each id once its turn has ended."""

import sys
from uuid import UUID

import django

django.setup()

from conversations.replies import replies  # noqa: E402  # it can be had only now


def main() -> None:
    for line in sys.stdin:
        replies().answer(UUID(line.strip()))
        sys.stdout.write(line)
        sys.stdout.flush()


if __name__ == "__main__":
    main()
