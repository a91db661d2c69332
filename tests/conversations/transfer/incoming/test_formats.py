"""What is made of conversations as other products give them out."""

import copy
import json
import random
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conversations.transfer.incoming.containers import Bare
from conversations.transfer.incoming.formats import FORMATS, format_of
from conversations.transfer.incoming.limits import Unfit
from conversations.transfer.incoming.values import NewConversation
from tests.conversations.transfer.incoming import samples
from tests.conversations.transfer.rich import PIXEL

NOW = datetime(2026, 1, 1, tzinfo=UTC)
NOWHERE = Bare(Path("/nowhere"))


def read(value: dict[str, Any]) -> NewConversation:
    kind = format_of(value)
    assert kind is not None
    return kind.read(copy.deepcopy(value), NOWHERE, now=NOW)


def words(found: NewConversation) -> list[str]:
    """The branch that its owner was on: what was said, and what tools were asked and gave."""
    by_number = {one.number: one for one in found.messages}
    told: list[str] = []
    at = found.head
    while at is not None:
        told.append("|".join(_told(block) for block in by_number[at].content))
        at = by_number[at].parent
    return told[::-1]


def _told(block: dict[str, Any]) -> str:
    if block["type"] == "tool_use":
        return f"call {block['id']} {block['name']} {json.dumps(block['input'])}"
    if block["type"] == "tool_result":
        return f"result {block['tool_use_id']} {block['content']}"
    return f"({block['text']})" if block["type"] == "thinking" else block.get("text", block["type"])


def test_chatgpt_s_tree_is_read_from_its_parents() -> None:
    found = read(samples.talk())
    assert words(found) == [
        "What is bread?",
        "(Flour\n?)|Dough, baked.",
        "*(A picture that was not in the file.)*\n\nAnd this?",
        'call call python "1 + 1"',
        "result call 2",
        "Two.",
    ]
    assert found.notes == ("1 pictures or recordings are not in the file, or too many.",)
    assert found.system_prompt == "I bake.\n\nBe brief."
    assert found.created_at == datetime.fromtimestamp(1_700_000_000.25, UTC)


def test_another_answer_is_another_attempt_at_the_same_question() -> None:
    found = read(samples.talk())
    first, second = (turn for turn in found.turns if turn.prompt == 0)
    assert [turn.model for turn in (first, second)] == ["gpt-4o", "gpt-5"]
    answers = [one for one in found.messages if one.parent == 0]
    assert [one.turn for one in answers] == [first.number, second.number]


def test_missing_fields_cost_no_conversation() -> None:
    bare = {
        "mapping": {"a": {"message": {"author": {"role": "user"}, "content": {"parts": ["Hi"]}}}, "b": None, "c": {}}
    }
    found = read(bare)
    assert (words(found), found.title, found.created_at, found.source_id) == (["Hi"], "", NOW, "")
    [turn] = found.turns
    assert (turn.status, turn.facts) == ("failed", {"error_code": "not_in_file"})


def test_a_reply_that_forks_in_the_middle_becomes_two_attempts() -> None:
    found = read(
        samples.chatgpt(
            samples.node("q", None, "user", "Q"),
            samples.node("c", "q", "assistant", {"content_type": "code", "text": "1"}, recipient="python"),
            samples.node("r", "c", "tool", {"content_type": "execution_output", "text": "2"}, name="python"),
            samples.node("a", "r", "assistant", "A"),
            samples.node("b", "r", "assistant", "B"),
        )
    )
    assert words(found) == ["Q", 'call c python "1"', "result c 2", "B"]
    assert [turn.prompt for turn in found.turns] == [0, 0]
    for turn in found.turns:
        chain = [one for one in found.messages if one.turn == turn.number and one.role != "user"]
        assert [one.role for one in chain] == ["assistant", "tool", "assistant"]
        assert [one.parent for one in chain] == [0, chain[0].number, chain[1].number]


@pytest.mark.parametrize(
    "long", ["A" * 900_000, {"content_type": "thoughts", "thoughts": [{"summary": "", "content": "A" * 900_000}]}]
)
def test_what_forks_again_and_again_is_not_repeated_without_end(long: Any) -> None:
    def forking(count: int) -> dict[str, Any]:
        forks = [samples.node(f"f{n}", "long", "assistant", f"{n}") for n in range(count)]
        return samples.chatgpt(
            samples.node("q", None, "user", "Q"), samples.node("long", "q", "assistant", long), *forks
        )

    assert read(forking(10)).messages
    with pytest.raises(Unfit, match="share more than 30,000,000 characters"):
        read(forking(40))


def test_replies_that_were_stopped_or_cut_off_are_told_as_that() -> None:
    def ended(kind: str) -> Any:
        answer = samples.node("a", "q", "assistant", "It was", metadata={"finish_details": {"type": kind}})
        [turn] = read(samples.chatgpt(samples.node("q", None, "user", "Q"), answer)).turns
        return turn.status, turn.facts.get("was_cut_off", False)

    assert [ended(kind) for kind in ("stop", "interrupted", "max_tokens")] == [
        ("complete", False),
        ("stopped", False),
        ("complete", True),
    ]


def test_a_tool_s_result_without_its_call_gets_one() -> None:
    found = read(
        samples.chatgpt(
            samples.node("q", None, "user", "Q"),
            samples.node("r", "q", "tool", {"content_type": "tether_quote", "title": "T", "text": "x"}, name="browser"),
            samples.node("a", "r", "assistant", "A"),
        )
    )
    assert words(found) == ["Q", "call r browser {}", "result r T\nx", "A"]


def test_claude_s_thread_is_that_of_the_parents_and_not_of_the_list() -> None:
    messages = [
        samples.spoken("a", samples.BEGINNING, "human", "One"),
        samples.spoken("b", "a", "assistant", "Two"),
        samples.spoken("b2", "a", "assistant", "Two, again", created_at="2024-05-01T10:00:05Z"),
        samples.spoken("c", "b", "human", "Three"),
    ]
    for seed in range(6):
        random.Random(seed).shuffle(messages)
        assert words(read(samples.claude(*messages, current_leaf_message_uuid="c"))) == ["One", "Two", "Three"]
    found = read(samples.claude(*messages))
    assert len([one for one in found.messages if one.parent == 0]) == 2


def test_an_older_file_of_claude_is_in_order() -> None:
    old = [samples.spoken(key, None, who, key) for key, who in (("a", "human"), ("b", "assistant"), ("c", "human"))]
    assert words(read(samples.claude(*old))) == ["a", "b", "c"]


def test_claude_s_calls_and_results_stand_between_the_words() -> None:
    content = [
        {"type": "thinking", "thinking": "Hm."},
        {"type": "text", "text": "Let me see."},
        {"type": "tool_use", "id": "t1", "name": "repl", "input": {"code": "1"}},
        {"type": "tool_result", "tool_use_id": "t1", "name": "repl", "content": [{"type": "text", "text": "one"}]},
        {"type": "tool_use", "name": "web", "input": {}},
        {"type": "tool_result", "name": "web", "content": [{"type": "knowledge", "title": "Page"}], "is_error": True},
        {"type": "tool_result", "tool_use_id": "lost", "name": "old", "content": "x"},
        {"type": "text", "text": "Done."},
        {"type": "flag", "flag": "none"},
    ]
    answer = samples.spoken("b", "a", "assistant", "", content=content)
    after = samples.spoken("c", "b", "human", "Thanks")
    question = samples.spoken("a", samples.BEGINNING, "human", "Q")
    assert words(read(samples.claude(after, answer, question))) == [
        "Q",
        '(Hm.)|Let me see.|call t1 repl {"code": "1"}',
        "result t1 one",
        "call b:4 web {}",
        "result b:4 Page",
        "call lost old {}",
        "result lost x",
        "Done.",
        "Thanks",
    ]


def test_what_was_read_of_claude_s_attachments_is_part_of_the_question() -> None:
    attached = [{"file_name": "a<b>.txt", "extracted_content": "The whole text."}, {"file_name": "seen.pdf"}]
    files = [{"file_name": "photo.png"}, {"file_name": "seen.pdf"}]
    found = read(samples.claude(samples.spoken("a", None, "human", "Read.", attachments=attached, files=files)))
    [said] = words(found)
    assert '<document name="a&lt;b&gt;.txt">\nThe whole text.\n</document>' in said
    assert "photo.png" in said
    assert found.notes == ("1 attached files are not in the file.",)


def test_a_message_of_claude_without_blocks_has_its_text() -> None:
    assert words(read(samples.claude(samples.spoken("a", None, "human", "Old words", content=[])))) == ["Old words"]


def test_open_webui_s_tree_with_its_details() -> None:
    answer = (
        '<details type="reasoning" done="true" duration="1">\n<summary>Thought for 1 second</summary>\n'
        "&gt; Rhyme &amp; reason\n</details>\nLet me look.\n"
        '<details type="tool_calls" done="true" id="c1" name="weather" arguments="{&quot;in&quot;: &quot;Bonn&quot;}" '
        'result="&quot;Sun&quot;">\n<summary>Executed</summary>\n</details>\nSun, what fun. <details>kept</details>'
    )
    found = read(
        samples.open_webui(
            [
                {
                    "id": "a",
                    "parentId": None,
                    "role": "user",
                    "content": "Weather?",
                    "timestamp": 1_700_000_000,
                    "files": [{"type": "image", "url": f"data:image/png;base64,{PIXEL}"}, {"type": "file"}],
                },
                {"id": "b", "parentId": "a", "role": "assistant", "content": answer, "model": "llama3", "done": True},
                {"id": "b2", "parentId": "a", "role": "assistant", "content": "Rain", "model": "phi", "done": False},
                {"id": "c", "parentId": "b", "role": "user", "content": "Thanks"},
            ],
            "c",
        )
    )
    assert words(found) == [
        "Weather?|image",
        '(Rhyme & reason)|Let me look.|call c1 weather "{\\"in\\": \\"Bonn\\"}"',
        "result c1 Sun",
        "Sun, what fun. <details>kept</details>",
        "Thanks",
    ]
    assert (found.system_prompt, found.pinned, found.notes) == (
        "Answer in rhyme.",
        True,
        ("1 files or pictures are not in the file.",),
    )
    assert {(turn.model, turn.status) for turn in found.turns if turn.prompt == 0} == {
        ("llama3", "complete"),
        ("phi", "stopped"),
    }


@pytest.mark.parametrize(
    "words",
    [
        "<details>" * 100_000,
        "<details " + "a" * 900_000,
        '<details type="reasoning">' + "<summary>" * 90_000,
        "\ue200" * 900_000,
    ],
    ids=["open", "attribute", "summary", "citation"],
)
def test_words_made_to_take_long_do_not(words: str) -> None:
    begun = time.monotonic()
    read(samples.open_webui([{"id": "a", "parentId": None, "role": "assistant", "content": words + "</details>"}], "a"))
    read(
        samples.chatgpt(samples.node("a", None, "assistant", {"content_type": "text", "parts": [words, *"x" * 50_000]}))
    )
    assert time.monotonic() - begun < 20  # By the square of their length it would be hours.


def test_times_that_are_none_do_no_harm() -> None:
    times: list[Any] = [
        None,
        "soon",
        1e300,
        -5,
        True,
        99_999_999_999_999,
        "9999-01-01T00:00:00Z",
        "0001-01-01T00:00:00+14:00",
        1_700_000_000_000,
        [],
    ]
    nodes = [
        samples.node(str(n), str(n - 1) if n else None, "user", f"{n}", create_time=at) for n, at in enumerate(times)
    ]
    found = read(samples.chatgpt(*nodes, update_time="9999-01-01"))
    assert all(one.created_at <= NOW for one in found.messages)
    assert found.last_activity_at <= NOW


def test_nothing_that_was_said_is_no_conversation() -> None:
    with pytest.raises(Unfit, match="nothing in it that was said"):
        read(samples.chatgpt(samples.node("root", None)))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=10),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
ODD: st.SearchStrategy[Any] = st.sampled_from(["user", "assistant", "tool", "system", None, 7, [], {}, "text", "", "a"])


@given(data=st.data(), name=st.sampled_from(sorted(FORMATS)))
def test_any_value_in_any_place_is_read_or_refused(data: st.DataObject, name: str) -> None:
    """Whatever stands in a field: a conversation, or a word of why not."""
    whole: dict[str, dict[str, Any]] = {
        "chatgpt": samples.talk(),
        "claude": samples.claude(
            samples.spoken("a", samples.BEGINNING, "human", "x", attachments=[{"file_name": "f"}])
        ),
        "open-webui": samples.open_webui([{"id": "a", "parentId": None, "role": "user", "content": "x"}], "a"),
        "pocketchat": {
            "format": "pocketchat-conversation",
            "version": 1,
            "conversation": {
                "title_source": "user",
                "title": "T",
                "created_at": "2024-01-01T00:00:00Z",
                "last_activity_at": "2024-01-01T00:00:00Z",
                "head": 1,
            },
            "turns": [{"id": "t", "prompt": 1, "status": "complete", "created_at": "2024-01-01T00:00:00Z"}],
            "messages": [
                {
                    "id": 1,
                    "turn": "t",
                    "parent": None,
                    "role": "user",
                    "tokens": 1,
                    "tokens_source": "usage",
                    "created_at": "2024-01-01T00:00:00Z",
                    "content": [{"type": "text", "text": "x"}],
                }
            ],
            "summaries": [],
        },
    }
    value = whole[name]
    for _ in range(data.draw(st.integers(1, 3))):
        holder: Any = value
        while isinstance(holder, dict | list) and holder:
            key = data.draw(
                st.sampled_from(sorted(holder, key=str) if isinstance(holder, dict) else range(len(holder)))
            )
            if data.draw(st.booleans()) or not isinstance(holder[key], dict | list):
                holder[key] = data.draw(JSON | ODD)
                break
            holder = holder[key]
    kind = format_of(value)
    if kind is None:
        return
    try:
        found = kind.read(value, NOWHERE, now=NOW)
    except Unfit:
        return
    known: set[int] = set()
    for one in found.messages:
        assert one.parent is None or one.parent in known
        known.add(one.number)
    assert {turn.prompt for turn in found.turns} <= known
    assert found.head is None or found.head in known
