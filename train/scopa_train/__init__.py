"""Training recipes for `scopa_env`, and the command line."""
