"""A text in the words by which it is found."""

from unicodedata import normalize

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conversations.recall.languages import STEMMERS, UNSTEMMED, stemmer_of
from conversations.recall.words import LONGEST, MOST_CHARACTERS, asked, is_beginning, said


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", ""),
        ("Plain words, don't!", "plain words don t"),
        ("東京タワー", "東京 京タ タワ ワー ー"),
        ("茶", "茶"),
        ("ｱｲｽ・クリーム", "アイ イス ス クリ リー ーム ム"),
        ("我用Python写代码", "我用 用 python 写代 代码 码"),
        ("สวัสดี", "สวั วัส สดี ดี"),
        ("ສະບາຍດີ", "ສະ ະບ ບາ າຍ ຍດີ ດີ"),
        ("ភាសាខ្មែរ។", "ភាសា សាខ្ ខ្មែ មែរ រ"),
        ("မြန်မာစာ", "မြန် န်မာ မာစာ စာ"),
        ("학교에서", "학교 교에 에서 서"),
        ("हिन्दी भाषा", "हिन्दी भाषा"),
        ("STRASSE Straße ＡＢＣ ﬁne", "strasse strasse abc fine"),
        ("soft\u00adhyphen zero\u200bwidth", "softhyphen zerowidth"),
        ("https://docs.example.org/guide?page=2", "https docs example org guide page 2"),
        ("Jane.Doe@example.org", "jane doe example org"),
        ("src/app/url_patterns.py", "src app url patterns urlpatterns py"),
        ("snake_case kebab-case camelCase", "snake case snakecase kebab case kebabcase camel case camelcase"),
        ("parseHTMLPage2", "parse html page 2 parsehtmlpage2"),
        ("e-mail", "e mail email"),
        ("Python 3.11.2, v3.12", "python 3 3.11 3.11.2 3 3.12"),
        ("2023-05-07 10:30", "2023 05 07 20230507 10 30"),
        ("U.S.A.", "usa"),
        ("<div class='wide'>a &amp; b", "div class wide a amp b"),
        ("İstanbul", "istanbul"),
    ],
)
def test_a_text_in_its_words(text: str, words: str) -> None:
    assert said(text) == words


clusters = ["东", "京", "茶", "カ", "な", "มี", "ใ", "ก", "ເ", "က", "ခြ", "ភ", "ស្", "학", "교", "서"]
paired = st.lists(st.sampled_from(clusters) | st.characters(min_codepoint=0x4E00, max_codepoint=0x9FFF), min_size=1)


@given(paired)
def test_every_piece_of_a_sentence_without_spaces_is_found(piece: list[str]) -> None:
    pairs = {word for word in asked("".join(piece)).split() if not is_beginning(word)}
    assert len(pairs) >= len(set(piece)) - 1
    assert pairs <= set(said(f"我喜欢{''.join(piece)}，真的").split())


@given(paired)
def test_every_single_character_of_a_sentence_without_spaces_is_found(sentence: list[str]) -> None:
    words = said("".join(sentence)).split()
    for character in sentence:
        assert is_beginning(asked(character))
        assert any(word.startswith(asked(character)) for word in words)


@given(st.text())
def test_what_is_asked_is_cut_as_what_was_said(text: str) -> None:
    assert set(asked(text).split()) <= set(said(text).split())


@given(st.text())
def test_a_text_is_the_same_however_it_is_composed(text: str) -> None:
    assert said(normalize("NFD", text)) == said(normalize("NFC", text)) == said(normalize("NFKC", text))


@given(st.lists(st.text(st.sampled_from("abcéßñдж"), min_size=1), max_size=5))
def test_small_and_large_letters_are_one(words: list[str]) -> None:
    text = " ".join(words)
    assert said(text.upper()) == said(text) == said(text.title())


@given(st.text(), st.text())
def test_where_a_word_stands_changes_nothing(one: str, other: str) -> None:
    assert said(f"{one} {other}").split() == said(one).split() + said(other).split()


names = st.lists(st.text(st.sampled_from("abcdefgh"), min_size=2, max_size=6), min_size=2, max_size=4)


@given(names)
def test_a_name_is_found_however_it_is_put_together_and_by_each_part(parts: list[str]) -> None:
    spellings = ["_".join(parts), "-".join(parts), parts[0] + "".join(map(str.title, parts[1:]))]
    for spelling in spellings:
        assert set(said(spelling).split()) == {*parts, "".join(parts)}


@given(names)
def test_each_part_of_an_address_is_found(parts: list[str]) -> None:
    for address in (f"https://{'.'.join(parts)}/{'/'.join(parts)}?{'&'.join(parts)}", f"{'.'.join(parts)}@example.org"):
        assert set(parts) <= set(said(address).split())


@given(st.text())
def test_what_postgresql_cuts_is_single_words(text: str) -> None:
    """A word holds no sign that its parser knows, but the points of a version."""
    assert all(word.replace(".", "").isalnum() or not word.isascii() for word in said(text).split())


def test_of_a_huge_text_the_beginning_is_kept() -> None:
    assert len(said("word " * MOST_CHARACTERS).split()) == MOST_CHARACTERS // 5
    assert len(said("\ufdfa" * MOST_CHARACTERS)) <= MOST_CHARACTERS
    assert said("x" * 3000) == "x" * LONGEST


@pytest.mark.parametrize("word", ["茶", "ดี", "집", "ー"])
def test_a_single_character_is_looked_for_as_a_beginning(word: str) -> None:
    assert is_beginning(word)


@pytest.mark.parametrize("word", ["", "東京", "a", "é", "7", "สวั", "हि"])
def test_anything_else_is_not(word: str) -> None:
    assert not is_beginning(word)


@pytest.mark.parametrize(
    ("text", "stemmer"),
    [
        ("Where did we put the keys of the house yesterday?", "english"),
        ("Wo haben wir gestern die Schlüssel des Hauses hingelegt?", "german"),
        ("¿Dónde pusimos ayer las llaves de la casa de la playa?", "spanish"),
        ("Где мы вчера оставили ключи от дома?", "russian"),
        ("我们昨天把房子的钥匙放在哪里了？你还记得那个计划是什么时候开始的吗？", UNSTEMMED),
        ("昨日、家の鍵をどこに置きましたか。覚えていますか。", UNSTEMMED),
    ],
)
def test_the_stemmer_is_that_of_the_language(text: str, stemmer: str) -> None:
    assert stemmer_of(text, otherwise="french") == stemmer


@pytest.mark.parametrize("text", ["", "ok", "2 + 2 = 4, 1234567890 1234567890", "🎉" * 40])
def test_of_a_text_with_few_letters_nothing_can_be_told(text: str) -> None:
    assert stemmer_of(text, otherwise="french") == "french"


@given(st.text(max_size=200))
def test_whatever_is_written_has_a_stemmer(text: str) -> None:
    assert stemmer_of(text, otherwise=UNSTEMMED) in {*STEMMERS.values(), UNSTEMMED}
