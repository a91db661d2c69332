"""The files the front end is made of."""

from pathlib import Path

from tests.stack import ROOT

TEMPLATES = sorted((ROOT / "templates").rglob("*.html"))
MODULES = sorted((ROOT / "static/js").glob("*.js"))
STYLES = sorted((ROOT / "static/css").glob("*.css"))


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))
