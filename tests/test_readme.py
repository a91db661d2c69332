"""What the README says of providers is so with what is installed."""

import re

import pytest
from pydantic_ai.models import infer_model

from tests.stack import ROOT

README = " ".join((ROOT / "README.md").read_text().split())
AT_HAND, WITH_A_PACKAGE = (
    re.findall(r"`([a-z]+)`", sentence)
    for sentence in re.findall(r"(?:work as installed|a package of their own): ([^.]+)\.", README)
)
SETTINGS = {
    "AZURE_OPENAI_ENDPOINT": "https://example.org",
    "AZURE_OPENAI_API_KEY": "key",
    "OPENAI_API_VERSION": "1",
    "LITELLM_BASE_URL": "http://localhost:1",
    "OLLAMA_BASE_URL": "http://localhost:1/v1",
    "VERCEL_AI_GATEWAY_API_KEY": "key",
    "HEROKU_INFERENCE_KEY": "key",
}
"""What some want beside, or in place of, a key of the usual name."""


@pytest.fixture(autouse=True)
def _keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in SETTINGS.items():
        monkeypatch.setenv(name, value)
    for provider in [*AT_HAND, *WITH_A_PACKAGE]:
        monkeypatch.setenv(f"{provider.upper()}_API_KEY", "key")


@pytest.mark.parametrize("provider", AT_HAND)
def test_a_provider_that_works_as_installed(provider: str) -> None:
    assert infer_model(f"{provider}:some/model").model_name


@pytest.mark.parametrize("provider", WITH_A_PACKAGE)
def test_a_provider_with_a_package_of_its_own(provider: str) -> None:
    with pytest.raises(ImportError, match="pip install"):
        infer_model(f"{provider}:some/model")
