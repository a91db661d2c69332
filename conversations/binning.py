"""The bin: what its owner has deleted, hidden from every reader, until it is taken out or its time is over."""

BIN_DAYS = 30
"""How long a conversation stays in the bin."""
