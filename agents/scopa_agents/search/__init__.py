"""Search: playing by looking ahead, compiled."""
