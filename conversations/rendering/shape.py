"""The last rule of the parser: fits the tokens of an answer to the page they are shown on.

Headings start below those of the page, blocks get a direction, images become links, addresses become links, and
footnotes lose the ids that would clash with another message's.
"""

import re
import unicodedata

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.rules_core import StateCore
from markdown_it.token import Token

from conversations.rendering.links import addresses

_HEADINGS_ABOVE = 2
_LEAVES = frozenset({"paragraph_open", "heading_open", "th_open", "td_open"})
_CONTAINERS = frozenset({"blockquote_open", "bullet_list_open", "ordered_list_open", "list_item_open", "table_open"})
_ALIGNMENTS = {"text-align:center": "align-center", "text-align:right": "align-right"}
_LETTER = re.compile(r"[^\W\d_]")


def shape(parser: MarkdownIt) -> None:
    parser.core.ruler.push("shape", _shape)


def _shape(state: StateCore) -> None:
    undirected: list[Token] = []
    for token in state.tokens:
        if token.type == "inline":
            token.children = _shaped_inline(token.children or [], state.md)
            _direct(undirected, token.content)
        elif token.type in _CONTAINERS:
            undirected.append(token)
            token.attrs["dir"] = "auto"
        elif token.type in _LEAVES:
            token.attrs["dir"] = "auto"
        if token.tag in ("th", "td") and token.attrs:
            _align(token)
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(6, int(token.tag[1]) + _HEADINGS_ABOVE)}"
        if undirected and token.nesting < 0 and token.level == undirected[-1].level:
            undirected.pop()


def _direct(undirected: list[Token], text: str) -> None:
    """Let the first letter of its text decide a container's direction.

    `dir="auto"` looks past children that have a direction themselves, as all of them do here, and so finds nothing
    in a list or a quotation: its bullet or bar would stand on the wrong side.
    """
    letter = _LETTER.search(text) if undirected else None
    if letter is None:
        return
    if unicodedata.bidirectional(letter[0]) in ("R", "AL"):
        for token in undirected:
            token.attrs["dir"] = "rtl"
    undirected.clear()


def _align(cell: Token) -> None:
    alignment = _ALIGNMENTS.get(str(cell.attrs.pop("style", "")))
    if alignment:
        cell.attrs["class"] = alignment


def _shaped_inline(tokens: list[Token], parser: MarkdownIt) -> list[Token]:
    shaped: list[Token] = []
    inside_link = leads_nowhere = False
    for token in tokens:
        if token.type == "link_open":
            inside_link, leads_nowhere = True, not token.attrs.get("href")
        elif token.type == "link_close":
            inside_link = False
        if token.tag == "a" and leads_nowhere:
            continue
        if token.type == "image":
            shaped += _described(token, parser, inside_link=inside_link)
        elif token.type == "text" and not inside_link and "://" in token.content:
            shaped += _linked(token.content)
        else:
            shaped.append(token)
    return shaped


def _described(image: Token, parser: MarkdownIt, *, inside_link: bool) -> list[Token]:
    """An image as a link to it under its description: showing it would tell its host who reads what, and when."""
    assert isinstance(parser.renderer, RendererHTML)
    address = str(image.attrs["src"])
    description = parser.renderer.renderInlineAsText(image.children, parser.options, {}).strip() or address
    if inside_link or not address:
        return [_text(description)]
    return _anchor(address, description, {"class": "image-link"})


def _linked(text: str) -> list[Token]:
    parts: list[Token] = []
    position = 0
    for start, end in addresses(text):
        parts += [_text(text[position:start]), *_anchor(text[start:end], text[start:end], {})]
        position = end
    return [*parts, _text(text[position:])]


def _anchor(address: str, label: str, attributes: dict[str, str | int | float]) -> list[Token]:
    opening = Token("link_open", "a", 1, attrs={"href": address, **attributes})
    return [opening, _text(label), Token("link_close", "a", -1)]


def _text(content: str) -> Token:
    return Token("text", "", 0, content=content)
