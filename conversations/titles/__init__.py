"""Titles of conversations, found by a model once there is something to name.

A conversation has a title from its first question on: the first words of it. A model's takes its place after the second
answer, and later if the first try brought nothing; what its owner typed is never touched.
"""

from conversations.titles.naming import expect_pace, give, is_due, name, suggest, tries

__all__ = ["expect_pace", "give", "is_due", "name", "suggest", "tries"]
