"""The reference client at a server that is scripted: one that falls silent, goes away, or says what is none."""

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio
import numpy as np
import pytest
from websockets.asyncio.server import ServerConnection, serve

from discussion_helper.audio.frames import Samples, silence
from discussion_helper.client import Link, ServerError, ServerUnreachable, audio
from discussion_helper.client.audio import AudioClient
from discussion_helper.client.wire import SUBPROTOCOL
from discussion_helper.voice.remote_messages import Play
from discussion_helper.web.audio_wire import encode

pytestmark = pytest.mark.anyio

SLOW_MACHINE_S = 20.0
WELCOME = json.dumps({"type": "welcome"})
ENDED = json.dumps({"type": "ended", "reason": "finished"})
Script = Callable[[ServerConnection], Awaitable[object]]


@asynccontextmanager
async def scripted(*scripts: Script) -> AsyncIterator[tuple[Link, list[dict[str, Any]]]]:
    """One script for each connection that comes, after its hello; and the hellos."""
    waiting, hellos = list(scripts), list[dict[str, Any]]()

    async def handle(socket: ServerConnection) -> None:
        hellos.append(json.loads(await socket.recv()))
        await waiting.pop(0)(socket)

    async with serve(handle, "127.0.0.1", 0, subprotocols=[SUBPROTOCOL]) as server:  # type: ignore[list-item]
        port = next(iter(server.sockets)).getsockname()[1]
        yield Link.of(f"http://127.0.0.1:{port}"), hellos


async def microphone() -> AsyncIterator[Samples]:
    await anyio.sleep_forever()
    yield silence(0.02, 16_000)  # what makes this a generator


async def ran(link: Link) -> str:
    with anyio.fail_after(SLOW_MACHINE_S):
        return await AudioClient(link, "s", take=True, name="me").run(microphone(), lambda _: None)


async def end(socket: ServerConnection) -> None:
    await socket.send(WELCOME)
    await socket.send(ENDED)


async def test_a_server_that_falls_silent_is_left_and_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audio, "DEAD_S", 0.2)

    async def silent(socket: ServerConnection) -> None:
        await socket.send(WELCOME)
        await socket.wait_closed()

    async with scripted(silent, end) as (link, hellos):
        reason = await ran(link)

    assert "finished" == reason
    assert [{"type": "hello", "rate": 16_000, "take": True, "name": "me"}] * 2 == hellos


async def test_a_server_that_stays_away_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audio, "KEPT_S", 0.2)

    async def away(socket: ServerConnection) -> None:
        await socket.send(WELCOME)
        await socket.close(1011)

    async def gone(socket: ServerConnection) -> None:
        await socket.close(1011)

    async with scripted(away, gone) as (link, hellos):
        with pytest.raises(ServerUnreachable, match="broke the connection off"):
            await ran(link)

    assert 2 == len(hellos)


async def test_every_message_is_answered_as_the_protocol_has_it() -> None:
    told: list[dict[str, Any]] = []

    async def order(socket: ServerConnection) -> None:
        await socket.send(WELCOME)
        await socket.send(json.dumps({"type": "ping", "n": 7, "at": 1.0}))
        await socket.send(json.dumps({"type": "something new"}))
        await socket.send(encode(Play(3, 100, np.full(3200, 0.5, np.float32), False), 0))
        while not told or told[-1].get("state") != "playing":
            told.append(json.loads(await socket.recv()))
        await socket.send(json.dumps({"type": "pause", "reply": 3, "ramp_s": 0.03}))
        while told[-1].get("state") != "paused":
            told.append(json.loads(await socket.recv()))
        await socket.send(json.dumps({"type": "stop", "reply": 3}))
        while told[-1].get("state") != "stopped":
            told.append(json.loads(await socket.recv()))
        await socket.send(ENDED)

    async with scripted(order) as (link, _):
        reason = await ran(link)
    played = [each for each in told if each["type"] == "played"]

    assert "finished" == reason
    assert {"type": "pong", "n": 7} == told[0]
    assert ("playing", "paused", "stopped") == (played[0]["state"], played[-2]["state"], played[-1]["state"])
    assert 420 == played[0]["sample"]
    assert played[-2]["sample"] == played[-1]["sample"]
    assert sorted(each["at"] for each in played) == [each["at"] for each in played]


@pytest.mark.parametrize("frame", ["no JSON", b"\x01", json.dumps([1])])
async def test_what_is_no_frame_of_the_protocol_ends_it(frame: str | bytes) -> None:
    async def odd(socket: ServerConnection) -> None:
        await socket.send(frame)
        await socket.wait_closed()

    async with scripted(odd) as (link, _):
        with pytest.raises(ServerError, match="another form"):
            await ran(link)
