# ruff: noqa: ARG001, ARG005 - the signatures are the parser's
"""Footnotes without ids: a number in the text, and the notes as a list at the end.

Ids would have to be unique on a page of many messages, and equal for the same message wherever it is shown.
"""

from collections.abc import Sequence
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererProtocol
from markdown_it.rules_core import StateCore
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict
from mdit_py_plugins.footnote import footnote_plugin


def footnotes(parser: MarkdownIt) -> None:
    parser.use(footnote_plugin, inline=False)
    parser.core.ruler.before("footnote_tail", "footnote_keep", _keep_unreferenced)
    parser.add_render_rule("footnote_ref", _reference)
    for part, html in _PARTS.items():
        parser.add_render_rule(part, _constant(html))


_PARTS = {
    "footnote_block_open": '<section class="footnotes">\n<ol dir="auto">\n',
    "footnote_block_close": "</ol>\n</section>\n",
    "footnote_open": '<li dir="auto">',
    "footnote_close": "</li>\n",
    "footnote_anchor": "",
}


def _keep_unreferenced(state: StateCore) -> None:
    """List the notes nothing refers to as well: the plugin would drop them, and a reader would miss words."""
    notes: dict[str, dict[Any, Any]] = state.env.get("footnotes", {"refs": {}, "list": {}})
    for label, number in notes["refs"].items():
        if number < 0:
            notes["list"][len(notes["list"])] = {"label": label[1:], "count": 0}


def _reference(self: RendererProtocol, tokens: Sequence[Token], index: int, options: OptionsDict, env: EnvType) -> str:
    return f'<sup class="footnote-ref">{tokens[index].meta["id"] + 1}</sup>'


def _constant(html: str) -> Any:
    return lambda self, tokens, index, options, env: html
