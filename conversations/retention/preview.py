"""What a purge at some moment would delete: counts and ids, never what was said."""

from dataclasses import asdict, dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import Count, Func, IntegerField, Max, Min, Sum

from conversations.expiry import Kind
from conversations.models import Message, Turn
from conversations.retention.due import due, spared, traces_due

SAMPLE = 5


class Size(Func):
    """Bytes a value takes in its row, compressed as it is."""

    function = "pg_column_size"
    output_field = IntegerField()


@dataclass(frozen=True, slots=True)
class Preview:
    """`held` conversations stay though they are over. `oldest` and `newest`: the last messages of those that go."""

    conversations: int
    messages: int
    turns: int
    bytes: int
    people: int
    oldest: datetime | None
    newest: datetime | None
    held: int
    traces: int
    kinds: dict[str, int]
    """How many are over for each reason; some for several."""
    sample: tuple[UUID, ...]

    @property
    def counts(self) -> dict[str, int]:
        """To be recorded with a change."""
        return {name: value for name, value in asdict(self).items() if isinstance(value, int)}


def preview(now: datetime, *, owner: int | None = None) -> Preview:
    """Under the rules as this transaction sees them; of one person alone where one is named.

    Ten queries, whatever they find.
    """
    whose = {} if owner is None else {"owner": owner}
    going = due(now).filter(**whose)
    counted = going.aggregate(
        conversations=Count("pk"),
        people=Count("owner", distinct=True),
        oldest=Min("last_activity_at"),
        newest=Max("last_activity_at"),
    )
    messages = Message.objects.filter(conversation__in=going.values("pk"))
    sizes = messages.aggregate(messages=Count("pk"), bytes=Sum(Size("content"), default=0))
    return Preview(
        **sizes,
        kinds={kind.value: due(now, kinds=[kind]).filter(**whose).count() for kind in Kind},
        **counted,
        turns=Turn.objects.filter(conversation__in=going.values("pk")).count(),
        held=spared(now).filter(**whose).count(),
        traces=traces_due(now).count() if owner is None else 0,
        sample=tuple(going.order_by("last_activity_at", "pk").values_list("pk", flat=True)[:SAMPLE]),
    )
