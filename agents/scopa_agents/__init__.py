"""Agents that play on `scopa_env`, and the arena that compares them."""
