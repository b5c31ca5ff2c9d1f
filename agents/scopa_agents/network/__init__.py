"""Networks that value moves."""
