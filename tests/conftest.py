"""What every test shares."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import hypothesis
import pytest

from discussion_helper.testing import VirtualTimeLoop

# A busy machine is slow; what takes too long in all meets the time limit of its test.
hypothesis.settings.register_profile("tests", deadline=None)
hypothesis.settings.load_profile("tests")


@pytest.fixture(autouse=True)
def no_settings_file(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a developer has set for talks is not in force here."""
    monkeypatch.setenv("DISCUSSION_HELPER_CONFIG", os.devnull)


@pytest.fixture(autouse=True)
def own_folders(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Nobody else's talk on this machine has the microphones of a test, and no test has a user's threads and pauses."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))


@pytest.fixture
def anyio_backend() -> str:
    """Async tests run on asyncio; the core's override this with both event loops."""
    return "asyncio"


@pytest.fixture(params=["asyncio", "trio"])
def virtual_backend(request: pytest.FixtureRequest) -> tuple[str, dict[str, Any]]:
    """Both event loops, each with a new clock that jumps: what a folder has as its `anyio_backend`."""
    return request.param, _virtual_options(request.param)


@pytest.fixture(scope="session", params=["asyncio", "trio"])
def run_virtually(request: pytest.FixtureRequest) -> Callable[..., Any]:
    """`run_virtually(function, *arguments)`: the same for one call after another, as of a property."""
    backend: str = request.param
    return lambda function, *arguments: anyio.run(
        function, *arguments, backend=backend, backend_options=_virtual_options(backend)
    )


def _virtual_options(backend: str) -> dict[str, Any]:
    if backend == "asyncio":
        return {"loop_factory": VirtualTimeLoop}
    import trio.testing  # here: what runs on asyncio alone does without it

    return {"clock": trio.testing.MockClock(autojump_threshold=0)}
