"""Text streams run on both event loops, on virtual time."""

from collections.abc import Callable
from typing import Any

import pytest
import trio.testing

from discussion_helper.testing import VirtualTimeLoop
from discussion_helper.text.manager import Manager
from discussion_helper.text.providers.scripted import ScriptedProvider
from discussion_helper.text.step import Step
from discussion_helper.text.threads.memory import MemoryThreads

LOOPS: dict[str, Callable[[], Any]] = {
    "asyncio": lambda: ("asyncio", {"loop_factory": VirtualTimeLoop}),
    "trio": lambda: ("trio", {"clock": trio.testing.MockClock(autojump_threshold=0)}),
}


@pytest.fixture(params=sorted(LOOPS))
def anyio_backend(request: pytest.FixtureRequest) -> Any:
    """asyncio and trio, both with a clock that jumps."""
    return LOOPS[request.param]()


@pytest.fixture
def manager_of() -> Callable[..., Manager]:
    """A manager on memory: `manager_of(provider, step=..., store=..., **options)`."""

    def make(provider: ScriptedProvider, *, step: Any = None, store: Any = None, **options: Any) -> Manager:
        return Manager(store or MemoryThreads(), provider, step or (lambda _: Step()), **options)

    return make
