"""Clients inside this process, and real servers on free ports."""

import importlib.util
import json
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest
from starlette.applications import Starlette

from discussion_helper.text import Manager, MemoryThreads, Step, TextDelta
from discussion_helper.text.providers.scripted import ScriptedProvider
from discussion_helper.web import Server, bound_socket, create_app

TOKEN = "a-token-for-tests"


@dataclass(frozen=True)
class Told:
    """One server-sent event."""

    id: str
    kind: str
    data: dict[str, Any]


async def _events_in(response: httpx.Response) -> AsyncIterator[Told]:
    """Comments and `retry` are left out."""
    fields: dict[str, str] = {}
    async for line in response.aiter_lines():
        name, _, value = line.partition(": ")
        if line and name in ("id", "event", "data"):
            fields[name] = value
        elif not line and "data" in fields:
            yield Told(fields.get("id", ""), fields["event"], json.loads(fields["data"]))
            fields = {}


async def _settled() -> None:
    """Let whatever can go on at once go on."""
    for _ in range(20):
        await anyio.lowlevel.checkpoint()


@asynccontextmanager
async def _client_of(app: Starlette, **options: Any) -> AsyncIterator[httpx.AsyncClient]:
    """In this process; what is open at the end is closed, as a server does it."""
    usual: dict[str, Any] = {"base_url": "http://127.0.0.1:7654", "transport": httpx.ASGITransport(app)}
    async with app.router.lifespan_context(app), httpx.AsyncClient(**(usual | options)) as client:
        yield client


@dataclass
class Served:
    """A server that runs."""

    server: Server
    client: httpx.AsyncClient
    url: str


@asynccontextmanager
async def _serving(app: Starlette, **options: Any) -> AsyncIterator[Served]:
    """A real server on a free port, in this event loop; it has ended at the end."""
    started = anyio.Event()
    server = Server(app, started=started.set)
    with bound_socket("127.0.0.1", 0) as listening:
        url = f"http://127.0.0.1:{listening.getsockname()[1]}"
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(server.serve, [listening])
            await started.wait()
            async with httpx.AsyncClient(base_url=url, timeout=20.0, **options) as client:
                yield Served(server, client, url)
                server.should_exit = True


@pytest.fixture
def events_in() -> Any:
    """`async for event in events_in(response)`: its server-sent events."""
    return _events_in


@pytest.fixture
def settled() -> Any:
    """`await settled()`."""
    return _settled


@pytest.fixture
def client_of() -> Any:
    """`async with client_of(app) as client`."""
    return _client_of


@pytest.fixture
def serving() -> Any:
    """`async with serving(app) as served`."""
    return _serving


@pytest.fixture
def echo() -> ScriptedProvider:
    """Answers "Hello world" in two pieces."""
    return ScriptedProvider([TextDelta("Hello"), TextDelta(" world")])


@pytest.fixture
def manager_of() -> Callable[..., Manager]:
    """A manager on memory: `manager_of(provider, **options)`."""

    def make(provider: ScriptedProvider, **options: Any) -> Manager:
        return Manager(MemoryThreads(), provider, lambda _: Step(), **options)

    return make


@pytest.fixture
def app_of() -> Callable[..., Starlette]:
    """An app without a token, unless one is named."""

    def make(*arguments: Any, **options: Any) -> Starlette:
        return create_app(*arguments, **({"token": None} | options))

    return make


@pytest.fixture(scope="session")
def reducer() -> Any:
    """The module of the reference client."""
    spec = importlib.util.spec_from_file_location("reducer_of_the_web_tests", Path(__file__).with_name("reducer.py"))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # where its dataclass looks for its types
    spec.loader.exec_module(module)
    return module


def _closed(document: dict[str, Any]) -> dict[str, Any]:
    schemas = [document]
    for schema in schemas:
        schemas += [inner for inner in schema.values() if isinstance(inner, dict)]
        schemas += [
            inner for many in schema.values() if isinstance(many, list) for inner in many if isinstance(inner, dict)
        ]
        if schema.get("type") == "object" and "properties" in schema:
            schema.setdefault("additionalProperties", False)
    return document


@pytest.fixture(scope="session")
def closed() -> Callable[[dict[str, Any]], dict[str, Any]]:
    """`closed(document)`: an OpenAPI document whose objects have no member that it does not name, if it names any."""
    return _closed
