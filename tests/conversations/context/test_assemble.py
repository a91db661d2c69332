"""What the model sees: the rules, on any history."""

from dataclasses import replace
from itertools import count, pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from conversations.context.assemble import NOTHING_ASKED, as_turns, assemble
from conversations.context.choice import NO_TOOLS
from conversations.context.recalled import with_recollections
from conversations.context.record import LeftOut, Recalled, Record
from conversations.context.values import (
    Assembly,
    Budget,
    Past,
    Recollection,
    Role,
    StoredMessage,
    StoredTurn,
    Summary,
    SystemPrompt,
    Toolbox,
)
from conversations.context.windows import stepped
from conversations.providers.values import ChatMessage, Image, ToolCall, ToolResult, ToolSpec
from tests.conversations.context.histories import (
    assert_begins_with,
    assert_valid,
    broken_branches,
    images,
    said,
    texts,
)

SYSTEM = "Be brief."
BUDGET = Budget(window=1000, reply=100, history=400)


def message(number: int, role: Role = "user", *, tokens: int = 10, text: str = "") -> StoredMessage:
    return StoredMessage(id=number, role=role, text=text or f"{role} {number}", tokens=tokens)


def history_of(*sizes: int, first: int = 1) -> tuple[StoredTurn, ...]:
    """Turns of these sizes in tokens, half of each the question's."""
    numbers = count(first)
    return tuple(
        StoredTurn(
            (
                message(next(numbers), "user", tokens=size // 2),
                message(next(numbers), "assistant", tokens=size - size // 2),
            )
        )
        for size in sizes
    )


def assembled(history: tuple[StoredTurn, ...], *, tokens: int = 10, budget: Budget = BUDGET) -> Assembly:
    prompt = message(10_000, "user", tokens=tokens, text="Why?")
    return assemble(Past(history), prompt, system=SystemPrompt(SYSTEM, 5), budget=budget)


turns = st.lists(st.integers(min_value=2, max_value=300), max_size=12).map(lambda sizes: history_of(*sizes))


def test_system_prompt_first_then_the_turns_then_the_question() -> None:
    request = assembled(history_of(20, 20)).request
    assert [(sent.role, sent.text) for sent in request.messages] == [
        ("system", SYSTEM),
        ("user", "user 1"),
        ("assistant", "assistant 2"),
        ("user", "user 3"),
        ("assistant", "assistant 4"),
        ("user", "Why?"),
    ]
    assert request.max_tokens == BUDGET.reply


@given(turns)
def test_the_newest_turns_are_sent_whole_without_a_gap(history: tuple[StoredTurn, ...]) -> None:
    record = assembled(history).record
    ids = [stored.id for turn in history for stored in turn.messages]
    sent = list(record.sent[:-1])
    assert sent == ids[len(ids) - len(sent) :]
    assert [pk for span in record.left_out for pk in span.ids] == ids[: len(ids) - len(sent)]
    starts = {turn.messages[0].id for turn in history}
    assert not sent or sent[0] in starts


@given(turns, st.integers(min_value=1, max_value=895))
def test_nothing_exceeds_its_budget(history: tuple[StoredTurn, ...], tokens: int) -> None:
    sizes = assembled(history, tokens=tokens).record.as_json()["sections"]
    assert sizes["window"] <= BUDGET.history
    assert sum(sizes.values()) + BUDGET.reply <= BUDGET.window


def test_a_turn_too_large_is_left_out_with_everything_before_it() -> None:
    record = assembled(history_of(10, 500, 10)).record
    assert record.sent == (5, 6, 10_000)
    assert record.left_out == (LeftOut((1, 2, 3, 4), "turn_too_large"),)


def test_a_question_that_just_fits_is_sent_alone() -> None:
    assert assembled(history_of(10), tokens=895).record.sent == (10_000,)


def test_two_questions_in_a_row_are_sent_as_one() -> None:
    failed = StoredTurn((message(1, "user", text="First?"),))
    request = assembled((failed,)).request
    assert [sent.text for sent in request.messages] == [SYSTEM, "First?\n\nWhy?"]


def test_what_stands_before_the_first_question_is_left_to_no_turn() -> None:
    branch = [message(1, "assistant"), message(2, "user"), message(3, "assistant"), message(4, "tool")]
    assert [[stored.id for stored in turn.messages] for turn in as_turns(branch)] == [[2, 3, 4]]


def test_system_messages_of_a_branch_belong_to_no_turn() -> None:
    branch = [message(1, "system"), message(2, "user"), message(3, "system"), message(4, "assistant")]
    assert [turn.ids for turn in as_turns(branch)] == [(2, 4)]


def test_without_a_system_prompt_none_is_sent() -> None:
    prompt = message(1, "user")
    request = assemble(Past(), prompt, system=SystemPrompt("  ", 0), budget=BUDGET).request
    assert [sent.role for sent in request.messages] == ["user"]


def lived_through(
    sizes: list[tuple[int, int, str]], *, budget: Budget, tools: Toolbox = NO_TOOLS
) -> list[tuple[Assembly, int]]:
    """A conversation from its first question to its last, each request made from the record of the one before; with
    the tokens of the whole history at each."""
    branch: list[StoredMessage] = []
    before: Record | None = None
    made = []
    for asked, answered, ended in sizes:
        number = len(branch) + 1
        prompt = said(number, "user", asked)
        assembly = assemble(
            Past(as_turns(branch)),
            prompt,
            system=SystemPrompt(SYSTEM, 5),
            budget=budget,
            policy=stepped(before.start, reason=before.reason) if before else None,
            tools=tools,
        )
        before = Record.from_json(assembly.record.as_json())
        made.append((assembly, sum(message.tokens for message in branch)))
        branch.append(prompt)
        if ended == "tools":
            call, result = ToolCall("same", "look", "{}"), ToolResult("same", "look", f"<{number + 2}>")
            branch.append(StoredMessage(number + 1, "assistant", "", 3, calls=(call,)))
            branch.append(StoredMessage(number + 2, "tool", "", 4, results=(result,)))
        if ended != "unanswered":
            branch.append(said(len(branch) + 1, "assistant", answered, complete=ended == "complete"))
    return made


lives = st.lists(
    st.tuples(
        st.integers(min_value=1, max_value=60),
        st.integers(min_value=1, max_value=120),
        st.sampled_from(["complete", "complete", "stopped", "unanswered", "tools"]),
    ),
    min_size=2,
    max_size=25,
)


@given(lives, st.booleans())
def test_between_cuts_each_request_is_the_one_before_and_something_behind_it(
    sizes: list[tuple[int, int, str]], with_tools: bool
) -> None:
    tools = Toolbox((ToolSpec("look", "Looks.", {}),), 20) if with_tools else NO_TOOLS
    made = lived_through(sizes, budget=BUDGET, tools=tools)
    for (before, _), (after, whole) in pairwise(made):
        if after.record.was_cut:
            assert after.record.start > before.record.start
            assert whole > BUDGET.history
        else:
            assert after.record.start == before.record.start
            assert_begins_with(after.request.messages, before.request.messages)


@given(lives)
def test_what_is_left_out_is_told_until_it_is_sent_again(sizes: list[tuple[int, int, str]]) -> None:
    """Each record tells of every message before its window, and says why as the one did that cut it."""
    reason = None
    for assembly, _ in lived_through(sizes, budget=BUDGET):
        record = assembly.record
        left_out = [number for span in record.left_out for number in span.ids]
        assert left_out == list(range(1, record.start))
        reason = record.reason if record.was_cut else reason
        assert record.reason == (reason if left_out else None)


@given(lives)
def test_messages_are_in_the_request_exactly_when_the_record_names_them(sizes: list[tuple[int, int, str]]) -> None:
    for assembly, _ in lived_through(sizes, budget=BUDGET, tools=Toolbox((ToolSpec("look", "Looks.", {}),), 20)):
        said = " ".join(
            text
            for message in assembly.request.messages
            for text in (message.text, *(result.text for result in message.results))
        )
        named = {f"<{number}>" for number in assembly.record.sent}
        found = {word for word in said.split() if word.startswith("<")}
        calling = {f"<{number}>" for number in assembly.record.sent} - found
        assert found <= named
        assert all(f"<{int(one[1:-1]) + 1}>" in found for one in calling)


def rounds_of(*sizes: int) -> tuple[StoredMessage, ...]:
    return tuple(
        message
        for number, size in enumerate(sizes)
        for message in (
            StoredMessage(-1 - number, "assistant", "", 3, calls=(ToolCall("same", "look", "{}"),)),
            StoredMessage(-1 - number, "tool", "", size, results=(ToolResult("same", "look", f"r{number}"),)),
        )
    )


@given(
    st.lists(st.integers(min_value=2, max_value=100), max_size=12),
    st.lists(st.integers(min_value=0, max_value=120), min_size=1, max_size=6),
)
def test_rounds_of_one_turn_go_on_with_its_own_window(history: list[int], sizes: list[int]) -> None:
    """The room shrinks with every result; the window is cut when it overflows and does not slide along."""
    budget = Budget(window=700, reply=100, history=400)
    past, prompt = Past(history_of(*history)), said(10_000, "user", 10)
    before: Assembly | None = None
    for length in range(len(sizes) + 1):
        begun = before.record if before else None
        after = assemble(
            past,
            prompt,
            system=SystemPrompt(SYSTEM, 5),
            budget=budget,
            policy=stepped(begun.start, reason=begun.reason) if begun else None,
            tools=Toolbox((ToolSpec("look", "Looks.", {}),), 20),
            rounds=rounds_of(*sizes[:length]),
        )
        assert_valid(after.request.messages, tools=True, images=False, last="tool" if length else "user")
        if before and not after.record.was_cut and not after.record.shortened:
            assert_begins_with(after.request.messages, before.request.messages)
        # A window that was empty before cannot overflow; it stays empty.
        if before and after.record.was_cut and before.record.start != 10_000:
            assert sum(turn.tokens for turn in past.turns if turn.ids[0] >= before.record.start) > after.record.history
        before = after


@settings(max_examples=400)
@given(broken_branches(), st.booleans(), st.booleans(), st.integers(min_value=0, max_value=2), texts, images)
def test_any_history_gives_a_valid_request_for_any_model(
    branch: list[StoredMessage], tools: bool, takes_images: bool, rounds: int, text: str, shown: tuple[Image, ...]
) -> None:
    assembly = assemble(
        Past(as_turns(branch), recollections=tuple(Recollection(turn, 1) for turn in as_turns(branch))),
        StoredMessage(10_000, "user", text, 10, images=shown),
        system=SystemPrompt(SYSTEM, 5),
        budget=Budget(window=1000, reply=100, history=400, retrieved=200),
        takes_images=takes_images,
        tools=Toolbox((ToolSpec("look", "Looks.", {}),), 20) if tools else NO_TOOLS,
        rounds=rounds_of(*[10] * rounds),
    )
    last = "tool" if rounds and tools else "user"
    assert_valid(assembly.request.messages, tools=tools, images=takes_images, last=last)
    assert assembly.request.messages[0] == ChatMessage("system", SYSTEM)
    assert not assembly.request.must_answer
    assert assembly.record.sent[-1] == 10_000
    assert Record.from_json(assembly.record.as_json()) == assembly.record


def test_the_summary_stands_with_the_instructions_and_recollections_with_the_question() -> None:
    past = Past(
        history_of(20, first=5),
        unread=4,
        summaries=(Summary(3, "They spoke of bees.", 6, through=2),),
        recollections=(Recollection(history_of(20)[0], 0.5),),
    )
    assembly = assemble(
        past, said(10_000, "user", 10), system=SystemPrompt(SYSTEM, 5), budget=replace(BUDGET, retrieved=100)
    )
    first, *_, question = assembly.request.messages
    assert first.text == f"{SYSTEM}\n\nSummary of earlier conversation:\nThey spoke of bees."
    assert question.text == with_recollections("<10000>", past.recollections)
    record = assembly.record
    assert (record.summary, record.summarised_through) == (3, 2)
    assert record.recalled == (Recalled((1, 2), 0.5),)
    assert (record.tokens_of("summary"), record.tokens_of("recalled")) == (6, 50)
    blank = assemble(past, said(10_000, "user", 10), system=SystemPrompt(" ", 0), budget=replace(BUDGET, retrieved=100))
    assert blank.request.messages[0].text == "Summary of earlier conversation:\nThey spoke of bees."


def test_a_question_without_words_is_sent_as_such() -> None:
    """Some that were brought from elsewhere are; no provider takes a request without a question."""
    assembly = assemble(Past(), StoredMessage(1, "user", " ", 0), system=SystemPrompt(SYSTEM, 5), budget=BUDGET)
    assert assembly.request.messages[-1] == ChatMessage("user", NOTHING_ASKED)
    image = StoredMessage(1, "user", "", 0, images=(Image("image/png", "AAAA"),))
    shown = assemble(Past(), image, system=SystemPrompt(SYSTEM, 5), budget=BUDGET, takes_images=True)
    assert shown.request.messages[-1] == ChatMessage("user", "", images=image.images)


def test_the_record_tells_the_budget_what_was_shortened_and_which_images_are_not_seen() -> None:
    image = Image("image/png", "AAAA")
    asked = StoredMessage(1, "user", "Look", 10, images=(image, image))
    answered = StoredMessage(2, "assistant", "I see", 10, images=(image,))
    past = Past(as_turns([asked, answered]))
    call, result = rounds_of(2000)
    rounds = (call, replace(result, results=(replace(result.results[0], text="x" * 8000),)))
    tools = Toolbox((ToolSpec("look", "Looks.", {}),), 20)

    def record(*, takes_images: bool) -> Record:
        prompt = said(10_000, "user", 10)
        system = SystemPrompt(SYSTEM, 5)
        roomy = replace(BUDGET, window=1000, history=40)
        return assemble(
            past, prompt, system=system, budget=roomy, takes_images=takes_images, tools=tools, rounds=rounds[:1]
        ).record

    assert (record(takes_images=True).images_left_out, record(takes_images=False).images_left_out) == (1, 3)
    cut = assemble(
        Past(), said(10_000, "user", 10), system=SystemPrompt(SYSTEM, 5), budget=BUDGET, tools=tools, rounds=rounds
    ).record
    assert (cut.shortened, cut.window, cut.reply, cut.history) == (1, 1000, 100, 0)
    assert record(takes_images=True).shortened == 0
    assert record(takes_images=True).history == 40
