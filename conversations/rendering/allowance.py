"""What one message may cost: the parts whose libraries slow down on hostile input are paid from an allowance."""

from dataclasses import dataclass


@dataclass(slots=True)
class Allowance:
    """What is left for one message. Past it, code goes uncoloured and formulas are shown as written."""

    code_characters: int = 30_000
    code_seconds: float = 0.25
    """CPU time of the thread, so that a busy machine changes nothing."""
    latex_characters: int = 30_000
