"""Deleting, restoring and archiving, one conversation or many. What cannot be undone is asked about before."""

from collections.abc import Collection
from typing import cast
from uuid import UUID

from django.contrib import messages
from django.contrib.humanize.templatetags.humanize import intcomma
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.template.defaultfilters import pluralize
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST

from accounts.models import User
from conversations import access, binning
from conversations.querysets import ConversationQuerySet
from conversations.refusals import Held
from conversations.retention import deleting
from conversations.retention.deleting import Deleted, bin_days, delete_for_good
from conversations.text import preview
from conversations.views.requests import for_people_logged_in, is_partial, number
from conversations.views.selection import Selection, ids_of, selection_of
from conversations.views.shelves import rows_of
from conversations.views.sidebar import sidebar_of

MOST_UNDONE = 50
"""Conversations that one press of Undo brings back; more are restored in the bin."""

TITLE_CHARACTERS = 60


@require_http_methods(["GET", "HEAD", "POST"])
@for_people_logged_in
def delete(request: HttpRequest, conversation_id: UUID) -> HttpResponse:
    """Say what will happen; then put it into the bin, and lead to a new conversation."""
    found = access.conversation_of(request.user, conversation_id)
    days = bin_days(_person(request))
    if request.method != "POST" or _was_promised_more(request, days):
        context = {"conversation": found, "bin_days": days}
        if is_partial(request):
            return render(request, "conversations/_delete.html", context)
        context |= {"sidebar": sidebar_of(request.user, current=found.pk)}
        return render(request, "conversations/delete.html", context)
    try:
        gone = deleting.delete([found.pk], by=_person(request), now=timezone.now())
    except Held as refusal:
        messages.error(request, str(refusal))
        return redirect("conversations:conversation", found.pk)
    title = preview(found.title, TITLE_CHARACTERS) if found.title else "The conversation"
    _tell(request, f"“{title}” is" if found.title else f"{title} is", gone)
    return redirect("conversations:home")


@require_POST
@for_people_logged_in
def restore(request: HttpRequest) -> HttpResponse:
    """Undo: what was put into the bin a moment ago is back; one conversation alone opens again."""
    ids = _ids(access.bin_of(request.user), ids_of(request.POST.getlist("id")[:MOST_UNDONE]))
    _take_out(request, ids)
    return redirect("conversations:conversation", ids[0]) if len(ids) == 1 else redirect("conversations:home")


@require_POST
@for_people_logged_in
def change(request: HttpRequest) -> HttpResponse:
    """What the button says, with the chosen conversations of a list, or with all that stand on it."""
    chosen = selection_of(request)
    rows = rows_of(request, chosen.shelf)
    ids = list(rows.values_list("pk", flat=True)) if chosen.is_everything else _ids(rows, chosen.ids)
    days = bin_days(_person(request))
    if ids and (_has_to_be_asked(chosen, days) or _was_promised_more(request, days)):
        return _asked(request, chosen, ids)
    if not ids:
        messages.error(request, "Nothing was changed: choose a conversation first.")
    elif chosen.action in {"archive", "unarchive"}:
        _archive(request, ids, archived=chosen.action == "archive")
    elif chosen.action == "restore":
        _take_out(request, ids)
    elif chosen.action in {"delete", "erase"}:
        _delete(request, ids, is_for_good=chosen.action == "erase")
    return redirect(chosen.shelf.address)


def _has_to_be_asked(chosen: Selection, days: int) -> bool:
    """What cannot be undone, or is as much as there is."""
    is_dangerous = chosen.action == "erase" or (chosen.action == "delete" and (chosen.is_everything or not days))
    return is_dangerous and not chosen.is_confirmed


def _was_promised_more(request: HttpRequest, days: int) -> bool:
    """Whether a rule has shortened the time in the bin since the question that is answered here was asked."""
    return (number(request.POST.get("days", "")) or 0) > days


def _archive(request: HttpRequest, ids: Collection[UUID], *, archived: bool) -> None:
    count = access.conversations_of(request.user).filter(pk__in=ids).update(archived=archived)
    where = "in the archive" if archived else "back in the list"
    messages.success(request, f"{_counted(count)} {pluralize(count, 'is,are')} {where} now.")


def _take_out(request: HttpRequest, ids: Collection[UUID]) -> None:
    if back := binning.take_all_out(ids):
        messages.success(request, f"{_counted(back)} restored.")
    else:
        messages.error(request, "There was nothing left to restore.")


def _delete(request: HttpRequest, ids: Collection[UUID], *, is_for_good: bool) -> None:
    by, now = _person(request), timezone.now()
    try:
        gone = delete_for_good(ids, by=by, now=now) if is_for_good else deleting.delete(ids, by=by, now=now)
    except Held as refusal:
        messages.error(request, str(refusal))
        return
    _tell(request, f"{_counted(len(gone.ids))} {pluralize(len(gone.ids), 'is,are')}", gone)
    if gone.held:
        kept = len(gone.held)
        messages.warning(request, f"{_counted(kept)} had to stay: an administrator holds {pluralize(kept, 'it,them')}.")


def _tell(request: HttpRequest, what: str, gone: Deleted) -> None:
    """What became of it, with Undo where that is possible."""
    if gone.is_for_good:
        messages.success(request, f"{what} gone for good.")
        return
    days = bin_days(_person(request))
    said = f"{what} in the bin, and can be restored for {days} day{pluralize(days)}."
    undoes = " ".join(map(str, gone.ids)) if len(gone.ids) <= MOST_UNDONE else ""
    messages.success(request, said, extra_tags=undoes)


def _asked(request: HttpRequest, chosen: Selection, ids: Collection[UUID]) -> HttpResponse:
    """A page that says how many will go, and waits for the answer."""
    days = bin_days(_person(request))
    context = {
        "shelf": chosen.shelf,
        "action": chosen.action,
        "ids": () if chosen.is_everything else ids,
        "count": len(ids),
        "is_for_good": chosen.action == "erase" or not days,
        "bin_days": days,
        "sidebar": sidebar_of(request.user),
    }
    return render(request, "conversations/sure.html", context)


def _ids(rows: ConversationQuerySet, ids: Collection[UUID]) -> list[UUID]:
    """Those of the ids that are among the rows."""
    return list(rows.filter(pk__in=ids).values_list("pk", flat=True))


def _person(request: HttpRequest) -> User:
    return cast("User", request.user)


def _counted(count: int) -> str:
    return f"{intcomma(count)} conversation{pluralize(count)}"
