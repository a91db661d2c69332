"""`manage.py estimate_error`: how far our count of tokens was from the providers', a line a model."""

from typing import Any

from django.core.management.base import BaseCommand

from conversations.calibration import EstimateError, error_of, sums_of
from conversations.models import TokenScale

HEAD = ("model", "requests", "last", "ratio", "median", "95 %", "uncalibrated", "words ×", "message +", "tools ×")
ROW = "{:<32} {:>8} {:>5} {:>6} {:>7} {:>7} {:>15} {:>8} {:>10} {:>8}"


class Command(BaseCommand):
    help = (
        "Compare, for each model, our count of the tokens of requests with what its provider reported: how many "
        "requests there were; of the last of them our count divided by the provider's (mean), the median of the error "
        "in percent and what 95 of 100 stay below, both also as they would be without calibration; the factors."
    )

    def handle(self, *args: Any, **options: Any) -> None:  # noqa: ARG002  # Django's signature
        rows = list(TokenScale.objects.order_by("model"))
        if not rows:
            self.stdout.write("No provider has reported anything yet.")
            return
        self.stdout.write(ROW.format(*HEAD))
        for row in rows:
            self.stdout.write(_line(row))


def _line(row: TokenScale) -> str:
    error, plain, scale = error_of(row), error_of(row, uncalibrated=True), sums_of(row).scale
    factors = (f"{scale.words:.2f}", f"{scale.message:.1f}", f"{scale.tools:.2f}")
    if error is None or plain is None:
        return ROW.format(row.model, row.requests, *["–"] * 5, *factors)
    return ROW.format(row.model, row.requests, error.requests, *_shown(error), " / ".join(_shown(plain)[1:]), *factors)


def _shown(error: EstimateError) -> tuple[str, str, str]:
    return f"{error.mean_ratio:.2f}", f"{error.median:.0f} %", f"{error.most:.0f} %"
