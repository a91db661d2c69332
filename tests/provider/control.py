"""The script and the record over HTTP, for processes that drive a provider they did not start.

`POST /script` adds `{"replies": […]}` to the queue, with `"on": "text"` makes them a rule, with `"default": {…}` sets
the default; `DELETE /script` forgets queue and rules. `GET /requests` and `DELETE /requests` read and empty the record.
"""

import json
from dataclasses import dataclass
from typing import ClassVar

from pydantic import ConfigDict, TypeAdapter, ValidationError

from tests.provider.dialect import Json
from tests.provider.records import RequestLog
from tests.provider.replies import STRICT, Reply
from tests.provider.script import Script


@dataclass(frozen=True, slots=True)
class ScriptOrder:
    __pydantic_config__: ClassVar[ConfigDict] = STRICT

    replies: tuple[Reply, ...] = ()
    on: str | None = None
    default: Reply | None = None


_ORDER = TypeAdapter(ScriptOrder)
_REPLY = TypeAdapter(Reply)
_DONE: tuple[int, Json] = (200, {})


def reply_as_json(reply: Reply) -> Json:
    """What `POST /script` takes for this reply."""
    as_json: Json = _REPLY.dump_python(reply, mode="json")
    return as_json


class Control:
    def __init__(self, script: Script, log: RequestLog) -> None:
        self._script = script
        self._log = log

    def call(self, method: str, path: str, content: bytes) -> tuple[int, object]:
        """Status and JSON of the answer."""
        match method, path:
            case "POST", "/script":
                return self._extend_script(content)
            case "GET", "/requests":
                return 200, [request.as_json() for request in self._log.all()]
            case "DELETE", "/script":
                self._script.clear()
            case "DELETE", "/requests":
                self._log.clear()
            case _:
                return 404, {"error": {"message": f"No {method} {path} here."}}
        return _DONE

    def _extend_script(self, content: bytes) -> tuple[int, object]:
        try:
            order = _ORDER.validate_python(json.loads(content))
        except (ValidationError, json.JSONDecodeError) as fault:
            return 400, {"detail": str(fault)}
        if order.default is not None:
            self._script.default = order.default
        if order.on is None:
            self._script.add(*order.replies)
        else:
            self._script.on(order.on, *order.replies)
        return _DONE
