"""A provider that really speaks HTTP, in each dialect."""

from collections.abc import Iterator

import pytest

from tests.provider import ScriptedProvider


@pytest.fixture
def provider() -> Iterator[ScriptedProvider]:
    with ScriptedProvider() as scripted:
        yield scripted


@pytest.fixture(params=["openai", "anthropic"])
def dialect(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name
