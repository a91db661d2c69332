"""Retention in the admin: what holds for whom, what goes tonight, rules, holds, and who changed them."""
