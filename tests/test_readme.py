"""The README's examples do what it says, and its commands are those that there are."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from starlette.routing import Route

from discussion_helper.command_line import COMMANDS
from discussion_helper.web import create_app

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"^```python\n(.*?)^```", README, re.MULTILINE | re.DOTALL)
NEEDS_DEVICES = "open_talk"


def run(*command: str, timeout: float = 50.0) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=timeout, check=False)


def test_there_are_examples() -> None:
    assert 3 == len(EXAMPLES)
    assert 1 == sum(NEEDS_DEVICES in example for example in EXAMPLES)


@pytest.mark.parametrize("example", [example for example in EXAMPLES if NEEDS_DEVICES not in example])
def test_an_example_runs_as_it_stands(example: str) -> None:
    done = run(sys.executable, "-W", "error", "-c", example)

    assert (0, "") == (done.returncode, done.stderr)
    assert "Hello." in done.stdout or "assistant: Take a hat.\n" in done.stdout


def test_the_tool_of_the_example_is_called() -> None:
    (example,) = (example for example in EXAMPLES if "Tools(" in example)
    done = run(sys.executable, "-c", example.replace("{turn.text}", "{turn.artifacts}"))

    assert "It is sunny in Rome." in done.stdout


def test_every_example_passes_the_type_checker(tmp_path: Path) -> None:
    files = [tmp_path / f"example_{number}.py" for number in range(len(EXAMPLES))]
    for file, example in zip(files, EXAMPLES, strict=True):
        file.write_text(example, encoding="utf-8")
    command = ["-m", "mypy", "--config-file=", "--check-untyped-defs", "--follow-imports=silent"]
    checked = run(sys.executable, *command, *map(str, files))

    assert 0 == checked.returncode, checked.stdout + checked.stderr


def test_every_command_is_in_the_table() -> None:
    table = README.partition("## Commands")[2].partition("\n## ")[0]
    assert set(COMMANDS) == set(re.findall(r"^\| `([a-z]+)", table, re.MULTILINE))


def test_the_routes_in_the_table_are_those_of_the_server() -> None:
    routes = [
        (method, re.sub(r"\{\w+\}", "ID", route.path))
        for route in create_app(token=None).routes
        if isinstance(route, Route)
        for method in (route.methods or set()) - {"HEAD"}
    ]
    assert sorted(routes) == sorted(re.findall(r"^\| `([A-Z]+)` \| `(/\S*)` \|", README, re.MULTILINE))
