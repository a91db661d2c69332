"""Retention in the admin: what holds for whom, what goes with the next purge, rules, holds, and who changed them."""
