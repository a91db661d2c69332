"""Whatever a small model answers: a clean title of at most five words, or none."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conversations.titles.wording import EXAMPLES, shown, title_in


@pytest.mark.parametrize(
    ("answer", "title"),
    [
        ("Baking sourdough bread", "Baking sourdough bread"),
        ('"Baking sourdough bread."', "Baking sourdough bread"),
        ("**Title:** Baking bread", "Baking bread"),
        ("Title: “Baking bread”", "Baking bread"),
        ("Titel: Brot backen", "Brot backen"),
        ("标题：烤面包的方法", "烤面包的方法"),
        ("パンの焼き方について", "パンの焼き方について"),
        ("طريقة خبز الخبز", "طريقة خبز الخبز"),
        ("Why is bread brown?", "Why is bread brown?"),
        ('{"title": "Baking bread"}', "Baking bread"),
        ('```json\n{"title": "Baking bread"}\n```', "Baking bread"),
        ('["Baking bread", "Bread"]', "Baking bread"),
        ('"Baking bread"', "Baking bread"),
        ("<think>They ask of bread.</think>\nBaking bread", "Baking bread"),
        ("They ask of bread.</think>Baking bread", "Baking bread"),
        ("\n\n- Baking bread\nA title about bread.", "Baking bread"),
        ("• Baking bread", "Baking bread"),
        ("# Baking bread", "Baking bread"),
        ("Here's a title:\nBaking Bread", "Baking Bread"),
        ("Sure! Here is a title:\n\n**Baking Bread**", "Baking Bread"),
        ("**Here’s a title for this conversation:**\n\nBaking bread", "Baking bread"),
        ("Here is a title: Baking bread", "Baking bread"),
        ("Of course!\nBaking", "Baking"),
        ("Sure 😊\nBaking", "Baking"),
        ("Sure! Baking bread", "Baking bread"),
        ("Klar, hier ist ein Titel:\nBrot backen", "Brot backen"),
        ("好的！\n烤面包的方法", "烤面包的方法"),
        ('Sure, here it is:\n```json\n{"title": "Baking bread"}\n```', "Baking bread"),
        ("Okay:\n```\nBaking bread\n```\nI hope you like it.", "Baking bread"),
        ("Title - Baking bread", "Baking bread"),
        ("Title-Case Rules", "Title-Case Rules"),
        ("Okay, Computer", "Okay, Computer"),
        ("◁think▷They ask of bread.◁/think▷Baking bread", "Baking bread"),
        ("[THINK]They ask of bread.[/THINK]\nBaking bread", "Baking bread"),
        ("<seed:think>They ask.</seed:think>Baking bread", "Baking bread"),
        ("\u202eBaking\u202c bread", "Baking bread"),
        ("\u2067Baking\u2069 \x9bbread", "Baking bread"),
        ("می\u200cخواهم نان", "می\u200cخواهم نان"),
        ("Conversation title: Baking bread", "Baking bread"),
        ("Suggested Title: Baking bread", "Baking bread"),
        ("Başlık: Ekmek", "Ekmek"),
        ("Tiêu đề: Làm bánh", "Làm bánh"),
        ("शीर्षक: रोटी बनाना", "रोटी बनाना"),
        ("Judul: Roti", "Roti"),
        ("Τίτλος: Ψωμί", "Ψωμί"),
        ("כותרת: לחם", "לחם"),
        ("ชื่อเรื่อง: ขนมปัง", "ขนมปัง"),
        ("Otsikko: Leipä", "Leipä"),
        ("Cím: Kenyér", "Kenyér"),
        ("Of course I love you", "Of course I love you"),
    ],
)
def test_a_title_is_taken_out_of_what_stands_around_it(answer: str, title: str) -> None:
    assert title_in(answer) == title


@pytest.mark.parametrize(
    "answer",
    [
        "",
        " \n\u200b ",
        "<think>They ask of bread, so a good title might be",
        "<thinking lang='en'>Hm",
        "I'm sorry, I cannot help with that request.",
        "◁think▷\nOkay, the user",
        "◁think▷Okay, the user",
        "[THINK]\nOkay",
        "New chat",
        "**New Conversation**",
        "Title: Untitled",
        "None",
        "N/A",
        "Thinking...\nBread",
        "Sorry, I can't help.",
        "Sure! I can't help.",
        "Es tut mir leid.",
        "Of course!",
        "The conversation is about how to bake bread.",
        "<b>Bread</b>",
        '{"name": {"of": 1}}',
        "{}",
        "123456 " * 6,
        "烤面包的方法以及如何在家里制作面包和蛋糕的一切",
        "x" * 81,
    ],
)
def test_what_is_none_gives_none(answer: str) -> None:
    assert title_in(answer) == ""


@given(st.text(max_size=200))
def test_any_answer_gives_a_clean_title_or_none(answer: str) -> None:
    title = title_in(answer)
    assert len(title.split()) <= 5
    assert len(title) <= 80
    assert title == title.strip()
    assert not set("<>\n\x00") & set(title)


def test_the_model_is_shown_the_beginning_of_each_question() -> None:
    told = shown(["Hi " * 2000, " ", "Hello"])
    assert told.endswith("\nHello\n\nTitle of at most five words:")
    assert len(told) < 1300


def test_the_title_of_an_example_is_none() -> None:
    assert [title_in(named) for _, named in EXAMPLES] == [""] * len(EXAMPLES)
    assert title_in("**learning the guitar**") == ""
