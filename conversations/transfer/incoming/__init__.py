"""Bringing conversations in: our own files, and those that other products give out."""
