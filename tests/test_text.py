"""Text as it is stored, shortened and measured."""

import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conversations.text import Cleaner, clean, clean_blocks, estimate_tokens, least_tokens, line, preview

ANY_TEXT = st.text(st.characters() | st.characters(categories=["Cs", "Cc"]))
CHUNKS = st.sampled_from(
    ["\r", "\n", "\x00", "\ud83d", "\ude00", "a", "é", "👩", "\u200d", "🏽", "🇩", "\u0301", " ", "中"]
)
AWKWARD_TEXT = ANY_TEXT | st.lists(CHUNKS).map("".join)

SCALARS = AWKWARD_TEXT | st.integers() | st.booleans() | st.none() | st.floats()
BLOCKS = st.recursive(SCALARS, lambda inner: st.lists(inner) | st.dictionaries(AWKWARD_TEXT, inner))


@given(AWKWARD_TEXT)
def test_cleaning_twice_changes_nothing_more(text: str) -> None:
    assert clean(clean(text)) == clean(text)


@given(AWKWARD_TEXT)
def test_clean_text_can_be_stored_and_sent(text: str) -> None:
    cleaned = clean(text)

    assert not {"\x00", "\r", "\x1b"} & set(cleaned)
    assert cleaned.encode("utf-8").decode("utf-8") == cleaned
    assert json.loads(json.dumps(cleaned)) == cleaned


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("a\x00b", "ab"),
        ("a\r\nb\rc\n\rd", "a\nb\nc\n\nd"),
        ("\x1b[31mred\x1b[0m\x07", "[31mred[0m"),
        ("a\tb\n", "a\tb\n"),
        ("lone \ud83d half", "lone \ufffd half"),
        ("\ude00\ud83d", "\ufffd\ufffd"),
        ("pair \ud83d\ude00 whole", "pair 😀 whole"),
        ("\ud83d\x00\ude00", "😀"),
    ],
)
def test_what_cannot_be_stored_is_removed_or_replaced(text: str, cleaned: str) -> None:
    assert clean(text) == cleaned


@pytest.mark.parametrize(
    "text",
    [
        "שלום\u200f!\u202babc\u202c",
        "👩\u200d👩\u200d👧\u200d👦",
        "e\u0301",
        "❤\ufe0f",
        "می\u200cخواهم",
        "नमस्ते",
        "\u2028",
        "\x7f\x85",
    ],
)
def test_marks_that_carry_meaning_stay(text: str) -> None:
    assert clean(text) == text


@given(st.lists(st.text(alphabet=st.sampled_from("a\r\n\x00\ud83d\ude00é🐝"), max_size=4), max_size=8))
def test_a_text_in_fragments_is_cleaned_like_the_whole(fragments: list[str]) -> None:
    cleaner = Cleaner()
    fed = "".join(cleaner.feed(fragment) for fragment in fragments)
    whole = "".join(fragments)
    waiting = whole[-1:] if whole[-1:] in ("\r", "\ud83d") else ""
    assert fed == clean(whole.removesuffix(waiting))


@pytest.mark.parametrize(
    ("typed", "kept"),
    [
        ("  A\ntitle\r\n of  mine ", "A title of mine"),
        ("\u200b\u2060\ufeff", ""),
        ("\x01\x02", ""),
        ("\u3164 \u2800", ""),
        ("\u034f\u17b4\ufe0f\u180b\U000e0101", ""),
        ("👩\u200d🚀", "👩\u200d🚀"),
        ("\u202b\u05e9\u05dc\u05d5\u05dd\u202c", "\u202b\u05e9\u05dc\u05d5\u05dd\u202c"),
    ],
)
def test_a_title_is_one_line_with_something_to_see(typed: str, kept: str) -> None:
    assert line(typed) == kept


@pytest.mark.parametrize("unit", ["hello world ", "\r\n", "\x00", "\ud800", "😀", "中文"])
def test_a_large_paste_is_cleaned_at_once(unit: str) -> None:
    text = unit * (200_000 // len(unit))
    started = time.thread_time()

    clean(text)

    assert time.thread_time() - started < 0.5


@given(BLOCKS)
def test_clean_blocks_are_json_that_postgresql_takes(blocks: Any) -> None:
    cleaned = clean_blocks(blocks)

    encoded = json.dumps(cleaned, ensure_ascii=False, allow_nan=False)

    assert "\\u0000" not in encoded
    encoded.encode("utf-8")
    assert clean_blocks(cleaned) == cleaned


def test_blocks_are_cleaned_in_depth_and_the_original_stays() -> None:
    inner: Any = ["a\x00", {"n": 1, "ok": True, "none": None}]

    cleaned = clean_blocks([{"type": "tool_use", "input": {"k\x00ey": inner, "x": float("nan")}}])

    assert cleaned == [{"type": "tool_use", "input": {"key": ["a", {"n": 1, "ok": True, "none": None}], "x": None}}]
    assert inner == ["a\x00", {"n": 1, "ok": True, "none": None}]


@given(AWKWARD_TEXT, st.integers(1, 60))
def test_a_preview_is_one_line_within_its_limit(text: str, limit: int) -> None:
    line = preview(text, limit)

    assert len(line) <= limit
    assert len(line.splitlines()) <= 1
    assert line == line.strip()


@given(
    st.lists(st.sampled_from(["e\u0301", "👩🏽\u200d🚀", "🇩🇪", "नि", "한", "A", "中", "❤\ufe0f"]), max_size=60),
    st.integers(8, 40),
)
def test_a_preview_never_cuts_what_is_read_as_one_character(characters: list[str], limit: int) -> None:
    line = preview("".join(characters), limit)

    kept = line.removesuffix("…")
    edges = {"".join(characters[:count]) for count in range(len(characters) + 1)}
    assert kept in edges


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("", ""),
        (" \n\t ", ""),
        ("# How do I **reset** my [password](https://example.com)?", "How do I reset my password?"),
        ("- [ ] buy `milk`\n- eggs", "buy milk eggs"),
        ("> quoted\n\nmy answer", "quoted my answer"),
        ("```python\nprint(1)\n```", "print(1)"),
        ("What does __init__ do in snake_case_name?", "What does __init__ do in snake_case_name?"),
        ("2 * 3 * 4 = 24", "2 * 3 * 4 = 24"),
        ("***", "***"),
        ("C# or F#?", "C# or F#?"),
    ],
)
def test_a_preview_drops_the_marks_and_keeps_the_words(text: str, line: str) -> None:
    assert preview(text, 80) == line


def test_a_preview_ends_between_words() -> None:
    assert preview("Please explain the second law of thermodynamics", 30) == "Please explain the second law…"


def test_a_preview_fills_its_limit_where_no_spaces_are() -> None:
    assert preview("日本語の長いテキストには空白がありません。", 10) == "日本語の長いテキス…"


def test_a_preview_of_nothing_but_combining_marks_is_still_cut() -> None:
    assert len(preview("\u0301" * 1000, 20)) == 20


def test_a_preview_without_room_is_refused() -> None:
    with pytest.raises(ValueError, match="room"):
        preview("text", 0)


def test_a_preview_of_a_huge_paste_costs_little() -> None:
    started = time.thread_time()

    for unit in ["[", "*a ", "> ", "`", "- ", " ", "a"]:
        preview(unit * (200_000 // len(unit)), 80)

    assert time.thread_time() - started < 0.5


@given(AWKWARD_TEXT, AWKWARD_TEXT)
def test_estimates_add_up(first: str, second: str) -> None:
    joined = estimate_tokens(first + second)

    assert joined <= estimate_tokens(first) + estimate_tokens(second)
    assert joined >= max(estimate_tokens(first), estimate_tokens(second))


@given(AWKWARD_TEXT.filter(bool))
def test_no_text_but_the_empty_one_is_free(text: str) -> None:
    assert estimate_tokens(text) >= 1
    assert estimate_tokens("") == 0


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        # Counted with the tokenizer o200k_base.
        ("The quick brown fox jumps over the lazy dog. " * 20, 201),
        ("def trim(messages: list[str], budget: int) -> Window:\n    return Window(messages)\n" * 10, 190),
        ("これは日本語の文章です。トークンの数を数えます。" * 10, 170),
        ("今天天气很好，我们去公园散步吧。" * 10, 120),
    ],
)
def test_an_estimate_is_near_the_count_of_a_tokenizer(text: str, tokens: int) -> None:
    assert 0.8 * tokens <= estimate_tokens(text) <= 1.3 * tokens


@given(st.text())
def test_the_least_is_never_more_than_the_estimate(text: str) -> None:
    assert 0 <= least_tokens(text) <= estimate_tokens(text)


@pytest.mark.parametrize(
    ("text", "share"),
    [("Why do bees dance? " * 50, 0.66), ("なぜ踊るのか" * 50, 0.66), ("नमस्ते " * 50, 0.4), ("-" * 1000, 0)],
)
def test_the_least_is_what_is_sure_of_an_estimate(text: str, share: float) -> None:
    assert least_tokens(text) == pytest.approx(share * estimate_tokens(text), rel=0.05, abs=2)
