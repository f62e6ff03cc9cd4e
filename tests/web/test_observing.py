"""Who follows every session of a server."""

from collections.abc import Callable
from typing import Any

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from starlette.applications import Starlette

from discussion_helper.registry import Sessions
from discussion_helper.text import Manager
from discussion_helper.text.providers.scripted import ScriptedProvider
from discussion_helper.web import observing
from discussion_helper.web.limits import Limits
from discussion_helper.web.live import Live

pytestmark = pytest.mark.anyio

AppOf = Callable[..., Starlette]
ManagerOf = Callable[..., Manager]
ClientOf = Callable[..., Any]


async def test_turns_of_every_kind_of_session_are_traced_until_the_server_ends(
    app_of: AppOf,
    client_of: ClientOf,
    manager_of: ManagerOf,
    echo: ScriptedProvider,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    exported, provider = InMemorySpanExporter(), TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exported))
    monkeypatch.setattr(observing, "tracer_here", lambda: provider.get_tracer("test"))
    async with manager_of(echo) as manager:
        app = app_of(manager=manager)
        async with client_of(app) as client:
            spoken = (await client.post("/sessions", json={"transport": "fake", "turns": ["Hello."]})).json()
            await app.state.sessions.get(spoken["id"]).wait()
            written = (await client.post("/sessions", json={"kind": "text"})).json()
            await client.post(f"{written['url']}/messages", json={"content": "Hello?"})
        told = len(exported.get_finished_spans())
        after = await manager.create()
        await after.aclose()

    turns = [span.attributes or {} for span in exported.get_finished_spans() if span.name == "turn"]
    assert [(spoken["id"], "voice"), (written["id"], "text")] == [
        (each["session.id"], each["session.kind"]) for each in turns
    ]
    assert told == len(exported.get_finished_spans())


async def test_where_nothing_is_installed_nobody_follows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(observing, "tracer_here", lambda: None)
    monkeypatch.setattr(observing, "metrics_here", lambda *_: None)
    sessions: Sessions[Any] = Sessions()
    nobody = observing.Observing(sessions, Live(Limits()))
    nobody.request_failed()
    nobody.close()

    assert [] == sessions._added
