"""A conversation as Markdown, plain text and HTML: the branch that was open, dated, with nothing that runs."""

import re
from datetime import UTC, datetime

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from accounts.models import User
from conversations.models import Conversation, Message
from conversations.providers.errors import SENTENCES
from conversations.transfer import as_html
from conversations.transfer.content import Content
from conversations.transfer.fences import _is_contained, contained, fenced
from conversations.transfer.formats import FORMATS
from tests.conversations.transfer.rich import PIXEL, go_back, make_rich
from tests.factories import ask, exchange, make_conversation

pytestmark = pytest.mark.django_db

NOW = datetime(2026, 11, 30, 21, 40, tzinfo=UTC)
READABLE = ("markdown", "text", "html")


def exported(conversation: Conversation, name: str) -> str:
    return "".join(FORMATS[name].written(Content(conversation), now=NOW))


@pytest.fixture
def rich(owner: User) -> Conversation:
    return make_rich(owner)


@pytest.mark.parametrize("name", READABLE)
def test_the_branch_that_is_open_is_written_and_no_other(rich: Conversation, name: str) -> None:
    text = exported(rich, name)
    assert "What is good bread?" in text
    assert "Flour, water, salt." not in text
    go_back(rich, Message.objects.filter(conversation=rich, role="assistant").order_by("id")[0])
    text = exported(rich, name)
    assert "Flour, water, salt." in text
    assert "What is good bread?" not in text


@pytest.mark.parametrize("name", READABLE)
def test_everything_is_dated_and_has_a_speaker(rich: Conversation, name: str) -> None:
    text = exported(rich, name)
    assert "2026-11-30 21:40 UTC" in text
    asked = rich.created_at.astimezone(UTC).strftime("%Y-%m-%d %H:%M UTC")
    assert asked in text
    assert "You" in text
    assert "scripted" in text
    assert "Speak of bread." in text


@pytest.mark.parametrize("name", READABLE)
def test_how_replies_ended_is_said(rich: Conversation, name: str) -> None:
    text = exported(rich, name)
    assert "You stopped this reply." in text
    assert "It was a dark and" in text
    assert "reached the length it may have" in text
    assert SENTENCES["dropped"].partition(".")[0] in text


@pytest.mark.parametrize("name", READABLE)
def test_what_models_thought_is_left_out(rich: Conversation, name: str) -> None:
    assert "They want pizza." not in exported(rich, name)


@pytest.mark.parametrize("name", READABLE)
def test_a_question_that_is_being_answered_says_so(owner: User, name: str) -> None:
    conversation = make_conversation(owner)
    ask(conversation, "Are you there?")
    conversation.refresh_from_db()
    text = exported(conversation, name)
    assert "Are you there?" in text
    assert "still being written" in text


@pytest.mark.parametrize("name", READABLE)
def test_an_empty_conversation_has_a_heading(owner: User, name: str) -> None:
    assert "New conversation" in exported(make_conversation(owner), name)


def headings(text: str) -> list[str]:
    tokens = MarkdownIt("commonmark").parse(text)
    return [
        tokens[n + 1].content for n, token in enumerate(tokens) if token.type == "heading_open" and token.tag == "h2"
    ]


def test_calls_of_tools_are_folded_in_markdown(rich: Conversation) -> None:
    text = exported(rich, "markdown")
    assert "<details>\n<summary>Searched this conversation for “بيتزا 披萨 🍕”</summary>" in text
    # The result holds a fence of its own.
    assert "````text\nFound:\n```\n1 pizza\n```\n````" in text
    assert "Searched this conversation" in exported(rich, "text")
    assert "1 pizza" not in exported(rich, "text")


def test_a_title_is_words_and_not_marks(rich: Conversation) -> None:
    assert exported(rich, "markdown").startswith("# Bread & \\<b\\>bees\\</b\\>\n")
    assert "<title>Bread &amp; &lt;b&gt;bees&lt;/b&gt;</title>" in exported(rich, "html")


HOSTILE = [
    "```python\nprint(1)",
    "````\n```\nx\n```",
    "~~~~\nnever closed",
    "- item\n  ```\n  code in a list",
    "> ```\n> quoted code",
    "text\n\n<!-- never closed",
    "<script>\nnever closed",
    "<pre>\nnever closed",
    "<details><summary>never closed",
    "</details>",
    "<![CDATA[ x",
    "1. one\n\n   ```\n   two\n",
    "```\n```\n```",
    "``` a ` b\n```",
    "`" * 400,
    "    ```\nindented",
    "\\```\nescaped",
    "```\n~~~\n```\n~~~",
    "~~~ a ` b\nopen\n```",
    "````\n`````x\n````",
    "```\n``` x\n```\n\n```",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_what_stands_in_a_message_ends_with_it(owner: User, text: str) -> None:
    conversation = make_conversation(owner)
    exchange(conversation, text, text)
    exchange(conversation, "And now?", "Done.")
    conversation.refresh_from_db()
    written = exported(conversation, "markdown")
    assert [heading.partition(" ")[0] for heading in headings(written)] == ["You", "scripted", "You", "scripted"]
    assert text.rstrip() in written


@pytest.mark.parametrize(
    "text", ["plain", "```\nclosed\n```", "a < b and `c`", "<details>\n\nx\n\n</details>", "~~gone~~"]
)
def test_what_is_sound_stays_as_it_is(text: str) -> None:
    assert contained(text) == text


MARKS = [
    "```",
    "````",
    "~~~",
    "``` x",
    "```` `",
    "  ```",
    "    ```",
    "- ```",
    "> ~~~",
    "- item",
    "words",
    "`code`",
    "",
    "   ```",
]


@given(st.lists(st.sampled_from(MARKS), max_size=7))
def test_what_is_told_without_a_parser_is_what_the_parser_tells(lines: list[str]) -> None:
    assert _is_contained(contained("\n".join(lines)))


def test_a_fence_is_longer_than_any_inside() -> None:
    assert fenced("`````", "x") == "``````x\n`````\n``````"


def test_html_opens_alone(rich: Conversation) -> None:
    html = exported(rich, "html")
    assert "<script" not in html
    assert "url(" not in as_html.style()
    assert "@import" not in as_html.style()
    for address in re.findall(r'(?:src|href|srcset|action|poster|data)="([^"]*)"', html):
        assert address.startswith(("data:image/", "http")), address
    assert not re.findall(r"<(?:link|iframe|object|embed|form|base|video|audio)\b", html)
    assert not re.findall(r"\son\w+=", html)
    assert "default-src 'none'" in html
    assert f"data:image/png;base64,{PIXEL}" in html


def test_words_are_rendered_by_the_products_renderer(rich: Conversation, owner: User) -> None:
    html = exported(rich, "html")
    assert '<figure class="code">' in html
    assert "Try &lt;again&gt;." in html
    conversation = make_conversation(owner)
    exchange(
        conversation,
        "<img src=x onerror=alert(1)>",
        "<img src=x onerror=alert(1)> [x](javascript:alert(1)) ![y](https://e.org/y)",
    )
    conversation.refresh_from_db()
    html = exported(conversation, "html")
    assert "<img" not in html
    assert 'href="javascript' not in html


def test_a_picture_that_is_none_is_not_shown(owner: User) -> None:
    conversation = make_conversation(owner)
    turn = exchange(conversation)
    svg = {"type": "image", "media_type": "image/svg+xml", "data": "PHN2Zy8+"}
    Message.objects.filter(pk=turn.prompt_id).update(content=[svg])
    conversation.refresh_from_db()
    html = exported(conversation, "html")
    assert "<img" not in html
    assert "A picture that cannot be shown here" in html


@pytest.mark.parametrize("name", READABLE)
def test_queries_do_not_grow_with_the_turns_of_a_batch(owner: User, name: str) -> None:
    def queries(turns: int) -> int:
        conversation = make_conversation(owner)
        for _ in range(turns):
            exchange(conversation)
        conversation.refresh_from_db()
        with CaptureQueriesContext(connection) as asked:
            exported(conversation, name)
        return len(asked)

    assert queries(1) == queries(5) == 3


@pytest.mark.parametrize("text", ["<details><summary>never closed", "</details>", "</details>\n\n<details>"])
def test_what_would_fold_the_rest_is_shown_as_it_was_typed(text: str) -> None:
    assert contained(text) == fenced(text, "markdown")
