"""Carrying out calls. Whatever goes wrong becomes a result that the model sees; nothing here fails a reply."""

import asyncio
import json
import traceback
from collections.abc import AsyncGenerator, Iterable, Mapping
from typing import Any

import structlog
from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError, ValidationError, best_match
from referencing import Registry
from referencing.exceptions import Unresolvable

from conversations.context.shortened import shortened
from conversations.providers.values import ToolCall, ToolResult
from conversations.tools.values import Scene, Tool, ToolFault

log = structlog.get_logger(__name__)

MOST_AT_ONCE = 20
"""Calls of one round that are carried out."""
SECONDS = 30.0
"""A tool may take."""
RESULT_CHARACTERS = 16_000
"""A result may have; what is beyond is left out with a note."""
LEAVE = 0.3
"""Seconds that calls get to let go when the reply is stopped."""


async def carried_out(
    calls: Iterable[ToolCall], tools: Mapping[str, Tool], scene: Scene
) -> AsyncGenerator[ToolResult, None]:
    """Carry out calls at once, and yield each result when it is there. Closing breaks off what still runs.

    Those beyond `MOST_AT_ONCE` are refused, which the model sees.
    """
    asked = list(calls)
    running = {asyncio.create_task(result_of(call, tools, scene)) for call in asked[:MOST_AT_ONCE]}
    try:
        for call in asked[MOST_AT_ONCE:]:
            yield _result(call, f"Too many calls at once: {MOST_AT_ONCE} are carried out.", is_error=True)
        waiting = running
        while waiting:
            done, waiting = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                yield task.result()
    finally:
        for task in running:
            task.cancel()
        if running := {task for task in running if not task.done()}:
            # A tool that does not let go is left to itself: the reply has to end now.
            await asyncio.wait(running, timeout=LEAVE)


async def result_of(call: ToolCall, tools: Mapping[str, Tool], scene: Scene) -> ToolResult:
    """What came of one call."""
    try:
        tool = _named(call.name, tools)
        arguments = _checked(call.arguments, tool.spec.parameters)
        async with asyncio.timeout(SECONDS):
            text = await tool.run(arguments, scene)
    except ToolFault as fault:
        return _result(call, str(fault), is_error=True)
    except TimeoutError:
        return _result(call, f"The tool did not answer within {SECONDS:g} seconds.", is_error=True)
    except Exception as error:  # noqa: BLE001  # whatever a tool raises, the reply goes on
        _report(call, error, scene)
        return _result(call, "The tool failed.", is_error=True)
    return _result(call, text)


def _named(name: str, tools: Mapping[str, Tool]) -> Tool:
    if (tool := tools.get(name)) is None:
        raise ToolFault(f"There is no tool named {name}. There are: {', '.join(tools) or 'none'}.")
    return tool


def _checked(arguments: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    """Raises `ToolFault` for what is not JSON, or does not fit the schema."""
    try:
        value = json.loads(arguments or "{}")
    except (ValueError, RecursionError) as error:
        raise ToolFault("The arguments are not valid JSON. Call the tool again with a JSON object.") from error
    # Without a registry of its own the validator would fetch schemas that a schema refers to.
    validator = Draft202012Validator(dict(schema), registry=Registry())
    try:
        wrong: ValidationError | None = best_match(validator.iter_errors(value))
    except (SchemaError, Unresolvable) as error:
        raise ToolFault("This tool describes its arguments in a way that cannot be checked.") from error
    if wrong is not None:
        raise ToolFault(f"The arguments do not fit at {wrong.json_path}: {shortened(wrong.message, 500)}")
    if not isinstance(value, dict):
        raise ToolFault("The arguments must be a JSON object.")
    return value


def _result(call: ToolCall, text: str, *, is_error: bool = False) -> ToolResult:
    return ToolResult(call.id, call.name, shortened(text, RESULT_CHARACTERS), is_error=is_error)


def _report(call: ToolCall, error: Exception, scene: Scene) -> None:
    """The place alone: what was called with what, and the words of an exception, are content."""
    where = [f"{frame.name}:{frame.lineno}" for frame in traceback.extract_tb(error.__traceback__)]
    log.warning("tool_failed", turn=str(scene.turn.pk), tool=call.name, error=type(error).__name__, where=where)
