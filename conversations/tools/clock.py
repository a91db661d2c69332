"""`current_time`: the date and time where this installation stands."""

from zoneinfo import ZoneInfo

from django.conf import settings

from conversations.providers.values import ToolSpec
from conversations.tools.values import Arguments, Scene


class CurrentTime:
    spec = ToolSpec(
        name="current_time",
        description="The current date, time and weekday. Call it when an answer depends on today or now.",
        parameters={"type": "object", "properties": {}, "additionalProperties": False},
    )

    async def run(self, arguments: Arguments, scene: Scene) -> str:  # noqa: ARG002  # it takes none
        here = scene.now.astimezone(ZoneInfo(settings.TIME_ZONE))
        return f"{here.isoformat(timespec='seconds')} ({here:%A}, time zone {settings.TIME_ZONE})"
