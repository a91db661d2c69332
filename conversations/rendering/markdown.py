# ruff: noqa: ARG001, ARG002 - the signatures are the parser's
"""What a model wrote, as HTML: CommonMark with tables, strikethrough, task lists, footnotes, maths and coloured code.

Raw HTML is shown as text, except a line break, without which no table cell has two lines. A single newline breaks
the line, as people who chat expect.
"""

import re
from collections.abc import Sequence
from typing import Any

import structlog
from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict

from conversations.rendering.allowance import Allowance
from conversations.rendering.cjk import InlineParser
from conversations.rendering.code import code_figure
from conversations.rendering.delimiters import maths
from conversations.rendering.footnotes import footnotes
from conversations.rendering.links import is_linkable
from conversations.rendering.mathml import formula
from conversations.rendering.plain import encodable, render_plain
from conversations.rendering.sanitise import sanitised
from conversations.rendering.shape import shape

log = structlog.get_logger(__name__)

MOST_CHARACTERS = 200_000
MOST_MARKS = 10_000
"""Characters that can start something in Markdown, line ends among them: parsing time goes with their number."""
_DEEPEST = 18
"""Levels of block nesting. The parser drops the text of deeper ones (at 20), so these are shown as plain text."""
_MOST_CELLS = 10_000
"""Cells of one table. The parser fills short rows up, so that a few kilobytes could ask for 65,000."""
_MOST_TOKENS = 50_000
"""Beyond this a text grows far larger on the page than its marks explain: many such tables, say."""

_MARKS = str.maketrans(dict.fromkeys("\n\\`*_~[]!<>|#$&:-+="))


class TooCostly(ValueError):
    """Blocks are nested more deeply than the parser follows, or grow far beyond their text."""


def render_markdown(text: str) -> SafeString:
    """The text as sanitised HTML; as plain paragraphs where it is too large or too deep to be parsed in time."""
    text = encodable(text)
    if len(text) > MOST_CHARACTERS or len(text) - len(text.translate(_MARKS)) > MOST_MARKS:
        return render_plain(text)
    try:
        html = _parser.render(text, {"allowance": Allowance()})
    except TooCostly:
        return render_plain(text)
    except Exception as error:  # noqa: BLE001 - a bug in one of the parsers must not hide what was said
        log.warning("markdown_shown_as_plain_text", error=type(error).__name__, characters=len(text))
        return render_plain(text)
    return mark_safe(sanitised(html))  # noqa: S308 - sanitised


class _Parser(MarkdownIt):
    def __init__(self, options: dict[str, Any]) -> None:
        super().__init__("commonmark", options, renderer_cls=_Renderer)
        self.inline = InlineParser()
        self.configure("commonmark", options)

    def validateLink(self, url: str) -> bool:
        return is_linkable(url)


class _Renderer(RendererHTML):
    """HTML for the tokens whose form is ours. A method is found by the name of its token."""

    def fence(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        token = tokens[idx]
        if token.info.strip() == "math":
            return _block_formula(token.content, token.content, env)
        return code_figure(token.content, token.info, env["allowance"])

    def code_block(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        return code_figure(tokens[idx].content, "", env["allowance"])

    def math_inline(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        token = tokens[idx]
        display: bool = token.meta["display"]
        return formula(token.content, display=display, written=token.markup, allowance=env["allowance"])

    def math_block(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        return _block_formula(tokens[idx].content, tokens[idx].markup, env)

    def table_open(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        return '<div class="table-scroll" tabindex="0">' + self.renderToken(tokens, idx, options, env)

    def table_close(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        return self.renderToken(tokens, idx, options, env) + "</div>\n"


def _block_formula(latex: str, written: str, env: EnvType) -> str:
    html = formula(latex.strip(), display=True, written=written, allowance=env["allowance"])
    return f'<div class="math-block">{html}</div>\n'


def _refuse_cost(state: StateBlock, first: int, last: int, silent: bool) -> bool:
    if state.level >= _DEEPEST or len(state.tokens) > _MOST_TOKENS or _cells(state, first, last) > _MOST_CELLS:
        raise TooCostly
    return False


def _cells(state: StateBlock, first: int, last: int) -> int:
    """How many cells the block would have, were it a table: its first line gives the columns."""
    columns = state.src.count("|", state.bMarks[first], state.eMarks[first])
    if columns < 2:
        return 0
    end = next((line for line in range(first, last) if state.isEmpty(line)), last)
    return columns * (end - first)


_BREAK = re.compile(r"<br ?/?>", re.IGNORECASE)


def _line_break(state: StateInline, silent: bool) -> bool:
    found = _BREAK.match(state.src, state.pos, state.posMax)
    if found is None:
        return False
    if not silent:
        state.push("hardbreak", "br", 0)
    state.pos = found.end()
    return True


def _ready() -> MarkdownIt:
    options: dict[str, Any] = {"html": False, "breaks": True, "tasklists": True}
    parser = _Parser(options)
    parser.enable(["table", "strikethrough"])
    parser.block.ruler.before("table", "refuse_cost", _refuse_cost)
    parser.inline.ruler.before("autolink", "line_break", _line_break)
    for extension in (maths, footnotes, shape):
        extension(parser)
    # The parser sorts its rules at first use, unguarded: now, before threads share it.
    parser.render("*ready*", {"allowance": Allowance()})
    return parser


_parser = _ready()
