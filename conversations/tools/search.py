"""`search_conversation`: what was said earlier in this conversation, on the branch that is being answered."""

from django.db import OperationalError, connection, transaction
from django.db.models import QuerySet
from psycopg.errors import QueryCanceled

from conversations.database import in_search_thread
from conversations.models import Message, Turn
from conversations.providers.values import ToolSpec
from conversations.tools.values import Arguments, Scene, ToolFault

ROWS = 2000
"""Messages of the branch looked at, the newest."""
HITS = 8
EXCERPT = 400
"""Characters shown of each."""
QUERY = 200
SECONDS = 10.0
"""A search may take; then the database itself gives it up, whoever may still be waiting for it."""


class SearchConversation:
    spec = ToolSpec(
        name="search_conversation",
        description=(
            "Search the earlier messages of this conversation for words. Finds messages with any of the words: those "
            "with most of them first, then the newest, also such as you no longer see. Use it when the user refers to "
            "something you do not have before you."
        ),
        parameters={
            "type": "object",
            "properties": {
                "query": {
                    "type": "string",
                    "minLength": 1,
                    "maxLength": QUERY,
                    "description": "A few distinctive words, as they would stand in the message.",
                }
            },
            "required": ["query"],
            "additionalProperties": False,
        },
    )

    async def run(self, arguments: Arguments, scene: Scene) -> str:
        return await in_search_thread(found, scene.turn, str(arguments["query"]))


def found(turn: Turn, query: str) -> str:
    """Excerpts of the messages before the question of `turn` that mention `query`.

    Those with most of its words come first, then the newest: by time alone a common word buries what is looked for.

    Raises:
        ToolFault: it takes too long.
    """
    branch = Message.objects.branch(turn.prompt.parent_id, rows=ROWS).filter(
        role__in=[Message.Role.USER, Message.Role.ASSISTANT]
    )
    hits = _within(SECONDS, branch.by_mentions(query)[: HITS + 1])
    if not hits:
        return _nothing_found(turn)
    more = ["There are more."] if len(hits) > HITS else []
    return "\n\n".join([*(_excerpt(hit, query) for hit in hits[:HITS]), *more])


def _nothing_found(turn: Turn) -> str:
    oldest = Message.objects.branch(turn.prompt.parent_id, rows=ROWS).first()
    if oldest and oldest.parent_id:
        return f"None of the newest {ROWS:,} messages of this conversation mentions it; older ones were not searched."
    return "No earlier message of this conversation mentions it."


def _within(seconds: float, scored: QuerySet[Message]) -> list[Message]:
    """Those that mention anything."""
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SELECT set_config('statement_timeout', %s, true)", [f"{seconds * 1000:.0f}"])
            return [message for message in scored if message.score]  # type: ignore[attr-defined]  # see `by_mentions`
    except OperationalError as error:
        if isinstance(error.__cause__, QueryCanceled):
            raise ToolFault("The search took too long. There is too much to be searched.") from error
        raise


def _excerpt(message: Message, query: str) -> str:
    who = "The user" if message.role == Message.Role.USER else "The assistant"
    return f"{who}, {message.created_at:%Y-%m-%d %H:%M} UTC:\n{around(message.text, query)}"


def around(text: str, query: str) -> str:
    """At most `EXCERPT` characters of a text, from a little before the first word of `query` in it."""
    places = [text.lower().find(word) for word in [query.lower(), *query.lower().split()]]
    first = next((place for place in places if place >= 0), 0)
    start = max(min(first - EXCERPT // 4, len(text) - EXCERPT), 0)
    end = start + EXCERPT
    return ("…" if start else "") + text[start:end].strip() + ("…" if end < len(text) else "")
