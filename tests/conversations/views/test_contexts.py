"""What the pages say of the context: where the window begins, how full it is, what was sent, what was not and why."""

import json
import re
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries, Settings

from accounts.models import User
from conversations import branches
from conversations.context.record import LeftOut, Record, Section
from conversations.contexts import context_of, question_of, record_context
from conversations.models import Conversation, Message, Turn
from conversations.outlook import next_context
from conversations.providers.registry import BUNDLED
from conversations.tools.registry import OWN
from conversations.tools.toolbox import toolbox
from tests.factories import answer, ask, edit, exchange, make_conversation, regenerate, reply_of

pytestmark = pytest.mark.django_db

HX = {"HX-Request": "true"}
MODEL = "openai:scripted"
LONG = "word " * 80
"""80 tokens."""
CONVERSATION_PAGE_QUERIES = 11
"""Those of a page without a context, and three: what lies before the question, where the window began, the tools; and
where something is left out a fourth: what stands for it."""
PANEL_QUERIES = 11
"""Session, person, conversation, live turn, the three of a context, the newest summary (none), attempts at one,
what the record names, the list of conversations."""


@pytest.fixture(autouse=True)
def _small(settings: Settings) -> None:
    settings.POCKETCHAT_CHAT_MODEL = MODEL
    settings.POCKETCHAT_HISTORY_TOKENS = 400


@pytest.fixture
def long(conversation: Conversation) -> Conversation:
    """Six turns, of which the last three are sent."""
    for number in range(6):
        exchange(conversation, f"Question {number}?", LONG)
    conversation.refresh_from_db()
    return conversation


def address(conversation: Conversation, path: str = "") -> str:
    return f"/c/{conversation.pk}/{path}"


def shown(response: Any) -> str:
    """The words of a page, on one line."""
    assert response.status_code == 200
    return " ".join(re.sub(r"<[^>]*>", " ", response.content.decode()).split())


def divider(response: Any) -> tuple[int | None, bool]:
    """The question it stands before (None: behind all), and whether it is hidden."""
    html = response.content.decode()
    found = re.search(r'<div class="divider".*?>', html, re.DOTALL)
    assert found, html
    after = re.search(r'data-question="(\d+)"', html[found.end() :])
    return int(after[1]) if after else None, " hidden" in re.sub(r"\s+", " ", found[0])


def question(conversation: Conversation, text: str) -> int:
    pk: int = Message.objects.get(conversation=conversation, role="user", content__0__text=text).pk
    return pk


def recorded(turn: Turn, **facts: Any) -> Turn:
    """With the record a worker makes, changed."""
    tools = toolbox({tool.spec.name: tool for tool in OWN})
    record = context_of(question_of(turn), tools=tools).record.as_json() | facts
    record_context(turn, record)
    Turn.objects.filter(pk=turn.pk).update(context=record)
    turn.refresh_from_db()
    return turn


# The line in the thread


def test_with_everything_in_view_there_is_no_line(page: Client, conversation: Conversation) -> None:
    assert divider(page.get(address(conversation)))[1]
    ask(conversation)
    assert divider(page.get(address(conversation)))[1]
    Turn.objects.update(status="complete", finished_at=timezone.now())
    assert divider(page.get(address(conversation)))[1]


def test_the_line_stands_where_the_next_request_begins(page: Client, long: Conversation) -> None:
    assert divider(page.get(address(long))) == (next_context(long).record.start, False)
    assert divider(page.get(address(long)))[0] == question(long, "Question 3?")


def test_each_branch_has_its_own_line(page: Client, long: Conversation) -> None:
    second = Message.objects.get(pk=question(long, "Question 1?"))
    other = edit(second, "Question 1, else?", "Short.")
    assert divider(page.get(address(long)))[1]
    page.post(address(long, "branch/"), {"message": second.pk})
    assert divider(page.get(address(long))) == (question(long, "Question 3?"), False)
    part = page.post(address(long, "branch/"), {"message": other.prompt_id}, headers=HX)
    assert divider(part)[1]


def test_another_model_has_its_own_line(page: Client, long: Conversation, settings: Settings) -> None:
    settings.POCKETCHAT_BUNDLED_URL = "http://localhost:1/v1"
    turn = recorded(ask(long, "Question 6?"))
    answer(turn, LONG)
    before = divider(page.get(address(long)))
    assert before == (question(long, "Question 3?"), False)  # It stays where the request before began.
    page.post(address(long, "model/"), {"model": BUNDLED})
    long.refresh_from_db()
    assert divider(page.get(address(long))) == (next_context(long).record.start, False)
    assert divider(page.get(address(long)))[0] == question(long, "Question 4?")


def test_when_nothing_earlier_is_sent_the_line_is_behind_all(page: Client, conversation: Conversation) -> None:
    exchange(conversation, "Question?", LONG * 5)
    assert divider(page.get(address(conversation))) == (None, False)


def test_on_older_pages_the_line_stands_where_it_belongs(
    page: Client, conversation: Conversation, settings: Settings
) -> None:
    settings.POCKETCHAT_HISTORY_TOKENS = 800
    for number in range(100):
        exchange(conversation, f"Question {number}?", "word " * 4)
    conversation.refresh_from_db()
    start = next_context(conversation).record.start
    newest = page.get(address(conversation))
    assert divider(newest)[1]
    assert f'data-start="{start}"' in newest.content.decode()
    before = newest.context["older_before"]
    older = page.get(address(conversation), {"before": before})
    assert divider(older) == (start, False)
    oldest = page.get(address(conversation), {"before": older.context["older_before"]})
    assert divider(oldest) == (None, False)
    # The script moves the one that is there.
    part = page.get(address(conversation), {"before": before}, headers=HX).content.decode()
    assert 'id="divider"' not in part
    assert f'data-question="{start}"' in part


def test_a_live_reply_has_the_line_of_its_own_request(page: Client, long: Conversation) -> None:
    turn = ask(long, "And?")
    queued = divider(page.get(address(long)))
    recorded(turn)
    assert turn.context is not None
    assert divider(page.get(address(long))) == queued == (turn.context["start"], False)
    answer(turn, LONG)
    long.refresh_from_db()
    assert divider(page.get(address(long)))[0] == next_context(long).record.start


def test_the_line_says_what_stands_for_what_is_before_it(page: Client, long: Conversation) -> None:
    turn = ask(long, "And?")
    ids = [question(long, "Question 0?"), question(long, "Question 0?") + 1]
    recorded(turn, summary=7, summarised_through=ids[1], recalled=[{"ids": ids, "score": 0.5}])
    words = shown(page.get(address(long)))
    assert "A summary stands for them." in words
    assert "1 earlier turn brought back." in words


# The meter


def test_the_meter_counts_in_words_and_leads_to_the_panel(page: Client, long: Conversation) -> None:
    record = next_context(long).record
    room = record.tokens - record.tokens_of("window") + 400
    response = page.get(address(long))
    assert f"{record.tokens} of {room} tokens" in shown(response)
    assert f"Recent turns: {record.tokens_of('window')}." in shown(response)
    assert f'href="{address(long, "context/")}"' in response.content.decode()


def test_the_meter_follows_what_is_typed_and_takes_line_and_panel_along(page: Client, long: Conversation) -> None:
    typed = {"text": "word " * 160}
    record = next_context(long, typed["text"]).record
    part = page.post(address(long, "context/meter/"), typed, headers=HX)
    assert f"{record.tokens} of" in shown(part)
    html = part.content.decode()
    assert re.search(rf'id="divider"\s+data-start="{record.start}"', html)
    assert 'id="panel"' not in html
    assert (
        'id="panel"'
        in page.post(address(long, "context/meter/"), typed | {"panel": "open"}, headers=HX).content.decode()
    )
    assert not Turn.objects.filter(prompt__content__0__text__startswith="word word").exists()


def test_a_question_too_long_says_so_with_size_and_limit(page: Client, long: Conversation) -> None:
    typed = {"text": "word " * 8000}
    for path in ("context/meter/", "context/"):
        words = shown(page.post(address(long, path), typed, headers=HX))
        assert "8,160" in words
        assert "6,179" in words
    assert "too long" in shown(page.post(address(long, "context/"), typed))


def test_a_new_conversation_has_a_meter_too(page: Client) -> None:
    assert "179 of 579 tokens" in shown(page.get("/"))
    assert "181 of 581 tokens" in shown(page.post("/context/meter/", {"text": "Why?"}, headers=HX))
    assert "nothing was said before" in shown(page.get("/context/"))


# The panel


def test_the_panel_lists_the_parts_in_their_order(page: Client, long: Conversation) -> None:
    record = next_context(long, "What now?").record
    words = shown(page.post(address(long, "context/"), {"text": "What now?"}, headers=HX))
    order = ["What the model will see", "Instructions", "You are a helpful", "Tools", "search_conversation"]
    order += ["Recent turns", "Question 3?", "Question 5?", "Your question", "What now?", "does not see"]
    places = [words.index(word) for word in order]
    assert places == sorted(places)
    assert "The room for recent turns was full" in words
    assert "everything before" in words
    assert "you can read it, the model can only search it." in words
    assert f"Room for recent turns {record.tokens_of('window')} of 400 tokens taken" in words
    assert f"once that is full {record.tokens - record.tokens_of('window') + 400} tokens" in words
    assert "<html" not in page.post(address(long, "context/"), headers=HX).content.decode()


def test_a_model_without_tools_is_not_said_to_search(page: Client, long: Conversation, settings: Settings) -> None:
    settings.POCKETCHAT_TOOLS = False
    words = shown(page.post(address(long, "context/"), headers=HX))
    assert "you can read it, the model cannot." in words


def test_without_a_script_the_panel_is_a_page(page: Client, long: Conversation) -> None:
    response = page.get(address(long, "context/"))
    assert "What the model will see" in shown(response)
    assert "<html" in response.content.decode()
    assert "What you type comes here" in shown(response)
    assert "What now?" in shown(page.post(address(long, "context/"), {"text": "What now?"}))
    assert Turn.objects.count() == 6


def test_a_reply_tells_what_its_model_saw(page: Client, long: Conversation) -> None:
    turn = recorded(ask(long, "And?"))
    assert "What the model sees" in shown(page.get(f"/turns/{turn.pk}/context/"))
    answer(turn, "So.", input_tokens=345)
    assert f'href="/turns/{turn.pk}/context/"' in page.get(address(long)).content.decode()
    words = shown(page.get(f"/turns/{turn.pk}/context/", headers=HX))
    assert "What the model saw" in words
    assert "were sent to scripted" in words
    assert "Counted by the provider 345 tokens" in words
    assert "Kept free for the reply 2,000 tokens" in words


def test_a_reply_of_which_nothing_is_recorded_says_so(page: Client, conversation: Conversation) -> None:
    turn = exchange(conversation)
    assert "Nothing was sent" in shown(page.get(f"/turns/{turn.pk}/context/"))
    assert f"/turns/{turn.pk}/context/" not in page.get(address(conversation)).content.decode()


def test_everything_a_record_knows_is_told(page: Client, long: Conversation) -> None:
    ids = [question(long, "Question 1?"), question(long, "Question 1?") + 1]
    turn = recorded(
        ask(long, "And?"),
        sections={"system": 13, "summary": 90, "window": 200, "recalled": 110, "prompt": 1, "rounds": 44},
        summary=3,
        summarised_through=question(long, "Question 2?"),
        recalled=[{"ids": ids, "score": 0.8217}],
        was_tightened=True,
        was_cut=True,
        shortened=2,
        images_left_out=3,
    )
    words = shown(page.get(f"/turns/{turn.pk}/context/"))
    for said in (
        *("Summary 90", "up to this turn", "Question 2?"),
        *("1 earlier turn, brought back because it matches your question.", "Question 1?", "best match"),
        *("The provider found the first request too long", "2 results were shortened", "3 images left out"),
        *("they begin later than with the question before", "Tool calls and results 44"),
    ):
        assert said in words, said


def test_what_was_brought_back_is_not_called_unseen(page: Client, long: Conversation) -> None:
    turn = recorded(ask(long, "And?"))
    record = Record.from_json(turn.context)
    assert record is not None
    ids = list(record.left_out[0].ids)
    changed = record.as_json() | {"recalled": [{"ids": ids[-2:], "score": 0.9}]}
    Turn.objects.filter(pk=turn.pk).update(context=changed)
    words = shown(page.get(f"/turns/{turn.pk}/context/"))
    assert words.index("Brought back") < words.index("Question 2?") < words.index("did not see")
    assert words.count("Question 2?") == 1
    assert "except what is summarised or brought back above" in words


def test_what_was_deleted_since_is_said_to_be(page: Client, long: Conversation) -> None:
    turn = recorded(ask(long, "And?"))
    answer(turn, "So.")
    record = Record.from_json(turn.context)
    assert record is not None
    Turn.objects.filter(pk=turn.pk).update(context=record.as_json() | {"sent": [10**9, *record.sent]})
    assert "1 of these messages was deleted since." in shown(page.get(f"/turns/{turn.pk}/context/"))


def test_instructions_that_were_changed_since_are_said_to_be(page: Client, long: Conversation) -> None:
    turn = recorded(ask(long, "And?"))
    assert "changed since" not in shown(page.get(f"/turns/{turn.pk}/context/"))
    Conversation.objects.update(system_prompt="Answer in verse, with rhymes, and never use the letter e. " * 3)
    assert "changed since" in shown(page.get(f"/turns/{turn.pk}/context/"))


def test_a_record_names_no_message_of_another_conversation(
    page: Client, stranger: User, conversation: Conversation
) -> None:
    secret = exchange(make_conversation(stranger), "A secret question?", "A secret.")
    turn = exchange(conversation)
    ids = [secret.prompt_id, reply_of(secret).pk]
    record = Record((Section("prompt", 1),), (*ids, turn.prompt_id), (LeftOut((ids[0],), "history_budget", True),))
    forged = record.as_json() | {"recalled": [{"ids": ids, "score": 1.0}], "summarised_through": ids[1]}
    Turn.objects.filter(pk=turn.pk).update(context=forged)
    assert "secret" not in page.get(f"/turns/{turn.pk}/context/").content.decode()


def test_a_row_leads_to_its_turn_wherever_that_is(page: Client, conversation: Conversation) -> None:
    for number in range(40):
        exchange(conversation, f"Question {number}?", "word " * 4)
    html = page.get(address(conversation, "context/")).content.decode()
    first = next_context(Conversation.objects.get(pk=conversation.pk)).record.start
    link = re.search(rf'href="([^"]*#message-{first})"', html)
    assert link
    target = page.get(link[1].partition("#")[0].replace("&amp;", "&"))
    assert f'id="message-{first}"' in target.content.decode()
    assert "Back to the newest messages" in target.content.decode()


def test_a_reply_with_recalled_turns_says_so_in_the_thread(page: Client, conversation: Conversation) -> None:
    turn = recorded(ask(conversation), recalled=[{"ids": [1], "score": 1}, {"ids": [2], "score": 1}])
    answer(turn)
    for response in (page.get(address(conversation)), page.get(f"/turns/{turn.pk}/", headers=HX)):
        assert "Recalled 2 earlier turns" in shown(response)


# The menu of models


def test_one_model_is_no_choice(page: Client, conversation: Conversation) -> None:
    assert "model-summary" not in page.get(address(conversation)).content.decode()


def test_a_model_is_chosen_and_given_back(page: Client, long: Conversation, settings: Settings) -> None:
    settings.POCKETCHAT_BUNDLED_URL = "http://localhost:1/v1"
    assert "default" in shown(page.get(address(long)))
    assert page.post(address(long, "model/"), {"model": BUNDLED})["Location"] == address(long)
    long.refresh_from_db()
    assert long.model == BUNDLED
    part = page.post(address(long, "model/"), {"model": "", "text": "Half a thought"}, headers=HX)
    assert 'id="meter"' in part.content.decode()
    assert 'id="divider"' in part.content.decode()
    long.refresh_from_db()
    assert long.model == ""
    kept = page.post(address(long, "model/"), {"model": BUNDLED, "text": "Half a thought"})
    assert "Half a thought" in shown(kept)


def test_a_model_that_is_not_offered_is_not_taken(page: Client, conversation: Conversation) -> None:
    page.post(address(conversation, "model/"), {"model": "openai:the-most-expensive"})
    conversation.refresh_from_db()
    assert conversation.model == ""


@pytest.mark.parametrize("headers", [{}, HX])
def test_a_model_without_room_for_the_instructions_is_refused_as_by_the_api(
    page: Client, conversation: Conversation, settings: Settings, headers: dict[str, str]
) -> None:
    settings.POCKETCHAT_BUNDLED_URL = "http://localhost:1/v1"
    settings.POCKETCHAT_MODELS = json.dumps({BUNDLED: {"window": 300}})
    Conversation.objects.filter(pk=conversation.pk).update(system_prompt=LONG)
    told = page.post(address(conversation, "model/"), {"model": BUNDLED, "text": "Half a thought"}, headers=headers)
    assert told.status_code == 422
    assert "This system prompt takes about" in told.content.decode()
    assert ("Half a thought" in told.content.decode()) is not bool(headers)
    conversation.refresh_from_db()
    assert conversation.model == ""


# Who may look, and what it costs


def test_only_the_owner_sees_a_context(page: Client, stranger: User) -> None:
    theirs = make_conversation(stranger)
    turn = exchange(theirs)
    for path in ("context/", "context/meter/", "model/"):
        assert page.post(address(theirs, path), {"text": "Why?", "model": BUNDLED}, headers=HX).status_code == 404
    assert page.get(address(theirs, "context/")).status_code == 404
    assert page.get(f"/turns/{turn.pk}/context/").status_code == 404
    theirs.refresh_from_db()
    assert theirs.model == ""


def test_a_conversation_in_the_bin_has_no_context(page: Client, conversation: Conversation) -> None:
    turn = exchange(conversation)
    Conversation.objects.update(trashed_at=timezone.now())
    for path in (address(conversation, "context/"), f"/turns/{turn.pk}/context/"):
        assert page.get(path).status_code == 404
    assert page.post(address(conversation, "context/meter/"), headers=HX).status_code == 404
    assert page.post(address(conversation, "model/"), {"model": ""}).status_code == 404


def test_a_visitor_logs_in_first(client: Client, conversation: Conversation) -> None:
    assert client.get(address(conversation, "context/")).status_code == 302
    assert client.post(address(conversation, "context/meter/"), headers=HX).status_code == 401


@pytest.mark.parametrize(
    ("path", "queries"),
    [("", CONVERSATION_PAGE_QUERIES), ("context/", PANEL_QUERIES)],
)
def test_it_costs_the_same_whatever_there_is(
    page: Client, conversation: Conversation, django_assert_num_queries: DjangoAssertNumQueries, path: str, queries: int
) -> None:
    for is_left_out in (False, True, True):
        for _ in range(3):
            answer(recorded(ask(conversation)), LONG)
        with django_assert_num_queries(queries + is_left_out):
            page.get(address(conversation, path))
        for _ in range(30):
            exchange(conversation)


def test_a_branch_of_a_regenerated_reply_is_what_lies_ahead(page: Client, long: Conversation) -> None:
    last = Turn.objects.order_by("-created_at")[0]
    regenerate(last, "Short.")
    assert divider(page.get(address(long)))[0] == question(long, "Question 2?")
    branches.switch(long.pk, reply_of(last).pk)
    assert divider(page.get(address(long)))[0] == question(long, "Question 3?")
