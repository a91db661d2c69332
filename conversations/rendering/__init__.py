"""Text as HTML: one renderer for the page, a shared link and an export.

`render_markdown` is for what a model wrote, `render_plain` for what a person typed. Both take any `str` and never
raise; what they return is sanitised last, against an explicit list. Nothing in it runs, and nothing is fetched by
showing it. No result is kept here, so that an erased message leaves no copy behind.
"""

from conversations.rendering.markdown import render_markdown
from conversations.rendering.plain import render_plain

__all__ = ["render_markdown", "render_plain"]
