"""What no template may contain, and that each names only what exists."""

import re
from pathlib import Path

import pytest
from django.contrib.staticfiles import finders
from django.template.loader import get_template

from tests.frontend.sources import TEMPLATES, name_of
from tests.stack import ROOT

SYMBOLS = set(re.findall(r'<symbol id="([^"]+)"', (ROOT / "static/vendor/icons.svg").read_text()))

every_template = pytest.mark.parametrize("path", TEMPLATES, ids=name_of)


@every_template
def test_it_has_no_inline_style_and_no_inline_handler(path: Path) -> None:
    text = path.read_text()
    assert not re.search(r"\sstyle\s*=", text)
    assert not re.search(r"\son[a-z]+\s*=", text)
    assert "<style" not in text


@every_template
def test_it_has_no_script_but_files_of_ours(path: Path) -> None:
    scripts = re.findall(r"<script\b[^>]*>", path.read_text())
    assert all('src="{% static' in script for script in scripts)


@every_template
def test_it_asks_nothing_of_another_server(path: Path) -> None:
    assert not re.search(r"""(?:src|href|action)\s*=\s*["'](?:https?:)?//""", path.read_text())


@every_template
def test_it_compiles(path: Path) -> None:
    get_template(str(path.relative_to(ROOT / "templates")))


@every_template
def test_it_includes_and_links_only_what_exists(path: Path) -> None:
    text = path.read_text()
    for name in re.findall(r"""{%\s*(?:include|extends)\s+["']([^"']+)["']""", text):
        get_template(name)
    for name in re.findall(r"""{%\s*static\s+["']([^"']+)["']""", text):
        assert finders.find(name), name


@every_template
def test_it_uses_only_icons_of_the_sprite(path: Path) -> None:
    used = set(re.findall(r"""includes/icon\.html["']\s+with\s+name="([^"]+)""", path.read_text()))
    assert used <= SYMBOLS


@every_template
def test_it_is_short(path: Path) -> None:
    assert len(path.read_text().splitlines()) <= 50
