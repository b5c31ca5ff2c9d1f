"""An agent that ends the process as soon as it is made: for the tests of the arena."""

from __future__ import annotations

import os


class Dies:
    """Ends the process."""

    name = "dies"

    def __init__(self) -> None:
        os._exit(5)
