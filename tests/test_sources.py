"""What the linters cannot ask of our code."""

import re
from pathlib import Path

import pytest

from tests.stack import ROOT

FILES = [
    path
    for folder in ("pocketchat", "accounts", "conversations", "tests")
    for path in sorted((ROOT / folder).rglob("*.py"))
]
EXCUSE = re.compile(r"#\s*(?:ruff: )?(?:type: ignore\[[^]]+\]|noqa: [A-Z0-9, ]+[0-9])(?P<reason>.*)")


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_excuse_from_a_check_carries_its_reason(path: Path) -> None:
    for line in path.read_text().splitlines():
        for excuse in EXCUSE.finditer(line):
            assert re.match(r"  # \w|  - \w| - \w", excuse["reason"]), line
