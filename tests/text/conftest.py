"""Text streams run on both event loops, on virtual time."""

from collections.abc import Callable
from typing import Any

import pytest

from discussion_helper.text.manager import Manager
from discussion_helper.text.providers.scripted import ScriptedProvider
from discussion_helper.text.step import Step
from discussion_helper.text.threads.memory import MemoryThreads


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
