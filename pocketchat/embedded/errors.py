"""What keeps the product from starting."""


class CannotStart(Exception):
    """The message is one line that says what is wrong and what to do about it."""
