"""A client's microphone and loudspeaker at a real server: whole turns, barge-in, coming back, and who is refused."""

import json
import math
import struct
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import numpy as np
import pytest
from starlette.applications import Starlette
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from discussion_helper.app import open_talk
from discussion_helper.audio.files import load
from discussion_helper.audio.frames import Samples, silence
from discussion_helper.errors import ModelMissing
from discussion_helper.settings import Settings
from discussion_helper.testing import EchoResponder
from discussion_helper.testing.remote import fake_remote_talk
from discussion_helper.testing.room.recognisers import KnownSound, MatchingRecogniser
from discussion_helper.testing.room.synthesisers import speech_like
from discussion_helper.voice.devices import remote_devices
from discussion_helper.voice.remote_link import RemoteLink
from discussion_helper.voice.remote_talk import RemoteTalk, remote_talk
from discussion_helper.web import Limits, Wish
from discussion_helper.web.audio_wire import MOST_BYTES, SUBPROTOCOL
from discussion_helper.web.security import HEADERS

pytestmark = pytest.mark.anyio

AppOf = Callable[..., Starlette]
Serving = Callable[..., Any]
AUDIO = Path(__file__).parents[2] / "audio"
RATE = 16_000
BLOCK = RATE // 50
SLOW_MACHINE_S = 20.0
TOKEN = "a-token-for-tests"
LONG = "one two three four five six seven eight nine ten eleven twelve"


class Peer:
    """A client whose microphone and loudspeaker run in real time."""

    def __init__(self, socket: ClientConnection) -> None:
        self.socket = socket
        self.told: list[dict[str, Any]] = []
        self.told_at_s: dict[str, float] = {}
        self.buffer: dict[int, list[float]] = {}
        self.played: dict[int, int] = {}
        self.heard: list[tuple[int, int]] = []
        """Reply and index of every sample that was played."""
        self.paused = self.stopped = 0
        self.late: list[int] = []
        """Samples of dead replies."""
        self.mouth: Samples = silence(0.0, RATE)
        self._said = 0
        self._noise = np.random.default_rng(7)
        self._news = anyio.Event()
        self.code: int | None = None

    async def hello(self, **fields: Any) -> dict[str, Any]:
        await self.socket.send(json.dumps({"type": "hello", "rate": RATE, "name": "a test", **fields}))
        return dict(json.loads(await self.socket.recv()))

    async def run(self) -> None:
        """Until it is cancelled, or the connection is over."""
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._tick)
                with suppress(ConnectionClosed):
                    while True:
                        self._take(await self.socket.recv())
                tasks.cancel_scope.cancel()
        finally:
            self.code = self.socket.close_code
            self._news.set()

    def _take(self, frame: str | bytes) -> None:
        if isinstance(frame, bytes):
            _, _, _, _, reply, _, sample = struct.unpack_from("<BBHIIIQ", frame)
            if reply <= self.stopped:
                self.late.append(sample)
                return
            buffer = self.buffer.setdefault(reply, [])
            self.played.setdefault(reply, sample)
            assert sample == self.played[reply] + len(buffer)
            buffer += np.frombuffer(frame[24:], "<i2").tolist()
        else:
            told = json.loads(frame)
            if told["type"] == "ping":
                return
            self.told.append(told)
            self.told_at_s.setdefault(told["type"], time.monotonic())
            if told["type"] == "pause":
                self.paused = told["reply"]
            elif told["type"] == "resume":
                self.paused = 0
            elif told["type"] == "stop":
                self.stopped, self.paused = told["reply"], 0
                self.buffer = {reply: samples for reply, samples in self.buffer.items() if reply > self.stopped}
        self._news.set()

    async def until(self, condition: Callable[[], object], *, within_s: float = SLOW_MACHINE_S) -> None:
        with anyio.fail_after(within_s):
            while not condition():
                self._news = anyio.Event()
                await self._news.wait()

    async def _tick(self) -> None:
        """20 ms of both directions every 20 ms, as sound hardware has it."""
        began_s, number = time.monotonic(), 0
        while True:
            try:
                await self._speak()
                await self._play()
            except ConnectionClosed:
                return
            number += 1
            await anyio.sleep(max(0.0, began_s + number * 0.02 - time.monotonic()))

    async def _speak(self) -> None:
        said, self.mouth = self.mouth[:BLOCK], self.mouth[BLOCK:]
        block = np.pad(said, (0, BLOCK - len(said))) + self._noise.normal(0.0, 1e-4, BLOCK)
        head = struct.pack("<BBHIQd", 1, 0, 0, self._said, self._said * BLOCK, time.monotonic() - 0.02)
        await self.socket.send(head + (block * 32_767.0).astype("<i2").tobytes())
        self._said += 1

    async def _play(self) -> None:
        reply = next((number for number, samples in self.buffer.items() if samples), None)
        if reply is None or reply <= self.paused:
            return
        samples = self.buffer[reply]
        count = min(BLOCK, len(samples))
        del samples[:count]
        self.heard += [(reply, index) for index in range(self.played[reply], self.played[reply] + count)]
        self.played[reply] += count
        told = {"type": "played", "reply": reply, "sample": self.played[reply], "at": time.monotonic()}
        await self.socket.send(json.dumps({**told, "state": "playing"}))
        self._news.set()


def voice(number: int) -> Samples:
    """0.9 s of a voice that says something else for each number."""
    return (3.0 * speech_like(0.9, RATE, seed=number)).clip(-0.5, 0.5).astype(np.float32)


@asynccontextmanager
async def connected(url: str, session: str, **options: Any) -> AsyncIterator[Peer]:
    address = f"{url.replace('http', 'ws', 1)}/sessions/{session}/audio"
    options = {"subprotocols": [SUBPROTOCOL], "proxy": None} | options
    async with connect(address, **options) as socket:
        yield Peer(socket)


@asynccontextmanager
async def talking(peer: Peer) -> AsyncIterator[Peer]:
    """Said hello and running."""
    welcome = await peer.hello()
    assert "welcome" == welcome["type"]
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(peer.run)
        yield peer
        tasks.cancel_scope.cancel()


@pytest.fixture
def remote_app(app_of: AppOf) -> Callable[..., Starlette]:
    """An app whose remote sessions understand these turns: the first one is `voice(1)`, the second `voice(2)`."""

    def make(*heard: str, **options: Any) -> Starlette:
        def opened(wish: Wish) -> Any:
            known = [KnownSound(text, voice(number)) for number, text in enumerate(heard, 1)]
            recogniser = MatchingRecogniser(lambda: known)
            return fake_remote_talk(recogniser=recogniser, policy=wish.policy, thread=wish.thread)

        return app_of(open_remote=opened, **options)

    return make


async def opened(served: Any) -> str:
    answer = await served.client.post("/sessions", json={"transport": "remote"})
    assert 201 == answer.status_code
    return str(answer.json()["id"])


async def state_of(served: Any, session: str) -> dict[str, Any]:
    return dict((await served.client.get(f"/sessions/{session}")).json())


async def until_said(served: Any, session: str, count: int) -> list[dict[str, Any]]:
    """The utterances, once there are so many."""
    with anyio.fail_after(SLOW_MACHINE_S):
        async with served.client.stream("GET", f"/sessions/{session}/events?kinds=utterance,ended") as stream:
            state = await state_of(served, session)
            lines = stream.aiter_lines()
            while len(state["utterances"]) < count:
                await anext(lines)
                state = await state_of(served, session)
    return list(state["utterances"])


async def test_a_whole_spoken_turn(remote_app: Callable[..., Starlette], serving: Serving) -> None:
    async with serving(remote_app("hello there my friend")) as served:
        session = await opened(served)
        async with connected(served.url, session) as peer, talking(peer):
            peer.mouth = voice(1)
            user, agent = await until_said(served, session, 2)
            await peer.until(lambda: len(peer.heard) and not any(peer.buffer.values()))

    assert ("user", "hello there my friend") == (user["speaker"], user["text"])
    assert ("agent", "hello there my friend", False) == (agent["speaker"], agent["text"], agent["interrupted"])
    assert 0.8 <= user["ended_s"] - user["started_s"] <= 1.2
    assert peer.heard == [(peer.heard[0][0], index) for index in range(len(peer.heard))]
    assert 4 / 2.5 * 0.7 <= len(peer.heard) / RATE
    assert not [told for told in peer.told if told["type"] == "error"]


async def test_an_interruption_stops_the_reply_and_what_was_played_is_what_was_heard(
    remote_app: Callable[..., Starlette], serving: Serving
) -> None:
    async with serving(remote_app(LONG, "stop that now please")) as served:
        session = await opened(served)
        async with connected(served.url, session) as peer, talking(peer):
            peer.mouth = voice(1)
            await peer.until(lambda: len(peer.heard) > 1.5 * RATE)
            began_s = time.monotonic()
            await peer.socket.send(json.dumps({"type": "onset", "sample": 0}))
            peer.mouth = voice(2)
            await peer.until(lambda: peer.stopped)
            played = peer.played[peer.stopped]
            _, agent, user = await until_said(served, session, 3)

    share = played / RATE / (len(LONG.split()) / 2.5)
    assert peer.told_at_s["pause"] - began_s < 0.5  # of which 20 ms are the next block of the microphone
    assert peer.told_at_s["stop"] - began_s < 2.5  # of which the recogniser takes 0.2 s, and 0.4 s of voice come first
    assert not peer.late
    assert ("user", "stop that now please") == (user["speaker"], user["text"])
    assert (True, True) == (agent["interrupted"], 0 < len(agent["text"]) < len(LONG))
    assert len(agent["text"].split()) <= math.ceil(share * len(LONG.split())) + 1


@pytest.mark.slow
async def test_a_sound_over_the_agent_costs_nothing_of_the_reply(
    remote_app: Callable[..., Starlette], serving: Serving
) -> None:
    async with serving(remote_app("one two three four five six seven eight")) as served:
        session = await opened(served)
        async with connected(served.url, session) as peer, talking(peer):
            peer.mouth = voice(1)
            await peer.until(lambda: len(peer.heard) > RATE / 2)
            await peer.socket.send(json.dumps({"type": "onset", "sample": 0}))
            await peer.until(lambda: peer.told_at_s.get("resume"))
            _, agent = await until_said(served, session, 2)

    assert ["pause", "resume"] == [told["type"] for told in peer.told if told["type"] != "error"]
    assert (False, "one two three four five six seven eight") == (agent["interrupted"], agent["text"])
    assert peer.heard == [(peer.heard[0][0], index) for index in range(len(peer.heard))]


@pytest.mark.slow
async def test_a_reply_goes_on_after_the_connection_broke(
    remote_app: Callable[..., Starlette], serving: Serving
) -> None:
    async with serving(remote_app(LONG)) as served:
        session = await opened(served)
        async with connected(served.url, session) as peer, talking(peer):
            peer.mouth = voice(1)
            await peer.until(lambda: len(peer.heard) > RATE / 2)
            peer.socket.transport.abort()
            await peer.until(lambda: peer.code is not None)
        async with connected(served.url, session) as again, talking(again):
            _, agent = await until_said(served, session, 2)

    reply, first = again.heard[0]
    assert reply == peer.heard[0][0]
    assert len(peer.heard) - 2 * BLOCK <= first <= len(peer.heard)
    assert again.heard == [(reply, index) for index in range(first, first + len(again.heard))]
    assert (LONG, False) == (agent["text"], agent["interrupted"])


async def test_who_types_without_a_connection_reads(remote_app: Callable[..., Starlette], serving: Serving) -> None:
    async with serving(remote_app()) as served:
        session = await opened(served)
        await served.client.post(f"/sessions/{session}/say", json={"text": LONG})
        began_s = time.monotonic()
        _, agent = await until_said(served, session, 2)
        took_s = time.monotonic() - began_s
        async with connected(served.url, session) as peer, talking(peer):
            await served.client.post(f"/sessions/{session}/say", json={"text": "now aloud"})
            utterances = await until_said(served, session, 4)

    assert (LONG, False) == (agent["text"], agent["interrupted"])
    assert took_s < len(LONG.split()) / 2.5 / 2
    assert "now aloud" == utterances[-1]["text"]
    assert len(peer.heard) > RATE / 2


async def test_a_second_client_may_take_it(remote_app: Callable[..., Starlette], serving: Serving) -> None:
    async with serving(remote_app()) as served:
        session = await opened(served)
        async with connected(served.url, session) as first, connected(served.url, session) as second:
            await first.hello()
            refused = await second.hello()
            await second.socket.wait_closed()
            async with connected(served.url, session) as third:
                welcome = await third.hello(take=True)
                await first.run()
        audit = (await served.client.get("/audit")).json()

    assert ("owned", 4409, "welcome") == (refused["code"], second.socket.close_code, welcome["type"])
    assert (4001, "taken") == (first.code, first.told[-1]["type"])
    kinds = [entry["kind"] for entry in audit if entry["kind"].startswith("microphone")]
    assert (4, "microphone_opened") == (len(kinds), kinds[-1])


async def test_whatever_is_sent_the_session_lives(remote_app: Callable[..., Starlette], serving: Serving) -> None:
    async with serving(remote_app()) as served:
        session = await opened(served)
        async with connected(served.url, session) as peer:
            await peer.hello()
            for frame in (b"", b"\x01", "{", "\x00", json.dumps({"type": "hello", "rate": 8000}), bytes(MOST_BYTES)):
                await peer.socket.send(frame)
            codes = [json.loads(await peer.socket.recv())["code"] for _ in range(6)]
            await peer.socket.send(bytes(MOST_BYTES + 1))
            await peer.socket.wait_closed()
        for torn in (b"\xff\xff\xff", b"\x82\xfe\x10\x00the beginning of a frame"):
            async with connected(served.url, session) as broken:
                await broken.hello()
                broken.socket.transport.write(torn)
                broken.socket.transport.close()
        state = await state_of(served, session)
        async with connected(served.url, session) as again:
            welcome = await again.hello(take=True)

    assert (["form"] * 4 + ["order", "form"], 1009) == (codes, peer.socket.close_code)
    assert (True, "welcome") == (state["running"], welcome["type"])


async def test_who_is_refused_is_told_why(remote_app: Callable[..., Starlette], serving: Serving) -> None:
    bearer = {"Authorization": f"Bearer {TOKEN}"}
    async with serving(remote_app(token=TOKEN), headers=bearer) as served:
        session = await opened(served)
        fake = (await served.client.post("/sessions", json={"transport": "fake"})).json()["id"]
        refused: list[tuple[int, dict[str, str]]] = []
        for options, name in (
            ({"subprotocols": None}, session),
            ({}, "nobody"),
            ({}, fake),
            ({"additional_headers": {"Authorization": "Bearer wrong"}}, session),
            ({"additional_headers": bearer, "origin": "http://evil.example"}, session),
        ):
            with pytest.raises(InvalidStatus) as caught:
                async with connected(served.url, name, **({"additional_headers": bearer} | dict(options))):
                    pass
            response = caught.value.response
            assert HEADERS == {name: response.headers.get(name) for name in HEADERS}
            refused.append((response.status_code, json.loads(response.body or b"{}")))

    assert [400, 404, 409, 401, 403] == [status for status, _ in refused]
    assert all(body["error"] and body["fix"] for _, body in refused)


async def test_the_session_s_end_and_the_server_s_close_it(
    remote_app: Callable[..., Starlette], serving: Serving
) -> None:
    async with serving(remote_app()) as served:
        session, other = await opened(served), await opened(served)
        async with connected(served.url, session) as peer, connected(served.url, other) as last:
            await peer.hello()
            await last.hello()
            await served.client.delete(f"/sessions/{session}")
            await peer.run()
            with pytest.raises(InvalidStatus) as gone:
                async with connected(served.url, session):
                    pass
            began_s = time.monotonic()
            served.server.should_exit = True
            await last.run()
            took_s = time.monotonic() - began_s

    assert (1000, {"type": "ended", "reason": "stopped"}) == (peer.code, peer.told[-1])
    assert gone.value.response.status_code in (404, 409)
    assert (True, "ended") == (last.code in (1000, 1001), last.told[-1]["type"])
    assert took_s < 2.0


async def test_many_wait_at_one_session_and_no_more_than_may(
    remote_app: Callable[..., Starlette], serving: Serving
) -> None:
    async with serving(remote_app(limits=Limits(microphones=2))) as served:
        session = await opened(served)
        enter = partial(connected, served.url, session)
        async with enter(), enter():
            with pytest.raises(InvalidStatus) as refused:
                async with enter():
                    pass

    assert 503 == refused.value.response.status_code


async def test_watchers_take_no_place_of_a_microphone_and_it_takes_none_of_theirs(
    remote_app: Callable[..., Starlette], serving: Serving
) -> None:
    async with serving(remote_app(limits=Limits(watchers=1, all_watchers=1))) as served:
        session = await opened(served)
        events = f"/sessions/{session}/events"
        async with connected(served.url, session), served.client.stream("GET", events) as first:
            refused = await served.client.get(events)
            async with connected(served.url, session):
                present = served.server._app.state.live.watchers(session)

    assert (200, 503, 3) == (first.status_code, refused.status_code, present)
    assert "1 watchers follow this session, and no more may." == refused.json()["error"]


async def test_no_more_sessions_hear_clients_than_the_models_have_room_for(
    remote_app: Callable[..., Starlette], serving: Serving
) -> None:
    async with serving(remote_app(limits=Limits(remote=1))) as served:
        session = await opened(served)
        refused = await served.client.post("/sessions", json={"transport": "remote"})
        await served.client.delete(f"/sessions/{session}")
        await opened(served)

    assert (503, True) == (refused.status_code, "microphone" in refused.json()["error"])


async def test_where_a_model_is_missing_who_types_is_answered_and_who_speaks_is_told(
    app_of: AppOf, serving: Serving
) -> None:
    @asynccontextmanager
    async def without_models(_: Wish) -> AsyncIterator[RemoteTalk]:
        raise ModelMissing("The recogniser is missing.", fix="Pull it.")
        yield

    async with serving(app_of(open_remote=without_models)) as served:
        session = await opened(served)
        await served.client.post(f"/sessions/{session}/say", json={"text": "hello"})
        _, agent = await until_said(served, session, 2)
        with pytest.raises(InvalidStatus) as refused:
            async with connected(served.url, session):
                pass
    response = refused.value.response

    assert "hello" == agent["text"]
    assert 503 == response.status_code
    assert {"error": "The recogniser is missing.", "fix": "Pull it."} == json.loads(response.body or b"")


class _Verbose(EchoResponder):
    """Has much to say."""

    async def reply(self, messages: Any) -> AsyncIterator[str]:
        for number in range(1, 8):
            yield f"This is sentence number {number}, which takes a while until it is over."


@pytest.mark.models
@pytest.mark.slow
@pytest.mark.timeout(180)
async def test_a_recorded_voice_is_heard_answered_and_interrupts(app_of: AppOf, serving: Serving) -> None:
    """With the real recogniser, voice and echo path."""

    @asynccontextmanager
    async def with_models(wish: Wish) -> AsyncIterator[RemoteTalk]:
        link = RemoteLink()
        opening = open_talk(Settings(policy=wish.policy), responder=_Verbose(), devices=remote_devices(link))
        async with opening as talk, remote_talk(talk.session, link) as remote:
            yield remote

    clip = load(AUDIO / "speech" / "asterisk_en_vm-newpassword.wav", RATE).samples
    async with serving(app_of(open_remote=with_models)) as served:
        session = await opened(served)
        async with connected(served.url, session) as peer, talking(peer):
            peer.mouth = np.concatenate((silence(1.0, RATE), clip))
            await peer.until(lambda: len(peer.heard) > 2 * RATE, within_s=90.0)
            began_s = time.monotonic()
            peer.mouth = clip
            await peer.until(lambda: peer.told_at_s.get("pause"))
            down_s = time.monotonic() - began_s
            await peer.until(lambda: peer.stopped, within_s=60.0)
            stop_s = time.monotonic() - began_s
            utterances = await until_said(served, session, 2)
    print(f"\nturned down after {1000 * down_s:.0f} ms, stopped after {1000 * stop_s:.0f} ms of the clip")

    assert "password" in utterances[0]["text"].lower()
    assert utterances[1]["interrupted"]
    assert utterances[1]["text"].startswith("This is sentence number")
    assert not peer.late
