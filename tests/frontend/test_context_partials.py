"""The meter and the line in the thread, as the views hand them to the templates."""

import re
from types import SimpleNamespace
from uuid import UUID

import pytest
from django.template.loader import render_to_string

from conversations.context.record import LeftOut, Recalled, Record, Section
from conversations.outlook import Outlook
from conversations.refusals import PromptTooLong
from conversations.views.meters import SCALE, divider_of, meter_of

CONVERSATION = SimpleNamespace(id=UUID(int=1))


def record(*, left_out: tuple[LeftOut, ...] = (), **facts: object) -> Record:
    sections = (Section("system", 10), Section("tools", 200), Section("window", 300), Section("prompt", 2))
    return Record(sections, (7, 8, 9), left_out, history=1000, **facts)  # type: ignore[arg-type]  # whatever the test says


def words_of(html: str) -> str:
    return " ".join(re.sub(r"<[^>]*>", " ", html).split())


def meter(told: Record) -> str:
    made = meter_of(Outlook(told, "openai:scripted"))
    return render_to_string("conversations/_meter.html", {"meter": made, "conversation": CONVERSATION})


def divider(told: Record, questions: list[int]) -> str:
    made = divider_of(Outlook(told, "openai:scripted"), questions)
    return render_to_string("conversations/_divider.html", {"divider": made, "conversation": CONVERSATION})


def test_the_meter_draws_each_section_in_its_place() -> None:
    parts = meter_of(Outlook(record(), "openai:scripted")).parts
    assert [part.name for part in parts] == ["system", "tools", "window", "prompt"]
    assert all(part.width > 0 and part.x + part.width <= SCALE for part in parts)
    assert [part.x for part in parts] == sorted(part.x for part in parts)
    html = meter(record())
    assert html.count("<rect") == 4
    assert "style" not in html


def test_the_meter_says_it_in_words() -> None:
    words = words_of(meter(record()))
    assert "512 of 1,212 tokens" in words
    assert "Tools: 200. Recent turns: 300." in words


@pytest.mark.parametrize("sections", [(), (Section("prompt", 0),)])
def test_a_meter_of_nothing_can_be_drawn(sections: tuple[Section, ...]) -> None:
    made = meter_of(Outlook(Record(sections, (1,)), "openai:scripted"))
    assert (made.tokens, made.room, made.parts) == (0, 0, ())


def test_a_meter_of_a_refused_question_has_its_size_and_the_limit() -> None:
    made = meter_of(PromptTooLong(size=9000, limit=6000, unit="tokens"))
    html = render_to_string("conversations/_meter.html", {"meter": made, "conversation": CONVERSATION})
    assert "Too long: 9,000 of 6,000 tokens" in words_of(html)


def test_nothing_left_out_needs_no_line() -> None:
    assert "hidden" in divider(record(), [7, 9])
    skipped = (LeftOut((3, 4), "not_complete"),)
    assert "hidden" in divider(record(left_out=skipped), [7, 9])


def test_a_line_says_what_stands_for_what_is_above_it() -> None:
    cut = (LeftOut((5,), "history_budget", and_before=True),)
    plain = divider(record(left_out=cut), [5, 7])
    assert "hidden" not in plain
    assert "See what is sent" in plain
    rich = divider(record(left_out=cut, summary=3, recalled=(Recalled((1, 2), 0.5), Recalled((3, 4), 0.5))), [5, 7])
    assert "A summary stands for them." in rich
    assert "2 earlier turns brought back" in words_of(rich)
