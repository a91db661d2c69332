"""Finding older messages again: what of a text is indexed, and how well it matches a question. Pure functions."""
