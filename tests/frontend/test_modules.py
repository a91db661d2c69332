"""The JavaScript and CSS: small, ours, and without ways round the Content-Security-Policy."""

import re
from pathlib import Path

import pytest

from tests.frontend.sources import MODULES, STYLES, name_of
from tests.stack import ROOT

every_module = pytest.mark.parametrize("path", MODULES, ids=name_of)
every_file = pytest.mark.parametrize("path", [*MODULES, *STYLES], ids=name_of)


@every_module
def test_it_is_short(path: Path) -> None:
    assert len(path.read_text().splitlines()) < 100


@every_module
def test_it_begins_with_what_it_is_for(path: Path) -> None:
    assert path.read_text().startswith("// ")


@every_module
def test_it_makes_no_page_from_text(path: Path) -> None:
    """Text becomes text nodes; markup comes from the server alone."""
    text = path.read_text()
    assert not re.search(r"(?:inner|outer)HTML\s*\+?=|insertAdjacentHTML|document\.write|\beval\b|new Function", text)


@every_module
def test_it_imports_only_what_exists(path: Path) -> None:
    for name in re.findall(r"""(?:from|import)\s+"([^"]+)";""", path.read_text()):
        assert (path.parent / name).resolve().is_relative_to(ROOT / "static")
        assert (path.parent / name).is_file(), name


def test_every_module_is_reached_from_the_first() -> None:
    first = ROOT / "static/js/app.js"
    reached, waiting = {first}, [first]
    while waiting:
        path = waiting.pop()
        for name in re.findall(r'"(\./[^"]+\.js)"', path.read_text()):
            found = (path.parent / name).resolve()
            if found not in reached:
                reached.add(found)
                waiting.append(found)
    assert reached == set(MODULES)


@every_file
def test_it_asks_nothing_of_another_server(path: Path) -> None:
    assert not re.search(r"""https?://|url\((?!"\.\./vendor/)|@import""", path.read_text())
