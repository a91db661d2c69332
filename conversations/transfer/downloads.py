"""Files as answers: sent piece by piece, to be saved and not to be shown."""

from collections.abc import AsyncIterator, Generator
from datetime import datetime
from functools import partial
from uuid import UUID

from django.http import StreamingHttpResponse
from django.utils.http import content_disposition_header

from accounts.models import User
from conversations import access
from conversations.models import Export
from conversations.pace import keeps_pace
from conversations.refusals import ExportGone, ExportNotReady, TooManyFiles
from conversations.transfer import files
from conversations.transfer.content import Content
from conversations.transfer.formats import Format
from conversations.transfer.streaming import sent_from, sent_while_made

MOST_FILES = 30
"""Of one person, a minute."""


def conversation_file(user: User, conversation_id: UUID, chosen: Format, *, now: datetime) -> StreamingHttpResponse:
    """One conversation as a file.

    Raises:
        Http404, TooManyFiles
    """
    conversation = access.conversation_of(user, conversation_id)
    if not keeps_pace(f"files:{user.pk}", most=MOST_FILES):
        raise TooManyFiles(MOST_FILES)
    pieces = partial(_pieces, user, conversation_id, chosen, now)
    return _file(sent_while_made(pieces), content_type=chosen.content_type, name=chosen.file_name(conversation))


def export_file(export: Export) -> StreamingHttpResponse:
    """The ZIP of everything.

    Raises:
        ExportNotReady, ExportGone
    """
    if not export.is_ready:
        raise ExportNotReady(export.status)
    path = files.path_of(export.owner_id, export.pk)
    if not path.is_file():
        raise ExportGone
    name = f"pocketchat-{export.created_at:%Y-%m-%d}.zip"
    response = _file(sent_from(path), content_type="application/zip", name=name)
    response["Content-Length"] = str(export.size)
    return response


def _pieces(user: User, conversation_id: UUID, chosen: Format, now: datetime) -> Generator[str, None, None]:
    """Asked for anew: what was put into the bin since is shown to nobody."""
    with access.as_of_one_moment():
        conversation = access.conversation_of(user, conversation_id)
        yield from chosen.written(Content(conversation), now=now)


def _file(chunks: AsyncIterator[bytes], *, content_type: str, name: str) -> StreamingHttpResponse:
    return StreamingHttpResponse(
        chunks,
        content_type=content_type,
        headers={
            "Content-Disposition": content_disposition_header(as_attachment=True, filename=name) or "attachment",
            "X-Content-Type-Options": "nosniff",
            "Cache-Control": "private, no-store",
            # A proxy passes on what comes, and keeps no copy on its disk.
            "X-Accel-Buffering": "no",
        },
    )
