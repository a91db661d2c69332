"""The tools of a request, with what their descriptions take: as a worker offers them, and as a page tells before."""

import json
from collections.abc import Iterable, Mapping
from uuid import UUID

from django.conf import settings

from conversations.context.values import Toolbox
from conversations.models import Turn
from conversations.providers.registry import BUNDLED
from conversations.providers.values import ToolSpec
from conversations.text import estimate_tokens
from conversations.tools.registry import OWN
from conversations.tools.values import Tool


def toolbox(tools: Mapping[str, Tool]) -> Toolbox:
    """The tools as the model is told of them, and about how many tokens that takes."""
    return _measured(tool.spec for tool in tools.values())


def toolbox_before(conversation_id: UUID | None, *, model: str) -> Toolbox:
    """What a worker will offer the model, as far as that is known outside of one; one query at most.

    Only workers know the tools of servers, and whether the model takes any. What they last offered it in this
    conversation they will offer again; before that, our own are assumed.
    """
    if not settings.POCKETCHAT_TOOLS or model == BUNDLED:
        return Toolbox()
    recorded = _last_offered(conversation_id, model) if conversation_id else None
    return recorded or _measured(tool.spec for tool in OWN)


def _last_offered(conversation_id: UUID, model: str) -> Toolbox | None:
    asked = Turn.objects.filter(conversation=conversation_id, model=model, context__isnull=False)
    asked = asked.filter(context__sections__isnull=False)
    row = asked.order_by("-created_at").values_list("context__sections__tools", "context__tools").first()
    if row is None:
        return None
    tokens, names = row
    if not isinstance(tokens, int):
        return Toolbox()
    named = tuple(ToolSpec(str(name), "", {}) for name in names or ())
    return Toolbox(named or tuple(tool.spec for tool in OWN), tokens, is_calibrated=True)


def _measured(offered: Iterable[ToolSpec]) -> Toolbox:
    specs = tuple(offered)
    told = (f"{spec.name} {spec.description} {json.dumps(dict(spec.parameters), default=str)}" for spec in specs)
    return Toolbox(specs, sum(estimate_tokens(text) for text in told))
