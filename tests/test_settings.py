"""Settings: what an environment makes of them, and that the README tells of each."""

import os
import re
import runpy
from pathlib import Path
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured

from tests.stack import ROOT

SETTINGS = ROOT / "pocketchat" / "settings.py"
OWN_DATABASE = {"DATABASE_URL": "postgres://u:p@db.example.org/d", "SECRET_KEY": "k" * 60}


@pytest.fixture(autouse=True)
def _nothing_set(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in read_names():
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("POCKETCHAT_ENV_FILE", os.devnull)
    monkeypatch.setenv("POCKETCHAT_VAR", str(tmp_path))


def read_names() -> set[str]:
    """Every variable that the settings read."""
    reader = r"(?:\benv\.\w+\(|os\.environ\.get\(|(?:postgres_database|choice|mail_server)\(\s*env,)"
    return set(re.findall(rf'{reader}\s*"([A-Z_]+)"', SETTINGS.read_text()))


def settings_of(monkeypatch: pytest.MonkeyPatch, **environment: str) -> dict[str, Any]:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    return runpy.run_path(str(SETTINGS))


def told_names() -> set[str]:
    """Every variable in the first column of the README's table."""
    section = (ROOT / "README.md").read_text().partition("### Settings")[2].partition("\n### ")[0]
    cells = [line.split("|")[1] for line in section.splitlines() if line.startswith("| `")]
    return set(re.findall(r"`([A-Z_]+)`", " ".join(cells)))


def test_the_readme_tells_of_every_setting_and_of_no_other() -> None:
    assert "POCKETCHAT_URL" in told_names()
    assert told_names() == read_names()


@pytest.mark.parametrize(
    ("environment", "is_open"),
    [({}, True), (OWN_DATABASE, False), ({**OWN_DATABASE, "POCKETCHAT_OPEN_SIGNUP": "true"}, True)],
)
def test_with_a_database_of_ones_own_sign_up_opens_only_when_it_is_asked_for(
    environment: dict[str, str], is_open: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert settings_of(monkeypatch, **environment)["POCKETCHAT_OPEN_SIGNUP"] is is_open


def test_https_binds_this_host_alone_until_its_owner_says_more(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = settings_of(monkeypatch, POCKETCHAT_URL="https://chat.example.org")
    assert plain["SECURE_HSTS_SECONDS"] == 365 * 24 * 3600
    assert not plain["SECURE_HSTS_INCLUDE_SUBDOMAINS"]
    assert not plain["SECURE_HSTS_PRELOAD"]
    more = settings_of(monkeypatch, SECURE_HSTS_INCLUDE_SUBDOMAINS="true", SECURE_HSTS_PRELOAD="true")
    assert more["SECURE_HSTS_INCLUDE_SUBDOMAINS"]
    assert more["SECURE_HSTS_PRELOAD"]


def test_http_promises_no_https(monkeypatch: pytest.MonkeyPatch) -> None:
    found = settings_of(monkeypatch, SECURE_HSTS_SECONDS="60", SECURE_HSTS_INCLUDE_SUBDOMAINS="true")
    assert found["SECURE_HSTS_SECONDS"] == 0


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("TIME_ZONE", "Mars", "Europe/Berlin"),
        ("ACCOUNT_EMAIL_VERIFICATION", "maybe", "mandatory, none, optional"),
        ("EMAIL_URL", "nonsense", "smtp"),
        ("POCKETCHAT_PORT", "80x", "cannot be read"),
    ],
)
def test_a_value_that_cannot_be_meant_is_refused_by_name(
    name: str, value: str, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ImproperlyConfigured, match=rf"^{name} .*{words}"):
        settings_of(monkeypatch, **{name: value})
