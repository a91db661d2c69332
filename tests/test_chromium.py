"""No run of CI passes because there was no browser to fail in."""

import pytest

from tests.chromium import chromium


@pytest.fixture(autouse=True)
def _no_browser_anywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("POCKETCHAT_CHROMIUM", raising=False)


def test_without_a_browser_ci_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", "true")
    with pytest.raises(pytest.fail.Exception, match="apt-get install chromium"):
        chromium()


def test_without_a_browser_a_run_elsewhere_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CI", raising=False)
    with pytest.raises(pytest.skip.Exception, match="apt-get install chromium"):
        chromium()


def test_a_browser_may_be_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POCKETCHAT_CHROMIUM", "/opt/browser")
    assert chromium() == "/opt/browser"
