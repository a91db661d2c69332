"""How a model continues a summary: it keeps notes or, where it is too small for that, writes a line for each turn.

Notes are asked for in one piece, from those before and what was said since; an answer that is not good is thrown away.
The bundled model loses itself in that. It is asked to shorten one answer at a time, and what it gets wrong twice is
left out: the line then says what was asked, as it does of an answer that says nothing. Only when nothing the model
says is good, nothing comes of it.
"""

from collections.abc import Callable

from conversations import background
from conversations.budgets import most_of_summary
from conversations.models import Conversation, ModelCall
from conversations.prompts import model_for
from conversations.providers.errors import ProviderError
from conversations.providers.registry import BUNDLED, chat_model_info, small_model_name
from conversations.providers.values import ChatMessage, ChatRequest
from conversations.providers.whole import WholeAnswer
from conversations.summaries import lines, wording
from conversations.summaries.spans import Span
from conversations.text import estimate_tokens

SECONDS = 90.0
"""For one question to the model."""
MOST_OF_A_PIECE = 6_000
"""Tokens; of more a small model drops too much."""
PIECE_OF_LINES = 800
"""The same where each turn is asked about: after so many a version is stored, since the model has to give way often."""
ROOM_TO_THINK = 1_000
"""Tokens that a model may think before it writes. They count as written, and what is cut off is thrown away."""

LINE_FAULT = "line_"
"""Before the outcome of a sentence that is no use, where the summary goes on without it."""


def writes_lines() -> bool:
    return small_model_name() == BUNDLED


def most_of(conversation: Conversation) -> int:
    """Tokens that its summary may have."""
    return most_of_summary(model_for(conversation), writer=small_model_name())


def tokens_of_a_piece(conversation: Conversation) -> int:
    """Half of what the small model has beside instructions, notes and answer: of some languages it makes twice the
    tokens that we count."""
    if writes_lines():
        return PIECE_OF_LINES
    most = most_of(conversation)
    window = chat_model_info(small_model_name()).window
    taken = estimate_tokens(wording.instructions(most)) + 2 * most + ROOM_TO_THINK
    return max(min((window - taken) // 2, MOST_OF_A_PIECE), most)


def continued(conversation: Conversation, span: Span, *, alive: Callable[[], object]) -> str:
    """The summary with what the span says; empty when the model failed. `alive` is called before each question to it.

    Not in a transaction.
    """
    before = span.before.text if span.before else ""
    write = _with_lines if writes_lines() else _as_notes
    try:
        return write(conversation, before, span, alive)
    except ProviderError:
        return ""


def _as_notes(conversation: Conversation, notes: str, span: Span, alive: Callable[[], object]) -> str:
    """Only a turn that is larger than a piece is read in several: notes of half a turn stand for nothing, so they are
    lost when a later one fails."""
    most = most_of(conversation)
    for piece in wording.pieces(span.said, tokens_of_a_piece(conversation)):
        alive()
        answer = _asked(conversation, _notes_wanted(notes, piece, most))
        stands_for = estimate_tokens(notes) + estimate_tokens(piece)
        found = wording.judged(answer.text, was_cut_off=answer.end.was_cut_off, most=most, stands_for=stands_for)
        background.traced(conversation.pk, ModelCall.Purpose.SUMMARY, answer, found.outcome)
        if not found.is_good:
            return ""
        notes = found.notes
    return notes


def _with_lines(conversation: Conversation, notes: str, span: Span, alive: Callable[[], object]) -> str:
    rows, sentences = [notes], list[str]()
    turns = lines.exchanges(span.said)
    hopes = [turn for turn in turns if not lines.says_nothing(turn.answer)]
    for turn in turns:
        alive()
        is_last_hope = turn in hopes[-1:] and not any(sentences)
        sentences.append(_sentence(conversation, turn, is_last_hope=is_last_hope))
        rows.append(lines.line_of(turn, sentences[-1]))
    is_told = any(sentences) or not hopes
    return lines.fitted("\n".join(rows), most=most_of(conversation)) if is_told else ""


def _sentence(conversation: Conversation, turn: lines.Exchange, *, is_last_hope: bool) -> str:
    """What the answer comes to; empty when the model found no words for it."""
    if lines.says_nothing(turn.answer):
        return ""
    if lines.is_short(turn.answer):
        return " ".join(wording.defused(turn.answer).split())
    for temperature in lines.TEMPERATURES:
        answer = _asked(conversation, _sentence_wanted(turn, temperature))
        found = lines.sentence_in(answer.text, was_cut_off=answer.end.was_cut_off, turn=turn)
        is_borne = not found.text and not (is_last_hope and temperature == lines.TEMPERATURES[-1])
        outcome = f"{LINE_FAULT}{found.outcome}" if is_borne else found.outcome
        background.traced(conversation.pk, ModelCall.Purpose.SUMMARY, answer, outcome)
        if found.text:
            return found.text
    return ""


def _asked(conversation: Conversation, request: ChatRequest) -> WholeAnswer:
    return background.ask(conversation.pk, ModelCall.Purpose.SUMMARY, request, seconds=SECONDS)


def _notes_wanted(notes: str, piece: str, most: int) -> ChatRequest:
    told = (ChatMessage("system", wording.instructions(most)), ChatMessage("user", wording.question(notes, piece)))
    return ChatRequest(told, max_tokens=most + ROOM_TO_THINK)


def _sentence_wanted(turn: lines.Exchange, temperature: float) -> ChatRequest:
    examples = [
        message
        for answer, sentence in lines.EXAMPLES
        for message in (ChatMessage("user", lines.shown(answer)), ChatMessage("assistant", sentence))
    ]
    told = (ChatMessage("system", lines.INSTRUCTIONS), *examples, ChatMessage("user", lines.shown(turn.answer)))
    return ChatRequest(told, max_tokens=lines.MOST_TOKENS, temperature=temperature, may_repeat=True)
