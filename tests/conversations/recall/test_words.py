"""A text in the words by which it is found."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conversations.recall.languages import STEMMERS, UNSTEMMED, stemmer_of
from conversations.recall.words import MOST_CHARACTERS, UNSPACED, spaced


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("plain words", ["plain", "words"]),
        ("東京タワー", ["東京", "京タ", "タワ", "ワー"]),
        ("茶", ["茶"]),
        ("我用Python写代码", ["我用", "Python", "写代", "代码"]),
        ("สวัสดี", ["สว", "วั", "ัส", "สด", "ดี"]),
        ("한국어 문장", ["한국어", "문장"]),
        ("", []),
    ],
)
def test_scripts_without_spaces_are_cut_into_pairs(text: str, words: list[str]) -> None:
    assert spaced(text).split() == words


@given(st.text(st.characters(min_codepoint=0x3400, max_codepoint=0x9FFF), min_size=2, max_size=30), st.data())
def test_every_pair_of_a_sentence_is_among_its_words(sentence: str, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(sentence) - 2))
    assert sentence[at : at + 2] in spaced(f"He said: {sentence}!").split()


@given(st.text())
def test_text_with_spaces_stays_as_it_is(text: str) -> None:
    assert UNSPACED.search(text) or spaced(text) == text


def test_of_a_huge_text_the_beginning_is_kept() -> None:
    assert len(spaced("word " * MOST_CHARACTERS)) == MOST_CHARACTERS


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
