"""The examples of serving: what they start is there, and what systemd reads it understands."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import threading
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from discussion_helper.command_line import parse

ROOT = Path(__file__).parents[1]
DEPLOY = ROOT / "deploy"
README = (DEPLOY / "README.md").read_text(encoding="utf-8")
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


def test_the_image_is_built_from_what_it_needs_and_nothing_else_is_sent() -> None:
    """Of the lines of .dockerignore the last one that fits counts; `!` takes back."""
    lines = [line for line in (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines() if line[0] != "#"]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    wheel = project["tool"]["hatch"]["build"]["targets"]["wheel"]
    needed = {"pyproject.toml", project["project"]["readme"], *project["project"]["license-files"], *wheel["packages"]}
    needed |= set(wheel["force-include"]) | set(re.findall(r"^COPY (deploy/\S+)", CONTAINER, re.MULTILINE))

    assert "*" == lines[0]
    assert needed == {line[1:] for line in lines if line.startswith("!")}
    assert all((ROOT / name).exists() for name in needed)
    assert {"**/__pycache__"} == {line for line in lines[1:] if not line.startswith("!")}


def test_what_is_installed_counts_for_prometheus_too() -> None:
    assert 1 == CONTAINER.count('pip install --no-cache-dir "/source[metrics]"')
    installed = [line.strip() for line in README.splitlines() if "/pip install" in line]
    assert 2 == len(installed)
    assert all(line.endswith('pip install "FILE_OR_CHECKOUT[metrics]"') for line in installed)


def test_podman_keeps_the_health_check_only_in_this_format() -> None:
    built = [line for line in (README + CONTAINER).splitlines() if "podman build" in line]
    assert 2 == len(built)
    assert all("podman build --format docker -f" in line for line in built)


def test_a_proxy_leads_to_where_the_command_listens_by_its_usual_name() -> None:
    (command,) = re.findall(r"^discussion-helper (serve .*--trust-proxy.*)$", README, re.MULTILINE)
    arguments = parse(shlex.split(command))
    (name,), proxies = arguments.allow_host, arguments.trust_proxy

    assert (["127.0.0.1"], "127.0.0.1") == (proxies, arguments.host)
    for example in sorted((DEPLOY / "proxy").iterdir()):
        text = example.read_text(encoding="utf-8")
        assert f"127.0.0.1:{arguments.port}" in text
        assert name in text


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
