"""What is imported is declared, and what is declared is used: an upgrade of something else takes nothing away."""

import ast
import re
import sys
import tomllib
from collections.abc import Iterable, Iterator
from importlib.metadata import packages_distributions
from pathlib import Path
from typing import Any

from tests.stack import ROOT

PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
OURS = {"pocketchat", "accounts", "conversations", "tests"}
MODULES = packages_distributions()


def plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def named(requirements: Iterable[Any]) -> set[str]:
    """The packages of a list in pyproject, without versions and extras."""
    return {plain(re.split(r"[\[<>=~!; ]", text)[0]) for text in requirements if isinstance(text, str)}


def sources(*folders: str) -> Iterator[Path]:
    for folder in folders:
        yield from (ROOT / folder).rglob("*.py")


def imported(paths: Iterable[Path], *, by_name: bool = False) -> set[str]:
    """The packages whose modules are imported there; `by_name`: or named in a string, as settings do."""
    roots: set[str] = set()
    for path in paths:
        for node in ast.walk(ast.parse(path.read_text())):
            match node:
                case ast.Import(names):
                    roots |= {alias.name.partition(".")[0] for alias in names}
                case ast.ImportFrom(str(module)):
                    roots.add(module.partition(".")[0])
                case ast.Constant(str(text)) if by_name and re.fullmatch(r"\w+(\.\w+)*", text):
                    roots |= {text.partition(".")[0]} & set(MODULES)
    return {plain(MODULES[root][0]) for root in roots - OURS - set(sys.stdlib_module_names)}


PRODUCT = named(PYPROJECT["project"]["dependencies"])
GROUPS = {name: named(entries) for name, entries in PYPROJECT["dependency-groups"].items()}


def test_what_the_product_imports_is_declared() -> None:
    assert imported(sources("pocketchat", "accounts", "conversations")) <= PRODUCT | GROUPS["embedded"]


def test_what_the_tests_import_is_declared() -> None:
    assert imported(sources("tests")) <= PRODUCT | GROUPS["test"]


def test_what_the_product_declares_is_used() -> None:
    used = imported(sources("pocketchat", "accounts", "conversations"), by_name=True)
    assert (PRODUCT | GROUPS["embedded"]) - used == set()
