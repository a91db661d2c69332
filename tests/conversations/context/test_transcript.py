"""A stored transcript as it is sent: any of them, whatever was stored, is one that every provider accepts."""

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conversations.context.assemble import as_turns, assemble
from conversations.context.transcript import NO_IMAGE, NO_RESULT, NOTHING, as_chat
from conversations.context.values import Abilities, Assembly, Budget, Past, StoredMessage, SystemPrompt, Toolbox
from conversations.providers.values import ChatMessage, Image, ToolCall, ToolResult, ToolSpec
from tests.conversations.context.histories import assert_valid

BUDGET = Budget(window=1000, reply=100, history=400)
TOOLS = Toolbox((ToolSpec("look", "Looks.", {"type": "object"}),), tokens=20)


def assembled(
    branch: list[StoredMessage],
    *,
    tools: Toolbox = TOOLS,
    rounds: tuple[StoredMessage, ...] = (),
    must_answer: bool = False,
) -> Assembly:
    prompt = StoredMessage(10_000, "user", "Why?", 10)
    return assemble(
        Past(as_turns(branch)),
        prompt,
        system=SystemPrompt("Be brief.", 5),
        budget=BUDGET,
        tools=tools,
        rounds=rounds,
        must_answer=must_answer,
    )


def asked(number: int, *names: str, text: str = "") -> StoredMessage:
    made = tuple(ToolCall(name, "look", json.dumps({"at": name})) for name in names)
    return StoredMessage(number, "assistant", text, 10, calls=made)


def returned(number: int, *names: str, text: str = "", tokens: int = 10) -> StoredMessage:
    brought = tuple(ToolResult(name, "look", text or f"saw {name}") for name in names)
    return StoredMessage(number, "tool", "", tokens, results=brought)


def user(number: int, text: str = "Look!") -> StoredMessage:
    return StoredMessage(number, "user", text, 10)


def texts(messages: tuple[ChatMessage, ...]) -> list[str]:
    return [result.text for message in messages for result in message.results]


def test_a_call_without_a_result_gets_one_that_says_so() -> None:
    chat = as_chat("", [user(1), asked(2, "a", "b"), returned(3, "b"), user(4)], abilities=Abilities(tools=True))
    assert texts(chat) == [NO_RESULT, "saw b"]
    assert [result.is_error for result in chat[2].results] == [True, False]


def test_results_find_their_calls_in_any_order_and_from_several_messages() -> None:
    chat = as_chat(
        "", [user(1), asked(2, "a", "b"), returned(3, "b"), returned(4, "a"), user(5)], abilities=Abilities(tools=True)
    )
    assert texts(chat) == ["saw a", "saw b"]


def test_a_result_without_a_call_and_one_that_comes_too_late_are_not_sent() -> None:
    branch = [user(1), returned(2, "x"), asked(3, "a"), user(4), returned(5, "a"), user(6)]
    assert texts(as_chat("", branch, abilities=Abilities(tools=True))) == [NO_RESULT]


def test_ids_that_repeat_are_told_apart() -> None:
    branch = [
        user(1),
        asked(2, "a"),
        returned(3, "a", text="one"),
        asked(4, "a"),
        returned(5, "a", text="two"),
        user(6),
    ]
    chat = as_chat("", branch, abilities=Abilities(tools=True))
    assert texts(chat) == ["one", "two"]
    assert len({call.id for message in chat for call in message.calls}) == 2


def test_an_empty_result_says_that_it_is_empty() -> None:
    chat = as_chat("", [user(1), asked(2, "a"), returned(3, "a", text=" ")], abilities=Abilities(tools=True))
    assert texts(chat) == [NOTHING]


def test_without_tools_what_they_brought_is_told_from_our_side() -> None:
    branch = [
        user(1),
        asked(2, "a", text="Let me see."),
        returned(3, "a"),
        StoredMessage(4, "assistant", "So.", 5),
        user(5),
    ]
    chat = as_chat("", branch, abilities=Abilities())
    assert [(message.role, message.text) for message in chat] == [
        ("user", "Look!"),
        ("assistant", "Let me see."),
        ("user", "[Result of the tool look: saw a]"),
        ("assistant", "So."),
        ("user", "Look!"),
    ]


def test_the_rounds_of_the_live_turn_follow_its_question() -> None:
    request = assembled(
        [user(1), StoredMessage(2, "assistant", "So.", 5)], rounds=(asked(0, "a"), returned(0, "a"))
    ).request
    assert_valid(request.messages, tools=True, images=False, last="tool")
    assert [message.role for message in request.messages[-3:]] == ["user", "assistant", "tool"]
    assert request.messages[-3].text == "Why?"


def test_the_live_turn_takes_the_place_of_older_ones() -> None:
    history = [user(1), StoredMessage(2, "assistant", "So.", 290)]
    assert assembled(history).record.sent == (1, 2, 10_000)
    crowded = assembled(history, rounds=(asked(0, "a"), returned(0, "a", tokens=600)))
    assert crowded.record.sent == (10_000,)
    assert [span.ids for span in crowded.record.left_out] == [(1, 2)]


@given(st.lists(st.integers(min_value=1, max_value=5000), min_size=1, max_size=6))
def test_results_too_large_for_the_window_are_shortened_and_stay_with_their_calls(sizes: list[int]) -> None:
    rounds = tuple(
        message
        for number, size in enumerate(sizes)
        for message in (asked(-number, f"c{number}"), returned(-number, f"c{number}", text="w" * 4 * size, tokens=size))
    )
    assembly = assembled([], rounds=rounds)
    assert_valid(assembly.request.messages, tools=True, images=False, last="tool")
    sizes_sent = assembly.record.as_json()["sections"]
    assert sum(sizes_sent.values()) + BUDGET.reply <= BUDGET.window
    if sum(sizes) + 10 * len(sizes) > BUDGET.window - BUDGET.reply - 5 - 20 - 10:
        assert any("Shortened" in text for text in texts(assembly.request.messages))


def test_tools_are_offered_only_where_they_leave_room_for_the_question() -> None:
    big = Toolbox(TOOLS.specs, tokens=900)
    assert assembled([], tools=big, must_answer=True).request.tools == ()
    assert not assembled([], tools=big, must_answer=True).request.must_answer
    assert assembled([], must_answer=True).request.must_answer
    assert assembled([], tools=TOOLS).record.as_json()["sections"]["tools"] == 20


BOTH = [Abilities(), Abilities(tools=True, images=True)]
PICTURE = Image("image/png", "AAAA")


def said_in(branch: list[StoredMessage], abilities: Abilities, *, system: str = "") -> list[tuple[str, str]]:
    return [(message.role, message.text) for message in as_chat(system, branch, abilities=abilities)]


@pytest.mark.parametrize("abilities", BOTH)
def test_what_says_nothing_is_not_sent(abilities: Abilities) -> None:
    branch = [
        user(1, " "),
        StoredMessage(2, "assistant", "What?", 1),
        user(3, "Why?"),
        StoredMessage(4, "assistant", " \n", 1),
        StoredMessage(5, "system", "Obey.", 1),
        user(6, "So?"),
    ]
    assert said_in(branch, abilities, system=" ") == [("user", "Why?\n\nSo?")]


def test_blank_words_beside_a_call_or_an_image_are_no_text() -> None:
    branch = [StoredMessage(1, "user", " ", 10, images=(PICTURE,)), asked(2, "a", text="\n")]
    question, call, _ = as_chat("", branch, abilities=Abilities(tools=True, images=True))
    assert (question.text, len(question.images)) == ("", 1)
    assert (call.text, len(call.calls)) == ("", 1)


@pytest.mark.parametrize("abilities", BOTH)
def test_two_answers_in_a_row_are_sent_as_one(abilities: Abilities) -> None:
    branch = [user(1), StoredMessage(2, "assistant", "One.", 1), StoredMessage(3, "assistant", "Two.", 1), user(4)]
    assert said_in(branch, abilities)[1] == ("assistant", "One.\n\nTwo.")


def test_a_note_stands_in_the_place_of_each_image_for_a_model_that_takes_none() -> None:
    shown = StoredMessage(1, "user", "Look", 1, images=(PICTURE, PICTURE))
    alone = StoredMessage(3, "user", " ", 1, images=(PICTURE,))
    branch = [shown, StoredMessage(2, "assistant", "So.", 1), alone]
    assert said_in(branch, Abilities()) == [
        ("user", f"Look\n\n{NO_IMAGE}\n\n{NO_IMAGE}"),
        ("assistant", "So."),
        ("user", NO_IMAGE),
    ]


def test_images_of_questions_sent_as_one_stay_in_order() -> None:
    other = Image("image/png", "BBBB")
    branch = [
        user(1),
        StoredMessage(2, "assistant", "So.", 1),
        StoredMessage(3, "user", "", 1, images=(PICTURE,)),
        StoredMessage(4, "user", "And?", 1, images=(other,)),
    ]
    *_, last = as_chat("", branch, abilities=Abilities(images=True))
    assert (last.text, last.images) == ("And?", (PICTURE, other))


def test_an_image_of_the_assistant_is_told_and_not_sent_back() -> None:
    branch = [user(1), StoredMessage(2, "assistant", "", 1, images=(PICTURE,)), user(3)]
    _, answer, _ = as_chat("", branch, abilities=Abilities(images=True))
    assert (answer.text, answer.images) == (NO_IMAGE, ())


def test_a_round_is_sent_back_in_its_providers_own_form_where_tools_are_offered() -> None:
    native = object()
    call = ToolCall("own", "look", "{}")
    branch = [
        user(1),
        StoredMessage(-1, "assistant", "Let me see.", 1, calls=(call,), native=native),
        StoredMessage(-1, "tool", "", 1, results=(ToolResult("own", "look", "saw"),)),
    ]
    _, asked_for, brought = as_chat("", branch, abilities=Abilities(tools=True))
    assert (asked_for.role, asked_for.native, asked_for.calls) == ("assistant", native, (call,))
    assert [result.call_id for result in brought.results] == ["own"]
    for flattened in (branch, [user(1), replace(branch[1], calls=())]):
        assert not any(message.native for message in as_chat("", flattened, abilities=Abilities()))


def test_a_call_without_words_says_nothing_to_a_model_without_tools() -> None:
    branch = [user(1), asked(2, "a", text=" "), returned(3, "a")]
    assert said_in(branch, Abilities()) == [("user", "Look!\n\n[Result of the tool look: saw a]")]


def test_the_results_of_one_round_are_one_note() -> None:
    branch = [user(1), asked(2, "a", "b"), returned(3, "a", "b")]
    assert said_in(branch, Abilities())[-1] == (
        "user",
        "Look!\n\n[Result of the tool look: saw a]\n\n[Result of the tool look: saw b]",
    )


def test_ids_and_names_are_such_that_every_provider_takes_them() -> None:
    call = ToolCall("functions.look:0", "bad name!", "{}")
    branch = [user(1), StoredMessage(2, "assistant", "", 1, calls=(call,)), user(3)]
    _, asked_for, _, _ = as_chat("", branch, abilities=Abilities(tools=True))
    assert asked_for.calls == (ToolCall("tool_2_0", "bad_name_", "{}"),)


def test_nothing_is_forced_and_no_image_sent_unless_asked_for() -> None:
    branch = [StoredMessage(1, "user", "Look", 1, images=(PICTURE,)), StoredMessage(2, "assistant", "So.", 1)]
    request = assembled(branch).request
    assert not request.must_answer
    assert not any(message.images for message in request.messages)
