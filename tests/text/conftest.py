"""Text streams run on both event loops, on virtual time."""

import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from discussion_helper.text.manager import Manager
from discussion_helper.text.providers.scripted import ScriptedProvider
from discussion_helper.text.step import Step
from discussion_helper.text.threads.durable import DurableThreads
from discussion_helper.text.threads.json_files import JsonThreads
from discussion_helper.text.threads.memory import MemoryThreads
from discussion_helper.text.threads.sqlite import SqliteThreads


@pytest.fixture
def anyio_backend(virtual_backend: Any) -> Any:
    """asyncio and trio, both with a clock that jumps."""
    return virtual_backend


@pytest.fixture
def manager_of() -> Callable[..., Manager]:
    """A manager on memory: `manager_of(provider, step=..., store=..., **options)`."""

    def make(provider: ScriptedProvider, *, step: Any = None, store: Any = None, **options: Any) -> Manager:
        return Manager(store or MemoryThreads(), provider, step or (lambda _: Step()), **options)

    return make


@pytest.fixture
def opened() -> Callable[[str, Path], DurableThreads]:
    """A store on disk: `opened("json" or "sqlite", path)`."""
    return lambda kind, path: JsonThreads(path) if kind == "json" else SqliteThreads(path)


@pytest.fixture
def killed() -> Callable[..., list[str]]:
    """The whole lines of a program that is killed so long after its first: `killed(after_s, program, *arguments)`."""

    def run(after_s: float, program: Path, *arguments: str) -> list[str]:
        command = [sys.executable, str(program), *arguments]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            lines = [process.stdout.readline()]
            killer = threading.Timer(after_s, process.kill)  # SIGKILL, where there are signals
            killer.start()
            lines += process.stdout
            killer.join()
        return [line.removesuffix("\n") for line in lines if line.endswith("\n")]

    return run
