"""Pictures of messages: each under an address of its owner's, so that a page needs none from elsewhere."""

from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.cache import patch_cache_control
from django.views.decorators.http import require_safe

from conversations import access
from conversations.blocks import images_in
from conversations.models import Message
from conversations.providers.pictures import readable
from conversations.views.requests import for_people_logged_in

NOT_THERE = "There is no such picture in this message, or it cannot be shown."


def addresses_of(message: Message) -> list[str]:
    """Of the pictures of a message, in their order; one that cannot be read is found out when it is asked for."""
    count = len(images_in(message.content))
    places = ([message.conversation_id, message.pk, number] for number in range(1, count + 1))
    return [reverse("conversations:picture", args=place) for place in places]


@require_safe
@for_people_logged_in
def picture(request: HttpRequest, conversation_id: UUID, message_id: int, number: int) -> HttpResponse:
    """What its bytes say it is, and nothing that a browser would run. Asked for anew each time: it may be erased."""
    images = images_in(access.message_of(request.user, conversation_id, message_id).content)
    found = readable(images[number - 1]) if 0 < number <= len(images) else None
    if found is None:
        raise Http404(NOT_THERE)
    name = f"picture-{message_id}-{number}.{found.media_type.partition('/')[2]}"
    response = HttpResponse(found.data, content_type=found.media_type)
    response["Content-Disposition"] = f'inline; filename="{name}"'
    patch_cache_control(response, private=True, no_store=True)
    return response
