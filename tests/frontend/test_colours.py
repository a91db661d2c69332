"""Every pair of colours that meet on a page can be told apart, in both schemes (WCAG 2.2, level AA)."""

import re

import pytest

from tests.stack import ROOT

TOKENS = (ROOT / "static/css/tokens.css").read_text()
PAIRS = dict(re.findall(r"(--[\w-]+): light-dark\((#[0-9a-f]{6}, #[0-9a-f]{6})\);", TOKENS))

TEXT = [
    *[(ink, ground) for ink in ("--ink", "--ink-soft") for ground in ("--bg", "--surface", "--raised", "--tint")],
    *[(ink, ground) for ink in ("--ink", "--ink-soft") for ground in ("--hover", "--accent-soft", "--code-bg")],
    *[("--ink", ground) for ground in ("--bad-soft", "--warn-soft", "--good-soft", "--selection")],
    *[("--accent", ground) for ground in ("--bg", "--surface", "--raised", "--tint")],
    *[("--accent-strong", ground) for ground in ("--bg", "--surface", "--raised")],
    ("--on-accent", "--accent"),
    ("--on-accent", "--accent-strong"),
    ("--bad", "--bad-soft"),
    ("--bad", "--bg"),
    ("--bad", "--raised"),
    ("--warn", "--warn-soft"),
    ("--warn", "--raised"),
    ("--good", "--good-soft"),
    ("--code-ink", "--code-bg"),
]
BORDERS = [
    *[("--line-strong", ground) for ground in ("--bg", "--surface", "--raised")],
    *[("--accent", ground) for ground in ("--bg", "--surface", "--raised", "--hover", "--accent-soft")],
]

each_scheme = pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])


def luminance(colour: str) -> float:
    channels = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [channel / 12.92 if channel <= 0.04045 else ((channel + 0.055) / 1.055) ** 2.4 for channel in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str, scheme: int) -> float:
    lighter, darker = sorted((luminance(PAIRS[name].split(", ")[scheme]) for name in (one, other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


@each_scheme
@pytest.mark.parametrize(("ink", "ground"), TEXT)
def test_text_can_be_read(ink: str, ground: str, scheme: int) -> None:
    assert contrast(ink, ground, scheme) >= 4.5


@each_scheme
@pytest.mark.parametrize(("edge", "ground"), BORDERS)
def test_edges_and_focus_can_be_seen(edge: str, ground: str, scheme: int) -> None:
    assert contrast(edge, ground, scheme) >= 3


def test_black_on_white_is_21_to_1() -> None:
    assert (luminance("#ffffff") + 0.05) / (luminance("#000000") + 0.05) == pytest.approx(21)
