"""A call of a tool in one line, for the person who reads the reply."""

from typing import Any

from conversations.text import preview

QUERY_CHARACTERS = 80

VERBS = {
    "current_time": ("Looking at the clock", "Looked at the clock", "Could not look at the clock"),
    "search_conversation": (
        "Searching this conversation",
        "Searched this conversation",
        "Could not search this conversation",
    ),
}
RUNNING, DONE, FAILED = range(3)
PHASES = {"running": RUNNING, "done": DONE, "failed": FAILED, "unfinished": FAILED}


def label_of(name: str, arguments: Any, status: str) -> str:
    """`status` is running, done, failed or unfinished; `arguments` are whatever the model wrote."""
    general = (f"Using {name}", f"Used {name}", f"Could not use {name}")
    line = VERBS.get(name, general)[PHASES[status]]
    query = arguments.get("query") if name == "search_conversation" and isinstance(arguments, dict) else None
    return f"{line} for “{preview(query, QUERY_CHARACTERS)}”" if isinstance(query, str) and query.strip() else line
