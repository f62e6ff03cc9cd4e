"""A whole conversation asks no other machine for anything, its libraries neither.

What Python asks the system for is seen by an audit hook, what libraries in C do by strace, where that is installed.
"""

import ipaddress
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from discussion_helper.models import Store

ROOT = Path(__file__).parents[1]
CLIP = ROOT / "audio" / "speech" / "mfa_longstop.flac"
STRACE = shutil.which("strace")
TRACED = "trace=connect,sendto,sendmsg,sendmmsg,bind"

_GUARD = """
import ipaddress, sys

def is_outside(address):
    if not isinstance(address, tuple):  # a path, or nothing: the address that the socket is connected to
        return False
    try:
        return not ipaddress.ip_address(address[0].partition("%")[0]).is_loopback
    except ValueError:
        return address[0] not in ("localhost", "")

def guard(event, arguments):
    if event in ("socket.connect", "socket.sendto", "socket.sendmsg", "socket.bind"):
        address = arguments[1]
    elif event in ("socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr"):
        address = (str(arguments[0] or ""),)
    else:
        return
    if is_outside(address):
        print("OUTSIDE", event, address, file=sys.stderr, flush=True)
        raise OSError("there is no network in here")

sys.addaudithook(guard)
"""
_COMMAND = f"{_GUARD}\nsys.argv[0] = 'discussion-helper'\nfrom discussion_helper.cli import entry\nentry()\n"
_BY_PYTHON = "import socket\nsocket.socket(socket.AF_INET, socket.SOCK_DGRAM).connect(('192.0.2.1', 9))\n"
_BY_C = """
import ctypes, socket
libc = ctypes.CDLL(None)
address = (2).to_bytes(2, sys.byteorder) + (9).to_bytes(2, "big") + socket.inet_aton("192.0.2.1") + bytes(8)
assert libc.connect(libc.socket(2, 2, 0), address, 16) == 0  # a datagram's socket: nothing is sent
"""


def watched(trace: Path, program: str, *arguments: str) -> list[str]:
    """The command that runs the program, as a process of its own: signals reach it."""
    strace = [] if STRACE is None else [STRACE, "-D", "-f", "-qq", "-e", TRACED, "-o", str(trace)]
    return [*strace, sys.executable, "-c", program, *arguments]


def outside(trace: Path, told: str) -> list[str]:
    """The addresses of other machines that somebody asked."""
    text = trace.read_text(encoding="utf-8", errors="replace") if trace.exists() else ""
    asked = re.findall(r'inet_addr\("([^"]+)"\)|inet_pton\(AF_INET6, "([^"]+)"', text)
    found = [address for pair in asked for address in pair if address]
    return [a for a in found if not ipaddress.ip_address(a).is_loopback] + re.findall(
        r"^OUTSIDE .*", told, re.MULTILINE
    )


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """With nothing that says what libraries may tell, which is the program's own work; the models where they are."""
    models = str(Store().path)
    quiet = ("ORT_DISABLE_TELEMETRY", "CI", "GITHUB_ACTIONS", "TF_BUILD")
    kept = {name: text for name, text in os.environ.items() if name not in quiet}
    return kept | {"XDG_CACHE_HOME": str(tmp_path), "DISCUSSION_HELPER_MODELS": models}


@pytest.mark.parametrize(
    "program", [_BY_PYTHON, pytest.param(_BY_C, marks=pytest.mark.skipif(STRACE is None, reason="strace"))]
)
def test_what_is_asked_of_another_machine_is_seen(program: str, tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    done = subprocess.run(watched(trace, _GUARD + program), capture_output=True, text=True, timeout=50)

    assert outside(trace, done.stderr)


@pytest.mark.models
def test_a_talk_asks_no_other_machine(tmp_path: Path, environment: dict[str, str]) -> None:
    trace = tmp_path / "trace"
    options = ["--input", str(CLIP), "--output", str(tmp_path / "answers.wav"), "--json", "--max-sentences", "1"]
    command = watched(trace, _COMMAND, "talk", *options)
    done = subprocess.run(command, capture_output=True, text=True, timeout=55, env=environment)

    assert 0 == done.returncode, done.stderr
    assert "long stop" in done.stdout
    assert '"speaker": "agent"' in done.stdout
    assert [] == outside(trace, done.stderr)
    assert [] == list(tmp_path.rglob("*.onnxruntime*"))


@contextmanager
def served(command: list[str], environment: dict[str, str], told: list[str]) -> Iterator[httpx.Client]:
    """A client of the server, which is let in; what the server printed is told at the end."""
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    ) as process:
        try:
            assert process.stdout is not None
            link = re.fullmatch(r"Open (http://[^/]+)(/\?token=\S+)\n", process.stdout.readline())
            assert link is not None
            with httpx.Client(base_url=link[1], timeout=50, trust_env=False) as client:
                assert 303 == client.get(link[2]).status_code
                yield client
        finally:
            process.terminate()
            told.append(process.communicate(timeout=30)[1])


@pytest.mark.models
@pytest.mark.slow
def test_what_is_served_asks_no_other_machine(tmp_path: Path, environment: dict[str, str]) -> None:
    trace, told = tmp_path / "trace", list[str]()
    command = watched(trace, _COMMAND, "serve", "--port", "0", "--store", str(tmp_path / "threads.db"))
    with served(command, environment, told) as client:
        health = client.get("/health?ready=text").json()
        written = client.post("/sessions", json={"kind": "text"}).json()
        answer = client.post(f"{written['url']}/messages", json={"content": "Say hello."}).text
        typed = client.post("/sessions", json={"transport": "remote"}).json()
        said = client.post(f"{typed['url']}/say", json={"text": "Say hello."})

    assert (True, True) == (health["ok"], said.is_success)
    assert '"phase":"done"' in answer
    assert [] == outside(trace, "\n".join(told))
