"""What is refused of a question, or of what is done with a reply."""

from uuid import UUID

from conversations.refusals.refusal import Refusal


class ConversationBusy(Refusal):
    """The conversation has a live turn; one at a time."""

    code = "conversation_busy"

    def __init__(self, turn_id: UUID) -> None:
        super().__init__(
            "A reply is still being written in this conversation. Wait for it, or stop it.", turn=str(turn_id)
        )
        self.turn_id = turn_id


class KeyReused(Refusal):
    """A request key names one request; it came again with another one."""

    code = "key_reused"
    status = 422

    def __init__(self, **made: str) -> None:
        """`made`: what the key made when it was used first."""
        super().__init__("Something else was sent under this key before. Send again, with a new one.", **made)


class TooManyReplies(Refusal):
    """One person has as many replies under way as one person may have."""

    code = "too_many_replies"
    status = 429

    def __init__(self, limit: int) -> None:
        super().__init__(
            f"{limit} of your questions are being answered at this moment, which is the most. "
            "Wait until one is, or stop one.",
            limit=limit,
        )


class NewerMessages(Refusal):
    """The conversation went on since the sender looked at it."""

    code = "newer_messages"

    def __init__(self, head_id: int | None) -> None:
        super().__init__(
            "This conversation has newer messages than the ones you see. Load them, or send yours as another version.",
            head=head_id,
        )


class NotEditable(Refusal):
    """Only what a person asked can be asked in other words."""

    code = "not_editable"

    def __init__(self) -> None:
        super().__init__("Only a question can be edited.")


class NoOtherVersion(Refusal):
    """Without this message its branch would end in nothing that its owner could go on from."""

    code = "no_other_version"

    def __init__(self) -> None:
        super().__init__("This is the only version. One has to stay.")


class QueueUnreachable(Refusal):
    """What was asked for is done by a worker, and no worker can be told."""

    code = "queue_unreachable"
    status = 503

    def __init__(self) -> None:
        super().__init__("The workers cannot be reached right now. Try again in a moment.")


class EmptyPrompt(Refusal):
    """There is nothing to answer."""

    code = "prompt_empty"
    status = 422

    def __init__(self) -> None:
        super().__init__("Write something first.")


class SystemPromptTooLong(Refusal):
    """A conversation's own system prompt takes more tokens than its model has for one."""

    code = "system_prompt_too_long"
    status = 422

    def __init__(self, *, size: int, limit: int) -> None:
        super().__init__(
            f"This system prompt takes about {size:,} tokens; at most {limit:,} are possible with this model. "
            "Nothing was changed.",
            size=size,
            limit=limit,
            unit="tokens",
        )


class PromptTooLong(Refusal):
    """The question is larger than allowed (in characters), or than the model can take (in tokens)."""

    code = "prompt_too_long"

    def __init__(self, *, size: int, limit: int, unit: str, sentence: str = "") -> None:
        sentence = sentence or (
            f"Your message is {size:,} {unit} long; at most {limit:,} are possible. Nothing was sent."
            if limit
            else "The instructions of this conversation take all the room that its model has. Shorten them, or choose "
            "another model. Nothing was sent."
        )
        super().__init__(sentence, size=size, limit=limit, unit=unit)
        self.status = 413 if unit == "characters" else 422
        self.size, self.limit, self.unit = size, limit, unit
