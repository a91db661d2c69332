"""In which languages a conversation is held: its messages are stemmed in them, and so are the questions about it."""

from collections import Counter
from collections.abc import Sequence
from uuid import UUID

from django.db import connection

from conversations.models import Message
from conversations.recall.languages import UNSTEMMED, stemmer_of
from conversations.recall.words import asked

RECENT = 50
"""Messages that say in which language a conversation is held by now."""

HELD_IN = 1000
"""Messages, the newest, that say in which languages a question is looked for: those it may be about."""

MOST_LANGUAGES = 3
"""Of a conversation, the most frequent."""

LEAST_SHARE = 0.02
"""Of these messages in a language, for that to be one of the conversation's own: a few are always taken for another."""

USUAL_SQL = """
    SELECT mode() WITHIN GROUP (ORDER BY language) FROM (
        SELECT language FROM conversations_embedding WHERE conversation_id = %s ORDER BY message_id DESC LIMIT %s
    ) AS recent WHERE language <> 'simple'
"""

LEXEMES_SQL = """
    WITH newest AS (
        SELECT language FROM conversations_embedding WHERE conversation_id = %s ORDER BY message_id DESC LIMIT %s
    ), held_in AS (
        SELECT language FROM newest GROUP BY language
        HAVING count(*) >= %s * (SELECT count(*) FROM newest) ORDER BY count(*) DESC LIMIT %s
    )
    SELECT array(SELECT DISTINCT lexeme FROM held_in, unnest(to_tsvector(language::regconfig, %s)))
"""
"""The words as they are stemmed in the languages a conversation is held in: so they stand in the index."""


def usual_language(messages: Sequence[Message]) -> str:
    """The stemmer for messages too short to tell: that of most of the newest in the index, else of most of these."""
    if not messages:
        return UNSTEMMED
    with connection.cursor() as cursor:
        cursor.execute(USUAL_SQL, [messages[0].conversation_id, RECENT])
        most: str | None = cursor.fetchone()[0]
    told = Counter(stemmer_of(message.text, otherwise=UNSTEMMED) for message in ([] if most else messages))
    del told[UNSTEMMED]
    return most or next((language for language, _ in told.most_common(1)), UNSTEMMED)


def lexemes_of(conversation_id: UUID, question: str, *, most: int) -> list[str]:
    """The words of a question as they stand in the index of the conversation; the longest, which are the rarest."""
    with connection.cursor() as cursor:
        held_in = (conversation_id, HELD_IN, LEAST_SHARE, MOST_LANGUAGES)
        cursor.execute(LEXEMES_SQL, [*held_in, asked(question)])
        return sorted(cursor.fetchone()[0], key=len, reverse=True)[:most]
