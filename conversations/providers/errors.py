"""What can go wrong with a provider: a code for the database, a sentence for the person who waits."""

SENTENCES = {
    "bad_key": "The model provider did not accept this installation's key. Its administrator has to correct it.",
    "not_configured": "The model is not set up completely. The administrator of this installation has to correct it.",
    "unknown_model": "The model provider does not know this model, or no longer offers it.",
    "rate_limited": "The model provider is receiving too many requests right now. Wait a moment, then try again.",
    "quota_exceeded": "This installation's credit with the model provider is used up.",
    "context_too_long": "The conversation is too long for this model. Begin a new one, or shorten the question.",
    "refused": "The model provider declined to answer this.",
    "rejected": "The model provider could not work with this request.",
    "timed_out": "The model did not answer in time.",
    "unreachable": "The model provider could not be reached.",
    "dropped": "The connection to the model provider broke off.",
    "provider_down": "The model provider has a problem of its own. Try again in a moment.",
    "garbled": "The model provider's answer could not be read.",
    "endless_reply": "The model did not come to an end. What it wrote first is kept.",
    "empty_reply": "The model answered nothing.",
    "gave_way": "The model was wanted for a reply, which comes first.",
    "out_of_pace": "The model was asked too often for what nobody waits for.",
    "tools_only": "The model went on calling tools and did not answer.",
}
"""Codes never change their meaning: they are stored with turns and returned by the API."""

GAVE_WAY = "gave_way"
"""The code of what is no fault of anybody's: a question in the background made way for a reply."""


class ProviderError(Exception):
    """A provider did not answer, or not to the end; `code` is one of `SENTENCES`."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


class ToolRefused(Exception):
    """A tool of a server refused a call; the sentence is the server's, for the model."""
