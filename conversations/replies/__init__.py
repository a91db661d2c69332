"""One reply, from the claim to the end: ask the provider, pass its words on, keep them, end the turn once."""

from conversations.replies.process import Replies, end_running_replies, replies

__all__ = ["Replies", "end_running_replies", "replies"]
