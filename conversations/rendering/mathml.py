"""LaTeX as MathML, which browsers show without a script."""

import re
from html import escape
from xml.etree.ElementTree import Element, tostring

from latex2mathml import exceptions
from latex2mathml.converter import convert_to_element

from conversations.rendering.allowance import Allowance
from conversations.rendering.layout import lay_out

LONGEST_FORMULA = 3_000
"""Characters. Longer ones are no formulas a person would read."""

MATHML_ELEMENTS = frozenset({
    "math", "menclose", "mfrac", "mi", "mn", "mo", "mover", "mpadded", "mphantom", "mroot", "mrow", "mspace", "msqrt",
    "mstyle", "msub", "msubsup", "msup", "mtable", "mtd", "mtext", "mtr", "munder", "munderover",
})  # fmt: skip
_KEYWORDS = frozenset({
    "accent", "accentunder", "columnalign", "columnlines", "columnspacing", "displaystyle", "fence", "form", "largeop",
    "linethickness", "mathvariant", "movablelimits", "notation", "rowlines", "rowspacing", "scriptlevel", "stretchy",
    "symmetric",
})  # fmt: skip
_LENGTHS = frozenset({"depth", "height", "lspace", "maxsize", "minsize", "rspace", "voffset", "width"})
MATHML_ATTRIBUTES = _KEYWORDS | _LENGTHS

_KEYWORD = re.compile(r"[a-z0-9. -]{1,60}")
# Small enough that no formula reaches over what stands around it.
_LENGTH = re.compile(r"[+-]?\d{0,2}(?:\.\d{1,4})?(?:em|ex|mu|pt|px)?")


class NotMaths(ValueError):
    """The source is not LaTeX that can be shown as MathML."""


# What the converter raises on LaTeX it cannot read: its own exceptions have no common base.
_UNREADABLE: tuple[type[Exception], ...] = (
    ArithmeticError,
    AttributeError,
    LookupError,
    RuntimeError,
    StopIteration,
    TypeError,
    ValueError,
    *(kind for kind in vars(exceptions).values() if isinstance(kind, type) and issubclass(kind, Exception)),
)

# Definitions can grow without bound, and are not for a single formula.
_DEFINITION = re.compile(r"\\(?:def|let|newcommand|renewcommand|newenvironment|DeclareMathOperator)(?![A-Za-z])")
_DROPPED = re.compile(r"\\(?:label\s*\{[^{}]*\}|nonumber|notag)")
# Environments the converter does not know, by those it does that look the same. No equation is numbered.
_SAME_LOOK = {
    "align": "align*", "aligned": "align*", "alignedat": "align*", "dcases": "cases", "eqnarray": "align*",
    "equation": "equation*", "flalign": "align*", "gather": "matrix", "gathered": "matrix", "multline": "matrix",
}  # fmt: skip
_ENVIRONMENT = re.compile(rf"\\(begin|end)\s*\{{({'|'.join(_SAME_LOOK)})\*?\}}")
_SYNONYMS = {"arg": r"\operatorname{arg}", "bm": r"\boldsymbol", "mathds": r"\mathbb"}
_SYNONYM = re.compile(rf"\\({'|'.join(_SYNONYMS)})(?![A-Za-z])")
_LIMITS = frozenset({"inf", "lim", "max", "min", "sup"})
_REFERENCE = re.compile(r"&#x([0-9A-Fa-f]{1,6});")


def formula(latex: str, *, display: bool, written: str, allowance: Allowance) -> str:
    """A formula as MathML, or as the source `written` with its delimiters where it cannot be read."""
    try:
        return _mathml(latex, display=display, allowance=allowance)
    except NotMaths:
        classes = "math-source math-source-block" if display else "math-source"
        return f'<code class="{classes}" dir="ltr">{escape(written)}</code>'


def _mathml(latex: str, *, display: bool, allowance: Allowance) -> str:
    if len(latex) > min(LONGEST_FORMULA, allowance.latex_characters) or _DEFINITION.search(latex):
        raise NotMaths
    allowance.latex_characters -= len(latex)
    try:
        root = convert_to_element(_understood(latex), display="block" if display else "inline")
        for element in root.iter():
            _settle(element)
        lay_out(root)
        root.attrib = {"display": "block"} if display else {}
        root.set("dir", "ltr")
        root.set("alttext", latex)
        return tostring(root, encoding="unicode", short_empty_elements=False)
    except _UNREADABLE as reason:
        raise NotMaths from reason


def _understood(latex: str) -> str:
    """The same formula in words the converter knows."""
    latex = _DROPPED.sub("", latex)
    latex = _ENVIRONMENT.sub(lambda found: f"\\{found[1]}{{{_SAME_LOOK[found[2]]}}}", latex)
    latex = _SYNONYM.sub(lambda found: _SYNONYMS[found[1]], latex)
    if "\\\\" in latex and "\\begin" not in latex:
        return f"\\begin{{matrix}}{latex}\\end{{matrix}}"
    return latex


def _settle(element: Element) -> None:
    """Write characters for the references the converter leaves, and keep only attributes that set form."""
    text = element.text or ""
    if text == "&" or re.match(r"\\[A-Za-z]", text):
        raise NotMaths
    element.text = _REFERENCE.sub(lambda found: _character(int(found[1], 16)), text)
    element.attrib = {name: value for name, value in element.attrib.items() if _is_form(name, value)}
    if element.tag == "msub" and element[0].tag == "mo" and element[0].text in _LIMITS:
        element.tag = "munder"
        element[0].set("movablelimits", "true")


def _character(number: int) -> str:
    if number < 0x20 or 0xD800 <= number < 0xE000 or number > 0x10FFFF:
        return "\ufffd"
    return chr(number)


def _is_form(name: str, value: str) -> bool:
    pattern = _KEYWORD if name in _KEYWORDS else _LENGTH if name in _LENGTHS else None
    return pattern is not None and pattern.fullmatch(value) is not None
