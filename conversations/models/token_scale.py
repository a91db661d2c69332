"""How far estimates of tokens are from what a model's provider reports: figures of the model, of nobody's words."""

from django.db import models
from django.db.models import Q


class TokenScale(models.Model):
    """One row a model. The sums are those of `context.scale.Sums`."""

    model = models.CharField(max_length=200, primary_key=True)
    requests = models.PositiveBigIntegerField(default=0, help_text="Requests that were compared.")
    xx = models.FloatField(default=0)
    xm = models.FloatField(default=0)
    mm = models.FloatField(default=0)
    xy = models.FloatField(default=0)
    my = models.FloatField(default=0)
    tools_estimated = models.FloatField(default=0)
    tools_reported = models.FloatField(default=0)
    recent = models.JSONField(
        default=list,
        help_text="Of the last requests: our count divided by the provider's, and the same without these factors.",
    )
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints = [
            models.CheckConstraint(name="token_scale_names_a_model", condition=~Q(model="")),
        ]

    def __str__(self) -> str:
        return self.model
