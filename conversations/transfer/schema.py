"""The form of an exported conversation as a JSON Schema (draft 2020-12), which goes with the product and each ZIP."""

import json
from functools import cache
from pathlib import Path
from typing import Any

CONVERSATION_SCHEMA = Path(__file__).parent / "schemas" / "conversation-1.json"


@cache
def conversation_schema() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(CONVERSATION_SCHEMA.read_text())
    return found
