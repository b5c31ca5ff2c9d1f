"""Every notebook runs without an error."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

pytest.importorskip("matplotlib")
FOLDER = Path(__file__).parent.parent / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
MOST_BYTES = 200_000
SECONDS = 300
"""Limit of a cell; the first one that plays may have to compile the engine."""
KERNEL = "this-python"

every_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


def write_kernel(folder: Path) -> None:
    """Describe a kernel that runs in this interpreter, whatever kernels are installed on the machine."""
    spec = folder / "kernels" / KERNEL
    spec.mkdir(parents=True)
    argv = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    (spec / "kernel.json").write_text(json.dumps({"argv": argv, "display_name": KERNEL, "language": "python"}))


@every_notebook
def test_the_notebook_runs(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_kernel(tmp_path)
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    monkeypatch.delenv("PYTHONPATH", raising=False)
    notebook = nbformat.read(path, as_version=4)
    place = {"metadata": {"path": str(tmp_path)}}
    NotebookClient(notebook, kernel_name=KERNEL, timeout=SECONDS, resources=place).execute()
    assert not any(output.output_type == "error" for output in outputs(notebook))


@every_notebook
def test_the_notebook_holds_its_outputs_and_is_small(path: Path) -> None:
    """As after a run from top to bottom, without warnings or errors."""
    assert path.stat().st_size < MOST_BYTES
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    counts = [cell.execution_count for cell in notebook.cells if cell.cell_type == "code"]
    assert counts == list(range(1, len(counts) + 1))
    assert any("image/png" in output.get("data", {}) for output in outputs(notebook))
    assert not any(output.output_type == "error" or output.get("name") == "stderr" for output in outputs(notebook))


def test_there_are_notebooks() -> None:
    assert NOTEBOOKS


def outputs(notebook: nbformat.NotebookNode) -> list[nbformat.NotebookNode]:
    return [output for cell in notebook.cells for output in cell.get("outputs", ())]
