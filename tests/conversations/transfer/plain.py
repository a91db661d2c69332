"""What two files of one conversation have in common, wherever they were written."""

import json
from typing import Any


def plain(document: dict[str, Any]) -> dict[str, Any]:
    """The document without what has a meaning in one file alone: numbers become places."""
    document = json.loads(json.dumps(document))
    messages = {one["id"]: place for place, one in enumerate(document["messages"])}
    turns = {one["id"]: f"turn {place}" for place, one in enumerate(document["turns"])}
    summaries = {one["id"]: place for place, one in enumerate(document["summaries"])}
    del document["exported_at"], document["conversation"]["id"]
    document["conversation"]["head"] = messages.get(document["conversation"]["head"])
    for turn in document["turns"]:
        turn["id"], turn["prompt"] = turns[turn["id"]], messages[turn["prompt"]]
        if turn["context"]:
            turn["context"] = {
                **turn["context"],
                "sent": [messages[one] for one in turn["context"]["sent"]],
                "start": messages[turn["context"]["start"]],
            }
    for message in document["messages"]:
        message["id"], message["turn"] = messages[message["id"]], turns[message["turn"]]
        for name in ("parent", "resume_at"):
            message[name] = messages.get(message[name])
    for summary in document["summaries"]:
        summary["id"], summary["follows"] = summaries[summary["id"]], summaries.get(summary["follows"])
        summary["through_message"] = messages[summary["through_message"]]
    return document
