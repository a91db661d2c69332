"""What every refusal is."""

from typing import ClassVar

GONE = "This {} does not exist, or no longer."
"""The sentence of what is not found, or is not one's own."""


class Refusal(Exception):
    """Nothing was changed. `code` never changes its meaning; `facts` go with it into the API's answer."""

    code: ClassVar[str]
    status: int = 409

    def __init__(self, sentence: str, /, **facts: object) -> None:
        super().__init__(sentence)
        self.facts = facts
