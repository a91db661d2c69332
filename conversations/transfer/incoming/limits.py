"""What a file that is brought in may be, and what is said where it is not.

A file is read by a worker that others need, too: each limit bounds what it takes of memory, time or disk.
"""

from dataclasses import dataclass


class FileRefused(Exception):
    """Nothing more can be read of the file; what was brought in before stays. The words are for its owner."""


class Unfit(Exception):
    """One conversation cannot be brought in; those around it can. The words are for the file's owner."""


@dataclass(frozen=True, slots=True)
class Limits:
    entries: int = 100_000
    """Of an archive."""
    directory_bytes: int = 40_000_000
    """Of an archive's list of its entries, which is read as a whole."""
    expanded_bytes: int = 4_000_000_000
    """Of all that is read of an archive, unpacked."""
    expansion: int = 200
    """Times its packed size that an entry may have, once it has more than `free_bytes`: chats reach 20."""
    free_bytes: int = 10_000_000
    conversations: int = 100_000
    conversation_bytes: int = 30_000_000
    """As JSON: in memory it takes several times as much. Pictures beside it in an archive have as many again, and so
    has what several answers begin with, which each of them gets."""
    values: int = 1_000_000
    """Numbers, texts, lists and objects of one conversation's JSON."""
    depth: int = 100
    """Lists and objects inside of each other."""
    text_bytes: int = 20_000_000
    """Of one text in the JSON, pictures included."""
    messages: int = 50_000
    """Of one conversation, all branches together."""
    message_characters: int = 1_000_000
    """Of the words of one message."""
    picture_bytes: int = 10_000_000


LIMITS = Limits()
