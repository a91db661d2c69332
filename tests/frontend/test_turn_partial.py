"""The partial of a turn, in each state a turn can be in."""

from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal

import pytest
from django.template.loader import render_to_string
from django.utils.safestring import SafeString, mark_safe

from conversations.tools.lines import CallLine
from conversations.views.reply_parts import Part, Words

ID = "0b7e8a52-1f0c-4b0e-9a57-6d3c1c0f9a11"


@dataclass(frozen=True)
class Shown:
    """A turn as the views hand it to the templates."""

    status: str = "complete"
    is_live: bool = False
    answer_text: str = "It is **warm**."
    error: str = ""
    can_retry: bool = False
    other_model_label: str = ""
    retry_key: str = "key"
    was_cut_off: bool = False
    id: str = ID
    anchor: str = f"turn-{ID}"
    asked_at: datetime = datetime(2026, 1, 2, 3, 4, tzinfo=UTC)
    model_label: str = "A model"
    input_tokens: int | None = 1234
    output_tokens: int | None = 56
    cost: Decimal | None = None
    calls: tuple[CallLine, ...] = ()
    events_url: str = f"/api/v1/turns/{ID}/events"
    stop_url: str = f"/turns/{ID}/stop/"
    retry_url: str = f"/turns/{ID}/retry/"

    @property
    def blank_call(self) -> CallLine:
        return CallLine()

    @property
    def prompt_html(self) -> SafeString:
        return mark_safe("<p>Is it cold?</p>")

    @property
    def parts(self) -> tuple[Part, ...]:
        return (*self.calls, Words(mark_safe(f"<p>{self.answer_text}</p>"))) if self.answer_text else self.calls


def partial(turn: Shown, **context: object) -> str:
    return render_to_string("conversations/_turn.html", {"turn": turn, **context})


def test_a_live_turn_names_its_events_and_where_to_stop_it() -> None:
    html = partial(Shown(status="streaming", is_live=True))
    assert f'data-events="/api/v1/turns/{ID}/events"' in html
    assert f'data-finished="/turns/{ID}/"' in html
    assert f'id="stop-{ID}"' in html


def test_a_live_turn_shows_what_is_there_without_a_script() -> None:
    assert "It is **warm**." in partial(Shown(status="streaming", is_live=True))


def test_a_finished_turn_has_no_stream() -> None:
    html = partial(Shown())
    assert "live-reply" not in html
    assert "data-copy-answer" in html


@pytest.mark.parametrize("status", ["failed", "stopped", "interrupted"])
def test_an_unfinished_turn_says_why_and_offers_to_try_again(status: str) -> None:
    html = partial(Shown(status=status, error="So it ended.", can_retry=True))
    assert 'class="notice' in html
    assert f'action="/turns/{ID}/retry/"' in html


def test_what_cannot_be_tried_again_offers_nothing() -> None:
    assert "Try again" not in partial(Shown(status="failed"))


def test_the_reason_of_a_failure_is_shown_as_text() -> None:
    html = partial(Shown(status="failed", error="<b>The model is busy.</b>"))
    assert "&lt;b&gt;The model is busy.&lt;/b&gt;" in html


def test_a_failure_without_a_word_leaves_no_empty_reply() -> None:
    html = partial(Shown(status="failed", answer_text=""))
    assert 'class="prose"' not in html
    assert "data-copy-answer" not in html


def test_a_reply_at_its_limit_says_so() -> None:
    assert "reached the length" in partial(Shown(was_cut_off=True))


def test_alone_it_moves_the_composer_to_the_newest_message() -> None:
    html = partial(Shown(), oob_parent=42)
    assert 'hx-swap-oob="true"' in html
    assert 'value="42"' in html


def test_on_a_page_it_leaves_the_composer_alone() -> None:
    assert "hx-swap-oob" not in partial(Shown())


def test_an_unknown_price_is_not_shown_as_nothing() -> None:
    assert "$" not in partial(Shown())
    assert "$0.0012" in partial(Shown(cost=Decimal("0.0012")))


def test_a_call_is_a_line_with_its_details_folded() -> None:
    call = CallLine(id="1", status="done", label="Searched for “<b>”", arguments='{"query": "<b>"}', result="<i>")
    html = partial(Shown(calls=(call,)))
    assert '<details class="call"' in html
    assert "open" not in html.split('class="call"')[1].split(">")[0]
    assert "Searched for “&lt;b&gt;”" in html
    assert "&lt;i&gt;" in html
    assert "<i>" not in html


def test_a_call_without_a_result_shows_none() -> None:
    html = partial(
        Shown(status="stopped", answer_text="", calls=(CallLine(id="1", status="unfinished", label="Using x"),))
    )
    assert 'data-status="unfinished"' in html
    assert html.split('data-part="result"')[1].split(">")[0].strip() == "hidden"


def test_a_live_turn_brings_a_blank_line_for_calls_to_come() -> None:
    assert "<template data-blank-call>" in partial(Shown(status="streaming", is_live=True))
