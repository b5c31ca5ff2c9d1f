"""Settings of all tests."""

from __future__ import annotations

import signal

from hypothesis import HealthCheck, settings

# A script's background job ignores Ctrl-C, and so would everything that the tests start and interrupt.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Every run draws the same examples; a first call that compiles the engine is no reason to fail.
settings.register_profile(
    "fixed",
    derandomize=True,
    database=None,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("fixed")
