"""What is refused of titles, summaries, recall and the search."""

from conversations.refusals.refusal import Refusal


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


class NothingToLookFor(Refusal):
    """A search without a word."""

    code = "query_empty"
    status = 422

    def __init__(self) -> None:
        super().__init__("Write a word to look for: letters or digits.")


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
