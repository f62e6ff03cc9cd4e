"""The examples of serving: what they start is there, and what systemd reads it understands."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from discussion_helper.command_line import parse

DEPLOY = Path(__file__).parents[1] / "deploy"
UNITS = sorted(DEPLOY.glob("systemd/**/*.service"))
CONTAINER = (DEPLOY / "container" / "Containerfile").read_text(encoding="utf-8")
ANALYZE = shutil.which("systemd-analyze")


def test_there_are_examples() -> None:
    assert 2 == len(UNITS)


@pytest.mark.parametrize("unit", UNITS)
def test_a_unit_starts_a_command_that_there_is(unit: Path) -> None:
    text = unit.read_text(encoding="utf-8")
    (start,) = re.findall(r"^ExecStart=(.+)$", text, re.MULTILINE)
    program, *words = shlex.split(start)

    assert program.endswith("/bin/discussion-helper")
    assert "127.0.0.1" == parse(words).host
    assert {"Type=notify", "NoNewPrivileges=yes", "ExecReload=kill -USR1 $MAINPID"} <= set(text.splitlines())


@pytest.mark.skipif(ANALYZE is None, reason="systemd-analyze comes with systemd, and checks its files alone")
@pytest.mark.parametrize("unit", UNITS)
def test_systemd_understands_a_unit(unit: Path, tmp_path: Path) -> None:
    """With another program in its place: this one is not installed where the example has it."""
    copy = tmp_path / unit.name
    start = re.compile(r"^ExecStart=\S+", re.MULTILINE)
    copy.write_text(start.sub(f"ExecStart={shutil.which('true')}", unit.read_text(encoding="utf-8")), encoding="utf-8")
    assert ANALYZE is not None
    whose = ["--user"] if "user" in unit.parts else []
    environment = {**os.environ, "XDG_RUNTIME_DIR": str(tmp_path)}
    command = [ANALYZE, "verify", *whose, "--man=no", str(copy)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=30)

    told = [line for line in done.stderr.splitlines() if copy.name in line]
    assert (0, []) == (done.returncode, told), done.stderr


def test_the_container_runs_as_nobody_special_a_command_that_there_is() -> None:
    (command,) = re.findall(r"^CMD (\[.+\])$", CONTAINER, re.MULTILINE)
    (health,) = re.findall(r"^    CMD (\[.+\])$", CONTAINER, re.MULTILINE)
    arguments = parse(json.loads(command))

    assert (True, "0.0.0.0") == (arguments.insecure, arguments.host)
    assert re.search(r"^USER [1-9][0-9]+$", CONTAINER, re.MULTILINE)
    assert json.loads(health)[-1].endswith(f":{arguments.port}")
    for copied in re.findall(r"^COPY (deploy/\S+)", CONTAINER, re.MULTILINE):
        assert (DEPLOY.parent / copied).is_file()


@contextmanager
def answering(status: int, body: str) -> Iterator[str]:
    """A server that gives one answer to everybody, and 401 to who shows another token."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            shown = self.headers["Authorization"]
            self.send_response(status if shown == "Bearer right" and self.path == "/health?ready=remote" else 401)
            self.end_headers()
            self.wfile.write(body.encode())

        def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002 - as the base names it
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        serving = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        serving.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            serving.join()


@pytest.mark.parametrize(
    ("status", "body", "token", "code", "says"),
    [
        (200, "{}", "right", 0, ""),
        (200, "{}", "", 0, ""),
        (200, '{"error": "The token is missing or wrong."}', "wrong", 1, "The token is missing or wrong."),
        (503, '{"missing": ["language model"], "fixes": ["Pull it."]}', "right", 1, "language model Pull it."),
    ],
)
def test_the_health_check_says_what_is_missing(status: int, body: str, token: str, code: int, says: str) -> None:
    with answering(status, body) as url:
        done = _checked(url, token)
    assert (code, says) == (done.returncode, done.stdout.strip())


def test_the_health_check_fails_where_nobody_answers() -> None:
    with answering(200, "{}") as url:
        pass
    done = _checked(url, "right")
    assert (1, True) == (done.returncode, done.stdout.startswith("Nobody answers: "))


def _checked(url: str, token: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-W", "error", str(DEPLOY / "container" / "healthcheck.py"), url]
    environment = {**os.environ, "DISCUSSION_HELPER_TOKEN": token}
    return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=30)
