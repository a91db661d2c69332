"""The services that come as wheels: PostgreSQL, Valkey, a small language model, and who looks after them."""
