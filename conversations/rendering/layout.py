"""The form of a formula: what the converter leaves out of its MathML, and typesetting expects."""

from collections.abc import Iterator
from xml.etree.ElementTree import Element

THIN = "0.1667em"
"""What TeX sets around the name of a function."""

_CHILDREN = {"mover": 2, "msub": 2, "msubsup": 3, "msup": 2, "munder": 2, "munderover": 3}
# Elements that set their children in a line.
_ROWS = frozenset({"math", "menclose", "mpadded", "mphantom", "mrow", "msqrt", "mstyle", "mtd"})
_FUNCTIONS = frozenset({
    "arccos", "arcsin", "arctan", "arg", "cos", "cosh", "cot", "coth", "csc", "deg", "dim", "exp", "hom", "ker", "lg",
    "ln", "log", "sec", "sin", "sinh", "tan", "tanh",
})  # fmt: skip
_OPENING, _CLOSING = frozenset("([{|‖"), frozenset(")]}|‖")
_ENDING = _CLOSING | {"!", "⟩", "⌉", "⌋"}
_APPLIED = "\u2061"


def lay_out(root: Element) -> None:
    """Make one base of several elements, let brackets grow with what they hold, set names of functions apart."""
    for element in list(root.iter()):
        _fence_tables(element)
        _gather_base(element)
    for element in list(root.iter()):
        if element.tag in _ROWS:
            element[:] = list(_spaced(list(element)))


def _fence_tables(parent: Element) -> None:
    """A matrix and its brackets are one thing, as high as the matrix."""
    for table in [child for child in parent if child.tag == "mtable"]:
        place = list(parent).index(table)
        fenced = list(parent)[max(place - 1, 0) : place + 2]
        if [element.tag for element in fenced] != ["mo", "mtable", "mo"]:
            continue
        left, _, right = fenced
        if left.text not in _OPENING or right.text not in _CLOSING:
            continue
        for fence, form in ((left, "prefix"), (right, "postfix")):
            fence.attrib |= {"stretchy": "true", "fence": "true", "form": form}
        parent[place - 1 : place + 2] = [_row(fenced)]


def _gather_base(script: Element) -> None:
    """Under a script's element stand its base and its scripts, no more: browsers show others as an error."""
    extra = len(script) - _CHILDREN.get(script.tag, len(script))
    if extra > 0:
        script[: extra + 1] = [_row(list(script)[: extra + 1])]


def _spaced(elements: list[Element]) -> Iterator[Element]:
    before: Element | None = None
    for element, after in zip(elements, [*elements[1:], None], strict=True):
        core = _core(element)
        if not _is_function(core):
            yield element
        else:
            if core.tag == "mo":
                core.attrib |= {"lspace": "0", "rspace": "0"}
            if before is not None and _ends_something(before):
                yield Element("mspace", width=THIN)
            yield element
            yield from _application(after, is_name=core.tag == "mi")
        before = element


def _application(argument: Element | None, *, is_name: bool) -> Iterator[Element]:
    """What stands between a function and what it is applied to, if it is."""
    if argument is None:
        return
    core = _core(argument)
    is_operand = core.tag not in {"mo", "mspace"}
    if is_name and (is_operand or core.text in _OPENING):
        applied = Element("mo")
        applied.text = _APPLIED
        yield applied
    if is_operand and not _is_function(core) and not _is_bracketed(core):
        yield Element("mspace", width=THIN)


def _ends_something(element: Element) -> bool:
    core = _core(element)
    return core.tag not in {"mo", "mspace"} or core.text in _ENDING or _is_function(core)


def _core(element: Element) -> Element:
    """What the scripts of an element are attached to."""
    while element.tag in _CHILDREN and len(element):
        element = element[0]
    return element


def _is_function(core: Element) -> bool:
    name = (core.text or "").replace("\u2006", "")
    if core.tag == "mo":
        return len(name) > 1 and name.isalpha() and name != "mod"
    return core.tag == "mi" and name in _FUNCTIONS


def _is_bracketed(element: Element) -> bool:
    return element.tag == "mrow" and len(element) > 0 and element[0].tag == "mo"


def _row(elements: list[Element]) -> Element:
    row = Element("mrow")
    row.extend(elements)
    return row
