"""Put the network of a training run into the package: `python tools/ship_model.py runs/exit-scopa scopa`.

Copies the network and its card to ``scopa_agents/models`` and the learning curve to ``docs/images``; run
``tools/make_docs.py`` afterwards.  What is shipped was made by a command of a commit without edits, and is small.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
from pathlib import Path

from scopa_agents.network.network import MoveNetwork
from scopa_train.run import CARD, NETWORK

ROOT = Path(__file__).resolve().parent.parent
MODELS = ROOT / "agents" / "scopa_agents" / "models"
MOST_BYTES = 4_000_000


def ship(run: Path, name: str) -> None:
    """Copy a run's network, card and curve under a name."""
    network, curve = run / NETWORK, run / "curve.png"
    for file in (network, run / CARD, curve):
        if not file.exists():
            sys.exit(f"{file}: there is no such file")
    if not re.fullmatch("[a-z_]+", name):
        sys.exit(f"name {name!r}: allowed are small letters and _")
    card = json.loads((run / CARD).read_text("utf-8"))
    if network.stat().st_size > MOST_BYTES:
        sys.exit(f"{network}: {network.stat().st_size:,} bytes; allowed are {MOST_BYTES:,}")
    if not card["command"] or not card["commit"] or card["commit"].endswith("+"):
        sys.exit(f"{run / CARD}: command {card['command']!r}, commit {card['commit']!r}; allowed is a clean commit")
    if "resumed at" in card:
        sys.exit(f"{run / CARD}: resumed at {card['resumed at']}; allowed is one commit")
    MoveNetwork.load(network)
    MODELS.mkdir(exist_ok=True)
    shutil.copyfile(network, MODELS / f"{name}.safetensors")
    (MODELS / f"{name}.json").write_text(json.dumps(card, indent=2) + "\n", "utf-8")
    shutil.copyfile(curve, ROOT / "docs" / "images" / f"curve_{name}.png")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: python tools/ship_model.py RUN NAME")
    ship(Path(sys.argv[1]), sys.argv[2])
