"""What is sent with a question, against the same rules written the simplest slow way."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conversations.context.assemble import as_turns
from conversations.context.choice import Choice, choose
from conversations.context.record import LeftOut
from conversations.context.shortened import shortened_to
from conversations.context.values import (
    Budget,
    Past,
    Recollection,
    StoredMessage,
    StoredTurn,
    Summary,
    SystemPrompt,
    Toolbox,
)
from conversations.context.windows import pairs, stepped
from conversations.providers.values import ToolCall, ToolResult, ToolSpec
from conversations.refusals import PromptTooLong
from tests.conversations.context.histories import broken_branches, orderly_turns, said
from tests.conversations.context.test_windows import slowly as slow_window
from tests.conversations.context.test_windows import turns_of

NOTE = 30
"""Tokens of the words around recollections."""


@dataclass(frozen=True)
class Case:
    """All that is given to the choice."""

    past: Past
    prompt: StoredMessage
    system: SystemPrompt
    budget: Budget
    start: int | None
    tools: Toolbox
    rounds: tuple[StoredMessage, ...]

    def choice(self) -> Choice:
        return choose(
            self.past,
            self.prompt,
            system=self.system,
            budget=self.budget,
            policy=stepped(self.start),
            tools=self.tools,
            rounds=self.rounds,
        )


def rounds_of(*sizes: int) -> tuple[StoredMessage, ...]:
    return tuple(
        message
        for number, size in enumerate(sizes, start=1)
        for message in (
            StoredMessage(-number, "assistant", "", 5, calls=(ToolCall(f"r{number}", "look", "{}"),)),
            StoredMessage(-number, "tool", "", size, results=(ToolResult(f"r{number}", "look", "x" * size),)),
        )
    )


def toolbox(tokens: int) -> Toolbox:
    return Toolbox((ToolSpec("look", "Looks.", {}),), tokens) if tokens else Toolbox()


@st.composite
def recollections(draw: st.DrawFn, turns: Sequence[StoredTurn]) -> tuple[Recollection, ...]:
    """Turns of the branch, read or not, some twice; and the question's own."""
    older = (*turns_of(20, 30, first=-60), *turns, StoredTurn((said(10_000, "user", 5),)))
    blank = StoredTurn((StoredMessage(-70, "user", " ", 5),))
    scores = st.sampled_from([0.0, 0.25, 0.5, 1.0])
    made = st.builds(Recollection, st.sampled_from([*older, blank]), scores)
    return tuple(draw(st.lists(made, max_size=5)))


@st.composite
def cases(draw: st.DrawFn) -> Case:
    turns = draw(st.one_of(orderly_turns(), broken_branches().map(as_turns)))
    ids = [message.id for turn in turns for message in turn.messages]
    texts = st.sampled_from(["Bees.", " ", ""])
    sizes, throughs = st.sampled_from([10, 60, 400]), st.sampled_from([-6, -5, *ids])
    written = st.builds(Summary, st.just(7), texts, sizes, throughs, is_owners=st.booleans())
    summaries = st.lists(written, max_size=3, unique_by=lambda one: one.through).map(tuple)
    small = st.integers(min_value=0, max_value=60)
    return Case(
        past=Past(
            turns,
            unread=draw(st.sampled_from([None, -5])),
            opening=draw(st.sampled_from([(), (-9, -8)])),
            summaries=draw(summaries),
            recollections=draw(recollections(turns)),
        ),
        prompt=said(10_000, "user", draw(st.integers(min_value=1, max_value=400))),
        system=SystemPrompt("Be brief.", draw(small)),
        budget=Budget(
            window=draw(st.integers(min_value=600, max_value=1200)),
            reply=draw(st.integers(min_value=0, max_value=100)),
            history=draw(st.integers(min_value=0, max_value=600)),
            retrieved=draw(st.sampled_from([0, 40, 100, 300])),
        ),
        start=draw(st.sampled_from([None, 777, *ids])),
        tools=toolbox(draw(st.sampled_from([0, 20, 800]))),
        rounds=rounds_of(*draw(st.lists(st.integers(min_value=0, max_value=900), max_size=3))),
    )


@dataclass
class Expected:
    tools: bool
    window: list[int]
    summary: Summary | None
    recalled: list[tuple[int, ...]]
    rounds: int


def slowly(case: Case) -> Expected:
    """Each part in the order in which it gets its share."""
    free = case.budget.window - case.budget.reply - case.system.tokens - case.prompt.tokens
    tools = bool(case.tools.specs) and case.tools.tokens <= free
    free -= case.tools.tokens if tools else 0
    rounds = sum(message.tokens for message in shortened_to(free, case.rounds))
    free -= rounds
    room = max(min(case.budget.history, free - case.budget.retrieved), 0)
    window = slow_window(case.past, room, case.start)
    free -= sum(turn.tokens for turn in window)
    retrieved = min(case.budget.retrieved, free)
    is_missing = len(window) < len(case.past.turns) or case.past.unread is not None
    in_window = {number for turn in window for number in turn.ids}
    summary = None
    for one in sorted(case.past.summaries, key=lambda one: one.through):
        if one.through not in in_window or one.is_owners:
            summary = one
    before = [number for turn in case.past.turns for number in turn.ids if number not in in_window]
    newest_before = (before or [-5])[-1]
    if is_missing and (summary is None or summary.through < newest_before):
        ahead = [one for one in case.past.summaries if one.through in in_window and not one.is_owners]
        worded = sorted((one for one in ahead if one.text.strip()), key=lambda one: one.through)
        summary = worded[0] if worded else summary
    if summary and not (is_missing and summary.text.strip() and summary.tokens <= retrieved):
        summary = None
    retrieved -= summary.tokens if summary else 0
    there = {10_000, *(message.id for turn in window for message in turn.messages)}
    recalled: list[Recollection] = []
    waiting = list(case.past.recollections)
    while waiting:
        best = next(one for one in waiting if one.score == max(other.score for other in waiting))
        waiting.remove(best)
        taken = {number for one in recalled for number in one.turn.ids}
        size = NOTE + sum(one.tokens for one in [*recalled, best])
        if size <= retrieved and best.has_words and not (there | taken) & set(best.turn.ids):
            recalled.append(best)
    return Expected(
        tools=tools,
        window=[message.id for turn in window for message in turn.messages],
        summary=summary,
        recalled=sorted(one.turn.ids for one in recalled),
        rounds=rounds,
    )


@given(cases())
def test_the_choice_is_that_of_the_simplest_rules(case: Case) -> None:
    choice, expected = case.choice(), slowly(case)
    assert bool(choice.tools.specs) == expected.tools
    assert [message.id for message in choice.earlier] == expected.window
    assert choice.summary == expected.summary
    assert [one.turn.ids for one in choice.recalled] == expected.recalled
    assert sum(message.tokens for message in choice.rounds) == expected.rounds


@given(cases())
def test_all_parts_together_fit_beside_the_reply(case: Case) -> None:
    """Unless what the model itself wrote in this turn, which is never cut, takes more than there is."""
    choice = case.choice()
    sizes = {section.name: section.tokens for section in choice.sections}
    written = sum(message.tokens for message in case.rounds if not message.results)
    if (
        sum(sizes.get(name, 0) for name in ("system", "tools", "prompt")) + written
        <= case.budget.window - case.budget.reply
    ):
        assert sum(sizes.values()) <= case.budget.window - case.budget.reply
    assert sizes["window"] <= min(case.budget.history, choice.room)
    assert sizes.get("summary", 0) + sizes.get("recalled", 0) <= case.budget.retrieved


@given(cases())
def test_the_sections_are_the_sizes_of_what_is_sent(case: Case) -> None:
    choice = case.choice()
    parts = {
        "system": case.system.tokens,
        "tools": choice.tools.tokens,
        "summary": choice.summary.tokens if choice.summary else 0,
        "window": sum(message.tokens for message in choice.earlier),
        "recalled": NOTE + sum(one.tokens for one in choice.recalled) if choice.recalled else 0,
        "prompt": case.prompt.tokens,
        "rounds": sum(message.tokens for message in choice.rounds),
    }
    found = {section.name: section.tokens for section in choice.sections}
    assert found == {name: size for name, size in parts.items() if size or name in ("system", "window", "prompt")}
    assert list(found) == [name for name in parts if name in found]


@given(cases())
def test_every_message_of_the_past_is_sent_or_left_out_with_a_reason(case: Case) -> None:
    choice = case.choice()
    left_out = [number for span in choice.left_out for number in span.ids]
    sent = [message.id for message in choice.earlier]
    unread = [] if case.past.unread is None else [case.past.unread]
    known = [message.id for turn in case.past.turns for message in turn.messages]
    assert [*left_out, *sent] == [*case.past.opening, *unread, *known]
    assert all(span.ids for span in choice.left_out)
    assert [span.reason for span in choice.left_out if span.ids == case.past.opening] == (
        ["no_question"] if case.past.opening else []
    )
    assert any(span.and_before for span in choice.left_out) == (case.past.unread is not None)


@given(cases())
def test_a_recollection_is_never_what_is_sent_anyway_and_they_are_in_order(case: Case) -> None:
    choice = case.choice()
    sent = {message.id for message in choice.earlier} | {case.prompt.id}
    recalled = [number for one in choice.recalled for number in one.turn.ids]
    assert sent.isdisjoint(recalled)
    assert recalled == sorted(recalled)
    assert len(recalled) == len(set(recalled))


@given(cases())
def test_the_rounds_stay_with_their_calls(case: Case) -> None:
    choice = case.choice()
    assert [(one.role, one.calls) for one in choice.rounds] == [(one.role, one.calls) for one in case.rounds]


BUDGET = Budget(window=1000, reply=100, history=300, retrieved=200)
SYSTEM = SystemPrompt("Be brief.", 5)
PROMPT = said(10_000, "user", 10)
BEES = Summary(7, "They spoke of bees.", 50, through=2)


def chosen(
    past: Past, *, budget: Budget = BUDGET, prompt: StoredMessage = PROMPT, rounds: tuple[int, ...] = ()
) -> Choice:
    return Case(past, prompt, SYSTEM, budget, None, Toolbox(), rounds_of(*rounds)).choice()


def test_a_summary_is_sent_exactly_when_something_before_the_window_is_not() -> None:
    assert chosen(Past(turns_of(100, 200), summaries=(BEES,))).summary is None
    assert chosen(Past(turns_of(101, 200), summaries=(BEES,))).summary == BEES
    assert chosen(Past(unread=3, summaries=(BEES,))).summary == BEES


def test_a_summary_that_does_not_fit_makes_way_for_recollections() -> None:
    bees, wasps = (Recollection(turn, 0.5) for turn in turns_of(100, 60, first=-20))
    past = Past(unread=3, summaries=(Summary(7, "Long.", 201, through=2),), recollections=(bees, wasps))
    choice = chosen(past)
    assert (choice.summary, choice.recalled) == (None, (bees, wasps))


def test_a_summary_that_just_fits_is_sent_and_a_blank_one_is_not() -> None:
    assert chosen(Past(unread=3, summaries=(Summary(7, "Long.", 200, through=2),))).summary
    assert chosen(Past(unread=3, summaries=(Summary(7, " \n", 10, through=2),))).summary is None


def test_of_several_the_one_that_stands_for_most_before_the_window_is_sent() -> None:
    turns = turns_of(90, 90, 90, 90)
    short, long = Summary(7, "Short.", 10, through=2), Summary(8, "Longer.", 20, through=4)
    assert chosen(Past(turns, summaries=(short, long))).summary == long
    # Written ahead, it waits while the other one reaches up to the window, which begins with 5, and no longer.
    ahead = replace(long, through=6)
    assert chosen(Past(turns, summaries=(replace(short, through=4), ahead))).summary == replace(short, through=4)
    far = replace(short, through=-1)
    assert chosen(Past(turns, summaries=(far, ahead))).summary == ahead
    assert chosen(Past(turns, summaries=(far, replace(ahead, text="")))).summary == far
    assert chosen(Past(turns, summaries=(short, replace(long, text="")))).summary is None


def test_what_its_owner_wrote_is_sent_at_once() -> None:
    short, corrected = Summary(7, "Short.", 10, through=2), Summary(8, "No.", 20, through=6, is_owners=True)
    assert chosen(Past(turns_of(90, 90, 90, 90), summaries=(short, corrected))).summary == corrected
    removed = replace(corrected, text="")
    assert chosen(Past(turns_of(90, 90, 90, 90), summaries=(short, removed))).summary is None


def test_recollections_get_what_the_summary_leaves() -> None:
    def recalled(size: int) -> int:
        one = Recollection(turns_of(size, first=-20)[0], 1)
        return len(chosen(Past(unread=3, summaries=(BEES,), recollections=(one,))).recalled)

    assert (recalled(200 - 50 - NOTE), recalled(200 - 50 - NOTE + 1)) == (1, 0)


def test_what_is_sent_anyway_or_has_no_words_is_not_brought_back() -> None:
    turns = turns_of(10, 10)
    blank = StoredTurn((StoredMessage(-9, "user", " ", 5),))
    own = StoredTurn((PROMPT,))
    past = Past(turns, recollections=tuple(Recollection(turn, 1) for turn in (*turns, blank, own)))
    assert chosen(past).recalled == ()


def test_one_turn_is_brought_back_once() -> None:
    one = turns_of(10, first=-20)[0]
    assert len(chosen(Past(recollections=(Recollection(one, 2), Recollection(one, 1)))).recalled) == 1


@pytest.mark.parametrize(("tokens", "are_offered"), [(885, True), (886, False)])
def test_tools_are_offered_when_the_question_fits_beside_them(tokens: int, are_offered: bool) -> None:
    choice = Case(Past(), PROMPT, SYSTEM, BUDGET, None, toolbox(tokens), ()).choice()
    assert bool(choice.tools.specs) == are_offered
    assert [section.name for section in choice.sections if section.name == "tools"] == ["tools"] * are_offered


def test_instructions_window_and_question_have_a_size_even_when_it_is_nothing() -> None:
    choice = Case(Past(), said(1, "user", 0), SystemPrompt("", 0), BUDGET, None, Toolbox(), ()).choice()
    assert [(section.name, section.tokens) for section in choice.sections] == [
        ("system", 0),
        ("window", 0),
        ("prompt", 0),
    ]


def test_the_best_recollections_are_taken_and_told_in_their_order() -> None:
    old, mid, new = (
        Recollection(turn, score) for turn, score in zip(turns_of(80, 80, 80, first=-20), (3, 1, 2), strict=True)
    )
    assert chosen(Past(recollections=(old, mid, new))).recalled == (old, new)


def test_one_that_does_not_fit_leaves_room_for_a_smaller_one() -> None:
    big, small = (Recollection(turn, score) for turn, score in zip(turns_of(171, 170, first=-20), (2, 1), strict=True))
    assert chosen(Past(recollections=(big, small))).recalled == (small,)


def test_the_rounds_take_the_place_of_what_is_brought_back() -> None:
    past = Past(unread=3, summaries=(BEES,), recollections=(Recollection(turns_of(60, first=-20)[0], 1),))
    assert chosen(past, rounds=(700,)).recalled
    crowded = chosen(past, rounds=(840,))
    assert (crowded.summary, crowded.recalled) == (None, ())


def test_a_question_is_refused_when_it_does_not_fit_beside_instructions_and_reply() -> None:
    assert chosen(Past(), prompt=said(10_000, "user", 895)).prompt.tokens == 895
    with pytest.raises(PromptTooLong) as refusal:
        chosen(Past(), prompt=said(10_000, "user", 896))
    assert (refusal.value.size, refusal.value.limit, refusal.value.unit) == (896, 895, "tokens")


def test_what_pairs_pass_over_is_left_out_with_its_own_reason() -> None:
    stopped = StoredTurn((said(3, "user", 2), said(4, "assistant", 2, complete=False)))
    past = Past((*turns_of(4), stopped, *turns_of(4, first=5)), summaries=(BEES,))
    choice = choose(past, PROMPT, system=SYSTEM, budget=BUDGET, policy=pairs("Why?"), tools=Toolbox(), rounds=())
    assert [message.id for message in choice.earlier] == [1, 2, 5, 6]
    assert choice.left_out == (LeftOut((3, 4), "not_complete"),)
    assert choice.summary is None


def test_the_opening_of_a_conversation_has_no_question() -> None:
    choice = chosen(Past(turns_of(4, first=5), opening=(3, 4)))
    assert choice.left_out == (LeftOut((3, 4), "no_question"),)
    assert not choice.window.was_cut
