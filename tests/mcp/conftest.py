"""A server of sessions, and a client of the Model Context Protocol in front of it."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio
import mcp
import pytest
from starlette.applications import Starlette

from discussion_helper.client import Client
from discussion_helper.mcp.server import mcp_server
from discussion_helper.web import Server, bound_socket

TOKEN = "a-token-for-tests"


@asynccontextmanager
async def _serving(app: Starlette) -> AsyncIterator[str]:
    """On a free port, in this event loop; its address. It has ended at the end."""
    started = anyio.Event()
    server = Server(app, started=started.set)
    with bound_socket("127.0.0.1", 0) as listening:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(server.serve, [listening])
            await started.wait()
            try:
                yield f"http://127.0.0.1:{listening.getsockname()[1]}"
            finally:
                server.should_exit = True


@asynccontextmanager
async def _asking(app: Starlette, token: str = TOKEN) -> AsyncIterator[Any]:
    """The SDK's own client, in memory, of tools that ask that app over HTTP."""
    async with _serving(app) as url, Client(url, token=token) as client, mcp.Client(mcp_server(client)) as asker:
        yield asker


@pytest.fixture
def serving() -> Callable[..., Any]:
    """`async with serving(app) as url`."""
    return _serving


@pytest.fixture
def asking() -> Callable[..., Any]:
    """`async with asking(app) as asker`."""
    return _asking
