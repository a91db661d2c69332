"""The page of results: conversations that are called so, and messages that say so."""

from typing import cast

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_safe

from accounts.models import User
from conversations import access, searching
from conversations.listing import BadCursor
from conversations.recall.lexemes import sought
from conversations.refusals import NothingToLookFor
from conversations.text import clean
from conversations.views.requests import for_people_logged_in, is_partial
from conversations.views.sidebar import sidebar_of

QUERY_CHARACTERS = 500
HITS_A_PAGE = 20


@require_safe
@for_people_logged_in
def search(request: HttpRequest) -> HttpResponse:
    """What `q` finds. A page of results is a page like any other: it can be kept, and come back to."""
    query = clean(request.GET.get("q", ""))[:QUERY_CHARACTERS].strip()
    page = reverse("conversations:search")
    try:
        after = searching.Place.of(cursor) if (cursor := request.GET.get("after", "")) else None
    except BadCursor:  # Made under another key: the results begin anew.
        return redirect(f"{page}?{urlencode({'q': query})}")
    looked_for = sought(query)
    with access.as_of_one_moment():
        found = searching.search(
            access.conversations_of(request.user),
            looked_for,
            owner_id=cast("User", request.user).pk,
            limit=HITS_A_PAGE,
            after=after,
        )
        context = {"query": query, "found": found, "is_first": after is None}
        if query and looked_for.is_empty:
            context["problem"] = str(NothingToLookFor())
        if found.next_place:
            context["more"] = f"{page}?{urlencode({'q': query, 'after': found.next_place.cursor()})}"
        if is_partial(request):
            return render(request, "conversations/_hits.html", context)
        return render(request, "conversations/search.html", context | {"sidebar": sidebar_of(request.user)})
