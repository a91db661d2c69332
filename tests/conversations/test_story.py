"""The order and the wholeness of what a turn has to tell."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from conversations.streams.story import Event, Story

WORDS = st.tuples(st.just("say"), st.text(min_size=1, max_size=4))
CALLS = st.tuples(st.just("tell"), st.sampled_from("abc"))
STEPS = st.lists(
    st.one_of(WORDS, CALLS, st.just(("write", "")), st.just(("fail", "")), st.just(("lose", ""))), max_size=30
)


class Shown:
    """What a viewer has, who takes events as a page does."""

    def __init__(self) -> None:
        self.parts: list[Any] = []

    def take(self, events: list[Event]) -> None:
        for _, event, _, raw in events:
            data = json.loads(raw)
            if event == "snapshot":
                self.parts = [data["text"]] if data["text"] else []
            elif event == "delta":
                self._words(data["text"])
            else:
                known = [part["id"] if isinstance(part, dict) else None for part in self.parts]
                place = known.index(data["id"]) if data["id"] in known else len(known)
                self.parts[place : place + 1] = [data]

    def _words(self, text: str) -> None:
        if self.parts and isinstance(self.parts[-1], str):
            self.parts[-1] += text
        else:
            self.parts.append(text)


@given(STEPS)
def test_whatever_is_written_lost_or_told_again_a_viewer_has_it_all_in_order(steps: list[tuple[str, str]]) -> None:
    story, shown, told = Story(), Shown(), Shown()
    is_certain, number = False, 0
    for step, value in [*steps, ("write", "")]:
        if step == "say":
            story.say(value)
        elif step == "tell":
            number += 1
            story.tell({"id": value, "state": number})
        elif step == "lose":
            is_certain = False
        elif story.has_news:
            events = story.news() if is_certain else story.whole()
            if step == "fail":
                is_certain = False  # Nobody knows whether it arrived.
                continue
            shown.take(events)
            story.was_written()
            is_certain = True
    told.take(story.whole())
    if is_certain:
        assert shown.parts == told.parts
    assert "".join(part for part in told.parts if isinstance(part, str)) == story.text


def test_words_told_while_others_are_written_are_not_lost() -> None:
    story, shown = Story(), Shown()
    story.say("a")
    shown.take(story.whole())
    story.say("b")
    story.was_written()
    shown.take(story.news())
    story.was_written()
    assert shown.parts == ["ab"]
    assert not story.has_news


def test_words_after_a_call_stand_apart_from_those_before() -> None:
    story = Story()
    story.say("Let me look.")
    story.tell({"id": "1"})
    story.say("So")
    story.say(".")
    assert story.text == "Let me look.\n\nSo."
