"""`python -m pocketchat.imports`: import what our processes will, so that Python keeps it compiled for all of them.

Right after installing, as its first start would: where nothing may be written later, each start would do it again.
"""

import os
from importlib import import_module

import django

MODULES = (
    "celery.bin.worker",
    "celery.worker",
    "conversations.providers.chat",
    "conversations.providers.embedding",
    "conversations.providers.embeddings_api",
    "conversations.providers.mcp",
    "conversations.recall.languages",
    "conversations.tasks",
    "django_celery_beat.schedulers",
    "openai.resources.chat.completions",
    "pocketchat.celery",
    "pocketchat.urls",
    "uvicorn.protocols.http.httptools_impl",
    "whitenoise.middleware",
)
"""Beside what Django's start imports. What is loaded when it is needed, and takes long to load."""


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "pocketchat.settings")
    django.setup()
    for name in MODULES:
        import_module(name)


if __name__ == "__main__":
    main()
