"""Words inside a Markdown document: whatever is in them, what comes behind them is outside of them."""

import re
from collections.abc import Iterator

from markdown_it import MarkdownIt

MOST_CHARACTERS = 200_000
"""Of a text that is parsed to see where it ends; a longer one is fenced as a whole."""

_END = "zzz-the-end-zzz"
_HTML = re.compile(r"<[A-Za-z!?/]")
_FENCE = re.compile(r"^(.*?)(`{3,}|~{3,})(.*)$", re.MULTILINE)
_BACKTICKS = re.compile("`+")
_DETAILS = re.compile(r"<(/?)details\b", re.IGNORECASE)
_ENDS_OF_HTML = ("-->", "?>", "]]>", ">", "</script>", "</style>", "</pre>", "</textarea>")


def fenced(text: str, language: str = "") -> str:
    """As a code block, its fence longer than any run of backticks inside."""
    longest = max(map(len, _BACKTICKS.findall(text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text}\n{fence}"


def contained(text: str) -> str:
    """The text as it is; where it leaves a block open it is closed, and where that does not help it is fenced."""
    text = text.rstrip()
    if (closing := _plain_closing(text)) is not None:
        return text + closing
    if len(text) <= MOST_CHARACTERS:
        for closing in _closings(text):
            if _is_contained(text + closing):
                return text + closing
    return fenced(text, "markdown")


def _plain_closing(text: str) -> str | None:
    """What closes a text whose fences all begin their line, by CommonMark's rules; None: only a parser can tell.

    Nearly every text is one, and parsing takes longer than everything else that is done to it.
    """
    if _HTML.search(text):
        return None
    fence = ""
    for before, marks, behind in _FENCE.findall(text):
        if before or (not fence and "`" in marks and "`" in behind):
            return None
        if not fence:
            fence = marks
        elif marks.startswith(fence) and not behind.strip():
            fence = ""
    return f"\n{fence}" if fence else ""


def _closings(text: str) -> Iterator[str]:
    """What may close what the text leaves open, nothing first."""
    yield ""
    fences = [token.markup for token in _parser.parse(text) if token.type == "fence"]
    yield from (f"\n{closing}" for closing in (*fences[-1:], *_ENDS_OF_HTML))


def _is_contained(text: str) -> bool:
    tokens = _parser.parse(f"{text}\n\n{_END}")
    html = "".join(token.content for token in tokens if token.type in ("html_block", "inline"))
    folds = [-1 if closing else 1 for closing in _DETAILS.findall(html)]
    is_balanced = all(sum(folds[: n + 1]) >= 0 for n in range(len(folds))) and sum(folds) == 0
    return is_balanced and len(tokens) > 2 and tokens[-1].level == 0 and tokens[-2].content == _END


def _blocks_alone() -> MarkdownIt:
    """A parser that looks for blocks and leaves what is in them alone."""
    parser = MarkdownIt("commonmark")
    parser.core.ruler.enableOnly(["normalize", "block"])
    parser.parse("ready")  # It sorts its rules at first use, unguarded: now, before threads share it.
    return parser


_parser = _blocks_alone()
