"""How a turn ended, in sentences for the person who asked."""

from conversations.providers.errors import SENTENCES

INTERRUPTED = "The reply was interrupted because the server stopped. Nothing that had arrived is lost."
NEVER_BEGUN = "No worker was free to answer in time: all are busy, or none is running. Your question is kept."
STOPPED = "You stopped this reply."
NOT_IN_FILE = "No answer to this was in the file it was brought in with."
INTERNAL = "Something went wrong here while the reply was written. Your question is kept."


def outcome_sentence(status: str, error_code: str, *, was_begun: bool) -> str:
    """Empty when there is nothing to explain."""
    if error_code == "not_in_file":
        return NOT_IN_FILE
    if status == "failed":
        return SENTENCES.get(error_code, INTERNAL)
    if status == "interrupted" and not was_begun:
        return NEVER_BEGUN
    return {"interrupted": INTERRUPTED, "stopped": STOPPED}.get(status, "")
