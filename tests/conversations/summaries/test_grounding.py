"""Whether a model says what it was told, and no more."""

import pytest

from conversations.summaries.grounding import goes_in_circles, invented, strays

TOLD = "My sister Alma's cat is called Pixel. We go to Lisbon on 4 May, for 900 euros."


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("The user's sister Alma has a cat, Pixel. They go to Lisbon on 4 May for 900 euros.", []),
        ("Lisbon is where they go.\nPixel is Alma’s cat: “Everybody” goes.", []),
        ("They go to the Olympics of 2024.", ["Olympics", "2024"]),
        ("Tom goes along. He said that Tom works in Oslo.", ["Tom", "Oslo"]),
        ("For 90 euros.", ["90"]),
    ],
)
def test_names_and_numbers_that_nobody_told_are_found(text: str, found: list[str]) -> None:
    assert invented(text, TOLD) == found


@pytest.mark.parametrize(
    ("text", "is_astray"),
    [
        ("The sister's cat is called Pixel.", False),
        ("Sisters are called.", False),
        ("Dough needs an hour of warmth.", True),
        ("Ok.", False),
    ],
)
def test_what_shares_no_words_with_what_was_told_strays(text: str, is_astray: bool) -> None:
    assert strays(text, TOLD) is is_astray


@pytest.mark.parametrize(
    ("text", "is_circle"),
    [
        ("No, no, no, no, no, no, no, no, no, no.", True),
        ("I'm sorry, I'm a baker. I'm sorry, I'm a baker. I'm sorry, I'm a baker.", True),
        (TOLD, False),
        ("Very, very, very good.", False),
        ("", False),
    ],
)
def test_what_says_the_same_again_and_again_goes_in_circles(text: str, is_circle: bool) -> None:
    assert goes_in_circles(text) is is_circle
