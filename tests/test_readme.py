"""What the README says of providers, layers and events is so with what is installed and written."""

import re
import tomllib

import pytest
from pydantic_ai.models import infer_model

from conversations.api.schema import EVENTS
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


def test_every_layer_is_in_the_readmes_list() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    layers = next(contract["layers"] for contract in contracts if contract.get("containers") == ["conversations"])
    named = {name for layer in layers for name in re.split(r"[ |:]+", layer) if "(" not in name}
    listed = re.search(r"Imports point down only.*One turn, from the keyboard", README)
    assert listed
    missing = named - {"apps"} - set(re.findall(r"\w+", listed[0]))
    assert not missing


def test_what_a_stream_may_end_with_is_named_in_readme_and_schema() -> None:
    ends = {f"`{event}`" for event in ("hello", "delta", "tool", "snapshot", "done", "gone")}
    assert all(end in README for end in ends)
    assert all(end in EVENTS["description"] for end in ends)
