"""Where a message stands: the address that a search, or whoever kept a message's number, is led by."""

from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_safe

from conversations import access
from conversations.models import Message
from conversations.views.requests import for_people_logged_in
from conversations.views.thread import MESSAGES_A_PAGE


@require_safe
@for_people_logged_in
def message(request: HttpRequest, conversation_id: UUID, message_id: int) -> HttpResponse:
    """To the message in its place: on the newest page, on an older one, or on a branch that its owner is not on.

    It is only looked at: no branch is switched, the page offers that as a button.
    """
    with access.as_of_one_moment():
        found = access.message_of(request.user, conversation_id, message_id)
        question = found.pk if found.role == Message.Role.USER else found.turn.prompt_id
        page = reverse("conversations:conversation", args=[conversation_id])
        newest = access.branch_page(found.conversation, before=None, limit=MESSAGES_A_PAGE)
        if {question, found.pk} <= set(newest.values_list("pk", flat=True)):
            return redirect(f"{page}#message-{question}")
        end = Message.objects.filter(turn=found.turn_id).order_by("-pk").values_list("pk", flat=True)[0]
    return redirect(f"{page}?through={end}#message-{question}")
