"""Real servers on free ports."""

import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest
from starlette.applications import Starlette

from discussion_helper.web import Server, bound_socket


@asynccontextmanager
async def _serving(app: Starlette, *, tls: ssl.SSLContext | None = None) -> AsyncIterator[str]:
    """In this event loop; its address. It has ended at the end."""
    started = anyio.Event()
    server = Server(app, started=started.set, tls=tls)
    with bound_socket("127.0.0.1", 0) as listening:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(server.serve, [listening])
            await started.wait()
            try:
                yield f"http{'s' if tls else ''}://127.0.0.1:{listening.getsockname()[1]}"
            finally:
                server.should_exit = True


@pytest.fixture
def serving() -> Callable[..., Any]:
    """`async with serving(app) as url`."""
    return _serving
