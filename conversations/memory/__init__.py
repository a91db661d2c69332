"""The memory of one conversation, for programs in Python: append, look back, look for, put a context together.

It reads and writes what the pages and the API do, by the functions they use.
"""

from conversations.memory.database import DatabaseStore
from conversations.memory.handle import EXCERPTS, ConversationMemory
from conversations.memory.store import Remembered, Store, UnknownConversation

__all__ = ["EXCERPTS", "ConversationMemory", "DatabaseStore", "Remembered", "Store", "UnknownConversation"]
