"""What is refused, and why: a sentence for the person, a code and facts for the program, a status for HTTP."""

from collections.abc import Collection
from typing import ClassVar
from uuid import UUID

GONE = "This {} does not exist, or no longer."
"""The sentence of what is not found, or is not one's own."""


class Refusal(Exception):
    """Nothing was changed. `code` never changes its meaning; `facts` go with it into the API's answer."""

    code: ClassVar[str]
    status: int = 409

    def __init__(self, sentence: str, /, **facts: object) -> None:
        super().__init__(sentence)
        self.facts = facts


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


class TooManySuggestions(Refusal):
    """Somebody asks for titles faster than they could read them."""

    code = "too_many_suggestions"
    status = 429

    def __init__(self, limit: int) -> None:
        super().__init__(f"A title can be asked for {limit} times a minute. Wait a moment.", limit=limit)


class TooManyRecalls(Refusal):
    """Somebody has older turns looked for faster than is good for the others, and for the embedder's bill."""

    code = "too_many_recalls"
    status = 429

    def __init__(self, limit: int) -> None:
        super().__init__(f"Older turns can be looked for {limit} times a minute. Wait a moment.", limit=limit)


class NewerMessages(Refusal):
    """The conversation went on since the sender looked at it."""

    code = "newer_messages"

    def __init__(self, head_id: int | None) -> None:
        super().__init__(
            "This conversation has newer messages than the ones you see. Load them, or send yours as another version.",
            head=head_id,
        )


class LastAdministrator(Refusal):
    """Nobody could open the admin any more; whoever wants that says so."""

    code = "last_administrator"

    def __init__(self) -> None:
        super().__init__(
            "This is the last account that may open the admin: nobody could change anything there any more. "
            "Nothing was deleted. Confirm that you know it, or make somebody else an administrator first."
        )


class WrongPassword(Refusal):
    """Closing an account wants its password, whoever is logged in."""

    code = "wrong_password"
    status = 403

    def __init__(self) -> None:
        super().__init__("This is not your password. Nothing was deleted.")


class NoPassword(Refusal):
    """Who logs in elsewhere can only prove in the browser who they are."""

    code = "no_password"

    def __init__(self) -> None:
        super().__init__("Your account has no password. Close it in the browser, at Your data. Nothing was deleted.")


class TooManyPasswords(Refusal):
    """Somebody guesses."""

    code = "too_many_passwords"
    status = 429

    def __init__(self, limit: int) -> None:
        super().__init__(f"A password can be tried {limit} times a minute. Wait a moment.", limit=limit)


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


class Held(Refusal):
    """Somebody has to keep it: a hold of the administrator goes before every deletion."""

    code = "held"

    def __init__(self, conversations: Collection[UUID] = ()) -> None:
        super().__init__(
            "An administrator holds this, so it must be kept for now. Nothing was deleted. Ask them, if you want it "
            "gone.",
            conversations=sorted(map(str, conversations)),
        )


class ChangeNotConfirmed(Refusal):
    """A rule of retention is changed by whoever has just seen what that deletes."""

    code = "change_not_confirmed"

    def __init__(self) -> None:
        super().__init__(
            "What was confirmed is not what would happen now: somebody changed a rule, or it took too long. Nothing "
            "was changed. Look at the change again, then confirm it."
        )


class NoTemporaryOnes(Refusal):
    """Nobody has said how long a temporary conversation lives, so none can be begun."""

    code = "no_temporary_ones"
    status = 422

    def __init__(self) -> None:
        super().__init__(
            "Temporary conversations have no life here: an administrator, or you under “Your data”, has to say how "
            "long they last."
        )


class KeepingNotAllowed(Refusal):
    """The administrator's rules hold for every conversation."""

    code = "keeping_not_allowed"
    status = 422

    def __init__(self) -> None:
        super().__init__("The rules of this installation leave you no conversation to keep from them.")


class ConfirmationNeeded(Refusal):
    """A choice that deletes is made by whoever has seen what it deletes."""

    code = "confirmation_needed"

    def __init__(self, **shown: object) -> None:
        super().__init__(
            "Nothing was changed yet. Look at what this deletes, and send it again with `confirm`.", **shown
        )


class BeyondLimits(Refusal):
    """One's own choice may make lives shorter, not longer, and not shorter than the minimum."""

    code = "beyond_limits"
    status = 422

    def __init__(self, field: str, *, least: int, most: int | None, shown: str) -> None:
        super().__init__(
            f"The administrator’s rules leave you {shown} to choose from.", field=field, least=least, most=most
        )
        self.field = field


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


class NothingToLookFor(Refusal):
    """A search without a word."""

    code = "query_empty"
    status = 422

    def __init__(self) -> None:
        super().__init__("Write a word to look for: letters or digits.")


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


class SummaryEmpty(Refusal):
    """A correction without words would be a removal, which is asked for by its name."""

    code = "summary_empty"
    status = 422

    def __init__(self) -> None:
        super().__init__("Write something, or remove the summary.")


class SummaryTooLong(Refusal):
    """A summary takes more tokens than its model has for one."""

    code = "summary_too_long"
    status = 422

    def __init__(self, *, size: int, limit: int) -> None:
        super().__init__(
            f"This summary takes about {size:,} tokens; at most {limit:,} are possible with this model. "
            "Nothing was changed.",
            size=size,
            limit=limit,
            unit="tokens",
        )


class SummaryChanged(Refusal):
    """The summary went on since it was read: it stands for more messages now, or was removed."""

    code = "summary_changed"

    def __init__(self, through: int) -> None:
        super().__init__(
            "The summary was written anew since you looked at it. Load it, then correct that one.", through=through
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


class TooManyFiles(Refusal):
    """Somebody takes conversations away faster than they could look at them."""

    code = "too_many_files"
    status = 429

    def __init__(self, limit: int) -> None:
        super().__init__(
            f"{limit} conversations can be exported a minute. Wait a moment, or export everything at once.", limit=limit
        )


class ExportUnderWay(Refusal):
    """A person has one export made at a time."""

    code = "export_under_way"

    def __init__(self, export_id: UUID) -> None:
        super().__init__("An export is being made. Wait for it, or delete it.", export=str(export_id))


class TooManyExports(Refusal):
    """Each reads everything a person has."""

    code = "too_many_exports"
    status = 429

    def __init__(self, limit: int) -> None:
        super().__init__(f"Everything can be exported {limit} times a day. Try again tomorrow.", limit=limit)


class ExportNotReady(Refusal):
    """There is nothing to download: not yet, or not any more because it failed."""

    code = "export_not_ready"

    def __init__(self, status: str) -> None:
        super().__init__("This export is not ready.", status=status)


class ExportGone(Refusal):
    """The row says that there is a file, the disk says that there is none."""

    code = "export_gone"
    status = 410

    def __init__(self) -> None:
        super().__init__("The file of this export is no longer there. Have another one made.")


class ImportUnderWay(Refusal):
    """A person has one file brought in at a time."""

    code = "import_under_way"

    def __init__(self, import_id: UUID) -> None:
        super().__init__(
            "A file of yours is being brought in. Wait for it, or give it up.", **{"import": str(import_id)}
        )


class TooManyImports(Refusal):
    """Each may take a worker for minutes."""

    code = "too_many_imports"
    status = 429

    def __init__(self, limit: int) -> None:
        super().__init__(f"{limit} files can be brought in a day. Try again tomorrow.", limit=limit)


class FileMissing(Refusal):
    """Nothing was sent, or nothing with anything in it."""

    code = "file_missing"
    status = 422

    def __init__(self) -> None:
        super().__init__("Choose a file that is not empty.")


class FileTooLarge(Refusal):
    """More than a server takes in one file."""

    code = "body_too_large"
    status = 413

    def __init__(self, limit: int) -> None:
        super().__init__(
            f"This file is larger than {limit:,} bytes, which is the most. Nothing was stored.",
            limit=limit,
            unit="bytes",
        )


class NoRoom(Refusal):
    """The server's disk is full."""

    code = "disk_full"
    status = 507

    def __init__(self) -> None:
        super().__init__("There is no room for the file on the server's disk. Tell your administrator.")
