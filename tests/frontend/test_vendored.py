"""What was taken from packages is what the packages hold."""

import hashlib
import json

from tests.stack import ROOT

VENDOR = ROOT / "static/vendor"
LISTED: dict[str, dict[str, str]] = json.loads((VENDOR / "checksums.json").read_text())


def test_every_file_has_its_checksum() -> None:
    found = {name: hashlib.sha256((VENDOR / name).read_bytes()).hexdigest() for name in LISTED}
    assert found == {name: entry["sha256"] for name, entry in LISTED.items()}


def test_every_file_is_listed() -> None:
    ours = {"checksums.json", "VENDORED.md"}
    assert {path.name for path in VENDOR.iterdir()} - ours == set(LISTED)


def test_every_package_brings_its_licence() -> None:
    packages = {entry["package"] for entry in LISTED.values()}
    assert packages == {entry["package"] for name, entry in LISTED.items() if name.endswith(".LICENSE")}
