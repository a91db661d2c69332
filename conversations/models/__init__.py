"""The tables of a conversation, a noun a file."""

from conversations.models.conversation import Conversation
from conversations.models.effective_life import EffectiveLife
from conversations.models.embedding import Embedding
from conversations.models.erasure import Erasure
from conversations.models.export import Export
from conversations.models.hold import Hold
from conversations.models.import_ import Import, ImportResult
from conversations.models.message import Message
from conversations.models.model_call import ModelCall
from conversations.models.retention_change import RetentionChange
from conversations.models.retention_rule import RetentionRule
from conversations.models.search_entry import SearchEntry
from conversations.models.summary import Summary
from conversations.models.task_run import TaskRun
from conversations.models.token_scale import TokenScale
from conversations.models.turn import Turn

__all__ = [
    "Conversation",
    "EffectiveLife",
    "Embedding",
    "Erasure",
    "Export",
    "Hold",
    "Import",
    "ImportResult",
    "Message",
    "ModelCall",
    "RetentionChange",
    "RetentionRule",
    "SearchEntry",
    "Summary",
    "TaskRun",
    "TokenScale",
    "Turn",
]
