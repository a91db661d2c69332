"""What is refused of deleting, of the rules of retention, and of closing an account."""

from collections.abc import Collection
from uuid import UUID

from conversations.refusals.refusal import Refusal


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
