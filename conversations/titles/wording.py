"""What a small model makes of being asked for a title, and the title in it. Pure functions over strings."""

import json
import re
from collections.abc import Iterable

from conversations.providers.reasoning import without_reasoning
from conversations.providers.wrappings import is_refusal, unwrapped
from conversations.recall.words import UNSPACED
from conversations.text import clean, is_blank, line

MOST_WORDS = 5
MOST_CHARACTERS = 80
"""Of a title in a script that sets spaces; five words are seldom longer, and then they are none."""
MOST_UNSPACED = 20
"""Characters, where words are not set apart."""

EXCERPT = 1200
"""Characters of a question that a model is shown to find a title."""

INSTRUCTIONS = (
    "You name conversations. Answer with a title of at most five words, in the language of the questions, and with "
    "nothing else: no quotation marks, no full stop, no explanation."
)
ASKED = "Title of at most five words:"
EXAMPLES = (
    (("How do plants make food?",), "Photosynthesis in Plants"),
    (("I want to learn the guitar. Where do I start?", "Which chords are easy?"), "Learning the Guitar"),
    (("Wie wird das Wetter morgen?",), "Wetter von morgen"),
    (("Why is my SQL query slow?",), "A Slow SQL Query"),
    (("hello", "What is a good name for a dog?"), "Names for a Dog"),
)
"""Shown before the questions: small models follow an example where they do not follow an instruction. Without any the
bundled one names no conversation, with these about two of three; shown the answers as well, it goes on writing them."""

_LABEL = re.compile(
    r"\A(?:(?:here(?:['’]s|\s+is)|the|a|my|conversation|chat|suggested|proposed|possible|short)\s+)*"
    r"(?:title|titel|tittel|titre|título|títol|titolo|titlu|tytuł|titulek|název|názov|cím|otsikko|pealkiri|başlık"
    r"|judul|tajuk|tiêu đề|τίτλος|название|заголовок|назва|заглавие|наслов|标题|標題|题目|題目|タイトル|題名|제목"
    r"|العنوان|عنوان|כותרת|शीर्षक|শিরোনাম|தலைப்பு|ชื่อเรื่อง|หัวข้อ|ชื่อ)"
    r"(?:\s+(?:is|(?:of|for) (?:the|this|your) conversation))?(?:\s*[:：]\s*|\s+[–—-]\s+)",
    re.IGNORECASE,
)
_UNSEEN = re.compile("[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""Controls, and what turns the direction of all that follows; marks and joiners that scripts are written with stay."""
_ITEM = re.compile(r"\A[-–—•·+]\s+")
NO_NAMES = frozenset(
    {
        *("new chat", "new conversation", "new title", "untitled", "untitled conversation", "untitled chat"),
        *("no title", "title", "titel", "titre", "conversation", "chat", "none", "null", "n/a", "undefined"),
        *("neuer chat", "neue unterhaltung", "nouvelle conversation", "nueva conversación", "新对话", "新しいチャット"),
        *("thinking", "analysis", "reasoning", "assistant", "user"),
    }
)
"""In small letters, what any conversation could be called: the first words of its question tell more."""
_MARKS = " \t\"'“”„«»‘’‚‹›「」『』《》`*_#"
_ENDS = ".。．!！,;:；：،"


def title_in(answer: str) -> str:
    """A title of at most five words on one line, in the answer of a model; empty when there is none.

    Reasoning is left out, also when its tag is never closed; JSON, code fences, what announces a title, labels,
    quotation marks, Markdown and what turns the direction of writing are taken off. A refusal, a whole sentence, what
    still looks like markup, what names no conversation, and the title of an example are none.
    """
    first = _first_row(_out_of_json(unwrapped(without_reasoning(clean(answer)))))
    title = line(_bare(_LABEL.sub("", _bare(_ITEM.sub("", _bare(_UNSEEN.sub("", first)))))))
    is_none = title.casefold() in NO_NAMES | {named.casefold() for _, named in EXAMPLES}
    return title if _is_title(title) and not is_refusal(first) and not is_none else ""


def _first_row(said: str) -> str:
    """The first line that is neither a fence nor announces the one behind it."""
    rows = [row.strip() for row in said.splitlines() if not is_blank(row) and not row.lstrip().startswith("```")]
    announced = [row for row in rows[:-1] if not row.rstrip(_MARKS).endswith((":", "："))] + rows[-1:]
    return announced[0] if announced else ""


def _out_of_json(said: str) -> str:
    try:
        value = json.loads(said)
    except (ValueError, RecursionError):
        return said
    if isinstance(value, dict):
        value = next((inner for inner in [value.get("title"), *value.values()] if isinstance(inner, str)), "")
    elif isinstance(value, list):
        value = next((inner for inner in value if isinstance(inner, str)), "")
    return value if isinstance(value, str) else said


def _bare(text: str) -> str:
    """Without the marks around it; a question mark stays, it belongs to a question."""
    return text.strip(_MARKS).rstrip(_ENDS).strip(_MARKS)


def _is_title(title: str) -> bool:
    if not title or re.search(r"[<>{}\[\]|\\]", title):
        return False
    if UNSPACED.search(title):
        return len(title) <= MOST_UNSPACED and len(title.split()) <= MOST_WORDS
    return len(title) <= MOST_CHARACTERS and len(title.split()) <= MOST_WORDS


def shown(questions: Iterable[str]) -> str:
    """The first questions of a conversation, as a model is shown them to name it."""
    excerpts = [question.strip()[:EXCERPT] for question in questions if question.strip()]
    return "\n".join([*excerpts, "", ASKED])
