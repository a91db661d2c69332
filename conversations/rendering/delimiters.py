r"""Where maths stands in Markdown: `$…$`, `\(…\)`, `$$…$$`, `\[…\]`, and the environments models write bare.

Two rules for the parser, one within a line of text and one for blocks. Both look only as far as a formula may reach,
so that any number of unclosed delimiters costs time in proportion to the text.
"""

import re

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline

from conversations.rendering.mathml import LONGEST_FORMULA

# Possessive, so that an opening without its closing costs one look ahead and no more. A backslash takes the next
# character with it, so an escaped delimiter does not close.
_FORMULA = re.compile(
    r"""
      \\\( (?P<round>  (?: [^\\]  | \\[^)]           ){1,N}+ ) \\\)
    | \\\[ (?P<square> (?: [^\\]  | \\[^\]]          ){1,N}+ ) \\\]
    | \$\$ (?P<double> (?: [^$\\] | \\. | \$(?!\$)   ){1,N}+ ) \$\$
    | \$   (?P<single> (?: [^$\\] | \\.              ){1,N}+ ) \$
    """.replace("N", str(LONGEST_FORMULA)),
    re.VERBOSE | re.DOTALL,
)
_DISPLAYED = frozenset({"square", "double"})
_MOST_LINES = 100

_ENVIRONMENTS = "align|alignat|eqnarray|equation|flalign|gather|multline"
_BLOCK_OPENING = re.compile(rf"\$\$|\\\[|\\begin\{{((?:{_ENVIRONMENTS})\*?)\}}")
_PUNCTUATION = ".,;:"


def maths(parser: MarkdownIt) -> None:
    """Teach the parser formulas: `math_inline` and `math_block` tokens, displayed where `meta["display"]` says so."""
    parser.inline.ruler.before("escape", "maths", _inline)
    parser.block.ruler.before("fence", "maths", _block, {"alt": ["paragraph", "reference", "blockquote", "list"]})


def _inline(state: StateInline, silent: bool) -> bool:
    if state.src[state.pos] not in "$\\":
        return False
    found = _FORMULA.match(state.src, state.pos, state.posMax)
    if found is None or found.lastgroup is None or not found[found.lastgroup].strip():
        return False
    if found.lastgroup == "single" and not _is_no_price(state.src, found):
        return False
    if not silent:
        token = state.push("math_inline", "math", 0)
        token.content = found[found.lastgroup].strip()
        token.markup = found[0]
        token.meta["display"] = found.lastgroup in _DISPLAYED
    state.pos = found.end()
    return True


def _is_no_price(source: str, found: re.Match[str]) -> bool:
    """Whether single dollars hold a formula: no space just inside them, no letter or digit just outside."""
    inside = found["single"]
    if inside[0].isspace() or inside[-1].isspace():
        return False
    return not (_is_word(source[found.start() - 1 : found.start()]) or _is_word(source[found.end() : found.end() + 1]))


def _is_word(character: str) -> bool:
    return character.isascii() and character.isalnum()


def _block(state: StateBlock, first: int, last: int, silent: bool) -> bool:
    if state.is_code_block(first):
        return False
    opening = _BLOCK_OPENING.match(state.src, state.bMarks[first] + state.tShift[first], state.eMarks[first])
    if opening is None:
        return False
    closing = _closing_of(opening)
    end = _last_line(state, first, last, opening, closing)
    if end < 0:
        return False
    if silent:
        return True
    written = state.getLines(first, end + 1, state.sCount[first], keepLastLF=False).strip()
    token = state.push("math_block", "math", 0)
    token.content = written if opening[1] else _between(written, opening[0], closing)
    token.markup = written
    token.meta["display"] = True
    token.map = [first, end + 1]
    state.line = end + 1
    return True


def _closing_of(opening: re.Match[str]) -> str:
    if opening[1]:
        return f"\\end{{{opening[1]}}}"
    return "\\]" if opening[0] == "\\[" else "$$"


def _last_line(state: StateBlock, first: int, last: int, opening: re.Match[str], closing: str) -> int:
    """The line whose end closes the formula, or -1. A dollar formula has no empty line in it."""
    for line in range(first, min(last, first + _MOST_LINES)):
        start = opening.end() if line == first else state.bMarks[line] + state.tShift[line]
        text = state.src[start : state.eMarks[line]]
        if line > first and state.sCount[line] < state.blkIndent and text:
            return -1
        if closing in text:
            ended = text.rstrip().rstrip(_PUNCTUATION).endswith(closing) and text.count(closing) == 1
            return line if ended else -1
        if not text.strip() and line > first and opening[0] == "$$":
            return -1
    return -1


def _between(written: str, opening: str, closing: str) -> str:
    """The formula without its delimiters. Punctuation after the closing one belongs to the sentence it ends."""
    formula, _, punctuation = written.removeprefix(opening).rpartition(closing)
    return formula.strip() + punctuation.strip()
