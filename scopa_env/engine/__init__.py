"""The rules of every game, compiled.  Knows no observation, no reward and no framework."""
