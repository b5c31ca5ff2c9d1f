"""Put the network of a training run into the package: `python tools/ship_model.py runs/exit-scopa scopa`.

Copies the network and its card to ``scopa_agents/models`` and the learning curve to ``docs/images``; run
``tools/make_docs.py`` afterwards.  What is shipped was made by a command of a commit without edits, and is small.
"""

from __future__ import annotations

import json
import shlex
import shutil
import sys
from pathlib import Path

from scopa_agents.network.network import MoveNetwork
from scopa_train.run import CARD, NETWORK, without_place

ROOT = Path(__file__).resolve().parent.parent
MODELS = ROOT / "agents" / "scopa_agents" / "models"
MOST_BYTES = 4_000_000


def ship(run: Path, name: str) -> None:
    """Copy a run's network, card and curve under a name."""
    network, card = run / NETWORK, json.loads((run / CARD).read_text("utf-8"))
    if network.stat().st_size > MOST_BYTES:
        sys.exit(f"{network}: {network.stat().st_size:,} bytes; allowed are {MOST_BYTES:,}")
    if not card["command"] or not card["commit"] or card["commit"].endswith("+"):
        sys.exit(f"{run / CARD}: command {card['command']!r}, commit {card['commit']!r}; allowed is a clean commit")
    MoveNetwork.load(network)
    card["command"] = shlex.join(without_place(shlex.split(card["command"])))
    MODELS.mkdir(exist_ok=True)
    shutil.copyfile(network, MODELS / f"{name}.safetensors")
    (MODELS / f"{name}.json").write_text(json.dumps(card, indent=2) + "\n", "utf-8")
    shutil.copyfile(run / "curve.png", ROOT / "docs" / "images" / f"curve_{name}.png")


if __name__ == "__main__":
    ship(Path(sys.argv[1]), sys.argv[2])
