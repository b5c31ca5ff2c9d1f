"""Settings of all tests."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

# Every run draws the same examples; a first call that compiles the engine is no reason to fail.
settings.register_profile(
    "fixed",
    derandomize=True,
    database=None,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("fixed")
