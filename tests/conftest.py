"""Fixtures every test may ask for."""

import pytest
from django.test import Client
from pytest_django import Settings
from rest_framework.test import APIClient

from accounts.models import User
from conversations.models import Conversation
from tests.factories import make_conversation, make_user


@pytest.fixture(autouse=True)
def _quick_passwords(settings: Settings) -> None:
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


@pytest.fixture
def owner(db: None) -> User:
    return make_user("owner@example.org")


@pytest.fixture
def stranger(db: None) -> User:
    return make_user("stranger@example.org")


@pytest.fixture
def conversation(owner: User) -> Conversation:
    return make_conversation(owner)


@pytest.fixture
def page(client: Client, owner: User) -> Client:
    """A browser without a screen, logged in as the owner."""
    client.force_login(owner)
    return client


@pytest.fixture
def api(owner: User) -> APIClient:
    client = APIClient()
    client.force_authenticate(owner)
    return client
