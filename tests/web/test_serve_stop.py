"""How `discussion-helper serve` ends as a process of its own, with everything open that can be open."""

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from queue import Queue

import httpx
import pytest

AT_MOST_S = 2.0
"""From the signal to the end of the last stream."""

_PROGRAM = """
import argparse, sys, time
from contextlib import asynccontextmanager
from types import SimpleNamespace

import anyio

from discussion_helper.commands import serve, serve_parts
from discussion_helper.session import Session
from discussion_helper.testing import EchoResponder, ScriptedListener, SilentVoice

class Microphone(ScriptedListener):
    async def aclose(self):
        await anyio.sleep(0.1)  # as a sound server takes to let go of a device
        print("free", time.monotonic(), flush=True)
        await super().aclose()

@asynccontextmanager
async def open_talk(settings, **options):
    yield SimpleNamespace(session=Session(Microphone([], stays_open=True), EchoResponder(), SilentVoice()))

serve_parts.open_talk = open_talk
parser = argparse.ArgumentParser()
serve.add_parser(parser.add_subparsers())
arguments = parser.parse_args(["serve", "--port", "0", *sys.argv[1:]])
sys.exit(arguments.run(arguments))
"""


@contextmanager
def served(folder: Path) -> Iterator[tuple["subprocess.Popen[str]", httpx.Client]]:
    """The process, and a client that is let in."""
    process = subprocess.Popen(
        [sys.executable, "-W", "error", "-c", _PROGRAM, "--store", str(folder / "threads.db")],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "DISCUSSION_HELPER_MODELS": str(folder)},
    )
    try:
        assert process.stdout is not None
        link = re.fullmatch(r"Open (http://[^/]+)/\?token=(\S+)\n", process.stdout.readline())
        assert link is not None
        headers = {"Authorization": f"Bearer {link[2]}"}
        with httpx.Client(base_url=link[1], headers=headers, timeout=20, trust_env=False) as client:
            yield process, client
    finally:
        process.kill()
        process.communicate()


def follow(client: httpx.Client, url: str, began: "Queue[str]", told: dict[str, str], over: dict[str, float]) -> None:
    with client.stream("GET", f"{url}/events?kinds=ended") as events:
        lines = events.iter_lines()
        next(lines)
        began.put(url)
        told[url] = "\n".join(lines)
    over[url] = time.monotonic()


@pytest.mark.skipif(sys.platform == "win32", reason="SIGTERM ends a process there without asking it")
def test_at_sigterm_the_microphone_is_free_first_and_every_watcher_is_told(tmp_path: Path) -> None:
    began: Queue[str] = Queue()
    told: dict[str, str] = {}
    over: dict[str, float] = {}
    with served(tmp_path) as (process, client):
        bodies = ({"transport": "local"}, {"kind": "text"}, {"transport": "fake"})
        urls = [str(client.post("/sessions", json=body).json()["url"]) for body in bodies]
        watching = [threading.Thread(target=follow, args=(client, url, began, told, over)) for url in urls]
        for thread in watching:
            thread.start()
        assert set(urls) == {began.get(timeout=20) for _ in urls}
        opened = client.get("/audit").json()
        asked_s = time.monotonic()
        process.send_signal(signal.SIGTERM)
        for thread in watching:
            thread.join(timeout=20)
        assert 0 == process.wait(timeout=20)
        out, err = process.communicate()

    free_s = float(out.splitlines()[-1].removeprefix("free "))
    assert asked_s < free_s < min(over.values())
    assert max(over.values()) - asked_s < AT_MOST_S
    for url in urls:
        ended = json.loads(told[url].rpartition("data: ")[2])
        assert ("ended", "stopped") == (ended["kind"], ended["reason"])
    assert ["microphone_opened"] == [entry["kind"] for entry in opened]
    assert re.search(r"microphone_opened where=local session=\S+ by=127\.0\.0\.1 python-httpx", err)
    assert "microphone_closed where=local" in err
