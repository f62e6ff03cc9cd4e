"""`make talk`: what it says while it sets up, and that leaving is no error."""

import importlib.util
import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.skipif(os.name == "nt", reason="a shell script stands in for the program")
@pytest.mark.parametrize(("code", "succeeds"), [(0, True), (130, True), (1, False)])
def test_leaving_a_conversation_is_no_error_to_make(code: int, succeeds: bool, tmp_path: Path) -> None:
    program = tmp_path / "bin" / "discussion-helper"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\necho $#\nexit {code}\n")
    program.chmod(0o755)
    environment = {name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MAKELEVEL", "ARGS")}
    command = ["make", "--no-print-directory", "talk", "-o", "runtime", "-o", "models", f"VENV={tmp_path}"]
    command.append('ARGS=--system "Be kind."')
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)

    assert succeeds == (done.returncode == 0)
    assert succeeds == ("" == done.stderr)
    assert "3\n" == done.stdout


@pytest.mark.parametrize("tools", [False, True])
def test_the_installation_has_a_line_and_pip_is_quiet(
    tools: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    spec = importlib.util.spec_from_file_location("scripts_install_quiet", ROOT / "scripts" / "install.py")
    assert spec is not None
    assert spec.loader is not None
    install = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(install)
    ran: list[list[str]] = []
    monkeypatch.setattr(install, "_works", lambda _: True)
    monkeypatch.setattr(install.subprocess, "run", lambda command, **_: ran.append(command))
    install.main(tmp_path, tools=tools)

    assert ran
    assert all("--quiet" in command for command in ran)
    (line,) = capsys.readouterr().out.splitlines()
    assert line.startswith("Installing the ")
    assert line.endswith(f" into {tmp_path.name}")
