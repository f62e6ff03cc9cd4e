"""The notebooks: run as they are, with their pictures stored in them."""

import ast
import importlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).parents[1] / "notebooks"
NEEDS_MODELS = ("barge_in",)
PATHS = sorted(FOLDER.glob("*.ipynb"))
NOTEBOOKS = [
    pytest.param(path, id=path.stem, marks=[pytest.mark.models, pytest.mark.slow] if path.stem in NEEDS_MODELS else [])
    for path in PATHS
]


def cells_of(path: Path) -> list[dict[str, Any]]:
    return [cell for cell in json.loads(path.read_text(encoding="utf-8"))["cells"] if cell["cell_type"] == "code"]


def test_there_are_notebooks() -> None:
    assert {"barge_in", "session"} == {path.stem for path in FOLDER.glob("*.ipynb")}


@pytest.mark.parametrize("path", NOTEBOOKS)
def test_a_notebook_runs_from_top_to_bottom(path: Path) -> None:
    source = "\n\n".join("".join(cell["source"]) for cell in cells_of(path))
    environment = os.environ | {"MPLBACKEND": "Agg", "PYTHONWARNINGS": "ignore:FigureCanvasAgg is non-interactive"}
    done = subprocess.run(
        [sys.executable, "-c", source], cwd=FOLDER, env=environment, capture_output=True, text=True, check=False
    )

    assert (0, "") == (done.returncode, done.stderr)
    streams = [o for cell in cells_of(path) for o in cell["outputs"] if o["output_type"] == "stream"]
    stored = "".join("".join(stream["text"]) for stream in streams)
    assert len(stored.splitlines()) == len(done.stdout.splitlines())
    if path.stem not in NEEDS_MODELS:  # virtual time: the same on every machine
        assert stored == done.stdout


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_what_a_notebook_imports_is_there(path: Path) -> None:
    for cell in cells_of(path):
        for node in ast.walk(ast.parse("".join(cell["source"]))):
            if isinstance(node, ast.ImportFrom):
                module = importlib.import_module(node.module or "")
                assert [] == [name.name for name in node.names if not hasattr(module, name.name)]


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_a_notebook_holds_its_pictures_and_nothing_of_the_machine_it_ran_on(path: Path) -> None:
    outputs = [output for cell in cells_of(path) for output in cell["outputs"]]

    assert any("image/png" in output.get("data", {}) for output in outputs)
    assert not [output for output in outputs if output["output_type"] == "error" or output.get("name") == "stderr"]
    assert list(range(1, 1 + len(cells_of(path)))) == [cell["execution_count"] for cell in cells_of(path)]
    assert str(Path.home()) not in path.read_text(encoding="utf-8")
