"""What estimates of a model are multiplied with, learned from what its provider reported: pure, no rows.

A provider counts of a message its words, by a tokenizer of its own, and what its template puts around each message. So
`reported = words x estimate + message x messages`, and `words` and `message` are fitted to past requests by least
squares. Descriptions of tools are put into words of the provider's own, and have a factor of their own.
"""

from dataclasses import dataclass, replace

REMEMBERED = 0.98
"""What a request weighs after each further one: the last fifty or so count."""

WORDS, MESSAGE, TOOLS = (0.3, 4.0), (0.0, 40.0), (0.2, 8.0)
"""Beyond these bounds something else was measured than the model's tokenizer."""

DOUBT_OF_WORDS, DOUBT_OF_MESSAGE = 50.0, 0.02
"""How much evidence it takes to leave 1 and 0: a few short questions, or one long one."""

DOUBT_OF_TOOLS = 100.0
ODD = 8.0
"""A figure this many times an estimate, or this small a part of it, is an accident and teaches nothing."""

A_MESSAGE = 20
"""Tokens: what makes a short message's figure less certain than it seems."""


@dataclass(frozen=True, slots=True)
class Scale:
    """Factors for a model's estimates. The first ones change nothing."""

    words: float = 1.0
    message: float = 0.0
    """Tokens that each message takes beside its words."""
    tools: float = 1.0

    def of_message(self, estimated: int) -> int:
        """Tokens of a message whose words were estimated; 0 for none."""
        return max(1, round(self.words * estimated + self.message)) if estimated else 0

    def of_tools(self, estimated: int) -> int:
        return round(self.tools * estimated)


@dataclass(frozen=True, slots=True)
class Sums:
    """What was learned from, older requests weighing less: sums of products of estimates (x), messages (m) and
    reported tokens (y), each request weighed by how exact it can be."""

    xx: float = 0.0
    xm: float = 0.0
    mm: float = 0.0
    xy: float = 0.0
    my: float = 0.0
    tools_estimated: float = 0.0
    tools_reported: float = 0.0

    def with_messages(self, estimated: int, messages: int, reported: int) -> "Sums":
        """Learn that so many messages, estimated at so many tokens, take as many as were reported."""
        if not _is_plausible(estimated + A_MESSAGE * messages, reported + A_MESSAGE * messages):
            return self
        # The error of an estimate grows with it: long messages are to tell the factor and not to drown all others.
        weight = 1 / (estimated + A_MESSAGE * messages)
        return replace(
            self,
            xx=REMEMBERED * self.xx + weight * estimated * estimated,
            xm=REMEMBERED * self.xm + weight * estimated * messages,
            mm=REMEMBERED * self.mm + weight * messages * messages,
            xy=REMEMBERED * self.xy + weight * estimated * reported,
            my=REMEMBERED * self.my + weight * messages * reported,
        )

    def with_tools(self, estimated: int, reported: int) -> "Sums":
        if not _is_plausible(estimated, reported):
            return self
        return replace(
            self,
            tools_estimated=REMEMBERED * self.tools_estimated + estimated,
            tools_reported=REMEMBERED * self.tools_reported + reported,
        )

    @property
    def scale(self) -> Scale:
        """The factors that fit best, which stay near 1 and 0 until there is evidence."""
        xx, xy = self.xx + DOUBT_OF_WORDS, self.xy + DOUBT_OF_WORDS
        mm = self.mm + DOUBT_OF_MESSAGE
        determinant = xx * mm - self.xm * self.xm
        message = _bounded((xx * self.my - self.xm * xy) / determinant, MESSAGE)
        # What one of the two is kept from, the other has to explain.
        words = _bounded((xy - self.xm * message) / xx, WORDS)
        tools = (self.tools_reported + DOUBT_OF_TOOLS) / (self.tools_estimated + DOUBT_OF_TOOLS)
        return Scale(words, message, _bounded(tools, TOOLS))


def _is_plausible(estimated: int, reported: int) -> bool:
    return 0 < estimated <= ODD * reported and reported <= ODD * estimated


def _bounded(value: float, bounds: tuple[float, float]) -> float:
    least, most = bounds
    return min(max(value, least), most)
