"""The line where the window begins finds its place among the turns that the page shows."""

import pytest
from playwright.sync_api import Page

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("chromium")]

PLACE = """async ([turns, start, needed]) => {
  const article = (number) => {
    const turn = document.createElement("article");
    turn.className = "turn";
    turn.dataset.question = number;
    return turn;
  };
  const divider = document.createElement("div");
  divider.id = "divider";
  divider.dataset.start = start;
  divider.toggleAttribute("data-needed", needed);
  const thread = document.querySelector("main");
  thread.id = "thread";
  thread.replaceChildren(divider, ...turns.map(article));
  await import("/static/js/divider.js");
  document.dispatchEvent(new CustomEvent("htmx:load"));
  if (divider.hidden) return "hidden";
  return divider.nextElementSibling ? Number(divider.nextElementSibling.dataset.question) : "end";
}"""


@pytest.mark.parametrize(
    ("turns", "start", "needed", "place"),
    [
        ([1, 3, 5], 3, True, 3),
        ([1, 3, 5], 1, True, 1),
        ([1, 3, 5], 1, False, "hidden"),
        ([1, 3, 5], 0, True, "end"),
        ([1, 3, 5], 9, True, "end"),
        ([11, 13], 3, True, "hidden"),
        # The turn it began with is gone: with the next.
        ([1, 5, 7], 3, True, 5),
        ([], 3, True, "end"),
    ],
)
def test_it_finds_its_place(tab: Page, turns: list[int], start: int, needed: bool, place: object) -> None:
    assert tab.evaluate(PLACE, [turns, start, needed]) == place


def test_it_moves_when_older_turns_come(tab: Page) -> None:
    assert tab.evaluate(PLACE, [[11, 13], 3, True]) == "hidden"
    assert tab.evaluate(PLACE, [[1, 3, 11, 13], 3, True]) == 3
