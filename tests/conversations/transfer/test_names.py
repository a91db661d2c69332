"""Names of files: of any script, on any system, leading nowhere."""

import unicodedata
from pathlib import PurePosixPath, PureWindowsPath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conversations.transfer.names import MOST_BYTES, safe_name


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("Bread", "Bread"),
        ("خبز وماء", "خبز وماء"),
        ("面包和水：第一章", "面包和水：第一章"),
        ("👩‍👩‍👧 family 🍞", "👩‍👩‍👧 family 🍞"),
        ("می‌خواهم", "می‌خواهم"),
        ("../../etc/passwd", "etc passwd"),
        ("..\\..\\windows\\system32", "windows system32"),
        ("C:\\autoexec.bat", "C autoexec.bat"),
        (".hidden", "hidden"),
        ("trailing. . .", "trailing"),
        ("CON", "_CON"),
        ("nul.txt", "_nul.txt"),
        ("Console", "Console"),
        ("com¹", "_com¹"),
        ("gpj.\u202eexe", "gpj.exe"),
        ("a\x00b\nc\td", "a b c d"),
        ('say "hello" <now>?*|', "say hello now"),
        ("", "otherwise"),
        ("...", "otherwise"),
        ("\u200f", "otherwise"),
        ("\ud800", "otherwise"),
    ],
)
def test_a_title_as_a_name(title: str, name: str) -> None:
    assert safe_name(title, otherwise="otherwise") == unicodedata.normalize("NFC", name)


@given(st.text())
def test_any_text_makes_a_name(title: str) -> None:
    name = safe_name(title, otherwise="otherwise")
    assert name
    assert name == name.strip()
    assert len(name.encode()) <= MOST_BYTES + 1
    assert PurePosixPath(name).parts == (name,)
    assert PureWindowsPath(name).parts == (name,)
    assert not PureWindowsPath(name).is_reserved()
    assert name not in (".", "..")


def test_a_long_name_is_cut_between_characters() -> None:
    name = safe_name("👩‍👩‍👧" * 40, otherwise="otherwise")
    assert len(name.encode()) <= MOST_BYTES
    assert not name.endswith("\u200d")
