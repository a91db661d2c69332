"""The last step of every rendering: what is not on this list does not reach the page."""

import nh3

from conversations.rendering.code import TOKEN_CLASSES
from conversations.rendering.mathml import MATHML_ATTRIBUTES, MATHML_ELEMENTS

_TEXT = {
    "p",
    "br",
    "hr",
    "h3",
    "h4",
    "h5",
    "h6",
    "strong",
    "em",
    "s",
    "a",
    "blockquote",
    "span",
    "sup",
    "div",
    "section",
}
_LISTS = {"ul", "ol", "li", "input"}
_TABLES = {"table", "thead", "tbody", "tr", "th", "td"}
_CODE = {"figure", "figcaption", "button", "pre", "code"}

_DIRECTED = {"p", "h3", "h4", "h5", "h6", "blockquote", "ul", "ol", "li", "table", "th", "td", "pre", "code"}
_ATTRIBUTES: dict[str, set[str]] = {
    **{tag: {"dir"} for tag in _DIRECTED},
    **{tag: set(MATHML_ATTRIBUTES) for tag in MATHML_ELEMENTS},
    "math": {"display", "dir", "alttext"},
    "a": {"href", "title"},
    "ol": {"dir", "start"},
    "pre": {"dir", "tabindex"},
    "div": {"tabindex"},
    "input": {"checked", "disabled"},
}
_CLASSES = {
    "p": {"as-typed"},
    "a": {"image-link"},
    "ul": {"contains-task-list"},
    "ol": {"contains-task-list"},
    "li": {"task-list-item"},
    "section": {"footnotes"},
    "sup": {"footnote-ref"},
    "div": {"table-scroll", "math-block"},
    "th": {"align-center", "align-right"},
    "td": {"align-center", "align-right"},
    "figure": {"code"},
    "button": {"code-copy"},
    "code": {"math-source", "math-source-block"},
    "span": {"code-language", *TOKEN_CLASSES},
}

_cleaner = nh3.Cleaner(
    tags=_TEXT | _LISTS | _TABLES | _CODE | set(MATHML_ELEMENTS),
    attributes=_ATTRIBUTES,
    allowed_classes=_CLASSES,
    tag_attribute_values={"button": {"type": {"button"}}, "input": {"type": {"checkbox"}}},
    # A box in a list is a task; whether it is done, the box itself says.
    set_tag_attribute_values={"a": {"target": "_blank"}, "input": {"aria-label": "Task"}},
    link_rel="noopener noreferrer nofollow",
    url_schemes={"http", "https", "mailto"},
    url_relative="deny",  # a model's words must not lead to our own pages
)


def sanitised(html: str) -> str:
    return _cleaner.clean(html)
