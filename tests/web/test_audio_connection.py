"""One connection of a client, in virtual time: hello, who has the place, and what ends it."""

import json
import struct
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from starlette.websockets import WebSocket

from discussion_helper.session import Session
from discussion_helper.testing import EchoResponder, ScriptedListener, SilentVoice, VirtualTimeLoop
from discussion_helper.voice.remote_link import RemoteLink
from discussion_helper.voice.remote_playback import FRAME_S, LEAD_S
from discussion_helper.voice.remote_talk import RemoteTalk
from discussion_helper.waiters import Waiters
from discussion_helper.web.audio_connection import DEAD_S, HELLO_S, PING_S, WRONG, AudioConnection
from discussion_helper.web.audio_line import QUEUED, SLOW_S
from discussion_helper.web.audit import Audit
from discussion_helper.web.limits import Limits
from discussion_helper.web.live import Live

pytestmark = pytest.mark.anyio
RATE = 8_000


@pytest.fixture
def anyio_backend() -> Any:
    return "asyncio", {"loop_factory": VirtualTimeLoop}


class Peer:
    """The other end of a socket."""

    def __init__(self) -> None:
        self._up: deque[dict[str, Any]] = deque()
        self._more = Waiters()
        self.down: list[dict[str, Any]] = []
        self.reads = anyio.Event()
        self.reads.set()
        self.news = anyio.Event()
        self.closed_at_s = -1.0

    @property
    def socket(self) -> WebSocket:
        scope = {"type": "websocket", "headers": [(b"user-agent", b"a test")], "client": ("10.0.0.1", 5)}
        return WebSocket(scope, self._receive, self._send)

    def put(self, message: dict[str, Any]) -> None:
        self._up.append(message)
        self._more.wake()

    async def _receive(self) -> dict[str, Any]:
        while not self._up:
            await self._more.wait()
        return self._up.popleft()

    async def _send(self, message: Any) -> None:
        await self.reads.wait()
        if message["type"] == "websocket.close":
            self.closed_at_s = anyio.current_time()
        self.down.append(dict(message))
        self.news.set()

    def connect(self) -> None:
        self.put({"type": "websocket.connect"})

    def say(self, **fields: Any) -> None:
        self.put({"type": "websocket.receive", "text": json.dumps(fields)})

    def sound(self, sample: int = 0) -> None:
        data = struct.pack("<BBHIQd", 1, 0, 0, 0, sample, 0.0) + bytes(2 * 160)
        self.put({"type": "websocket.receive", "bytes": data})

    def leave(self) -> None:
        self.put({"type": "websocket.disconnect", "code": 1006})

    @property
    def told(self) -> list[dict[str, Any]]:
        """Messages, without pings."""
        texts = [json.loads(message["text"]) for message in self.down if message.get("text")]
        return [text for text in texts if text["type"] != "ping"]

    @property
    def code(self) -> int | None:
        return next((message["code"] for message in self.down if message["type"] == "websocket.close"), None)

    async def until(self, condition: Callable[[], object]) -> None:
        while not condition():
            self.news = anyio.Event()
            await self.news.wait()


class Place:
    """A session, and connections to it."""

    def __init__(self, tasks: Any) -> None:
        self.session = Session(ScriptedListener([], stays_open=True), EchoResponder(), SilentVoice())
        self.link, self.live, self.audit = RemoteLink(), Live(Limits()), Audit()
        self.talk = RemoteTalk(self.session, self.link)
        self._tasks = tasks

    async def connection(self) -> Peer:
        peer = Peer()
        peer.connect()
        socket = peer.socket
        await socket.accept()
        self._tasks.start_soon(AudioConnection(socket, self.talk, self.live, self.audit).run)
        return peer

    async def left(self) -> None:
        """Nobody has it."""
        while self.link.owner is not None:
            await self.link.changed()

    async def client(self, *, rate: int = RATE, **fields: Any) -> Peer:
        peer = await self.connection()
        peer.say(type="hello", rate=rate, **fields)
        await peer.until(lambda: peer.told)
        return peer


@asynccontextmanager
async def placed() -> AsyncIterator[Place]:
    async with anyio.create_task_group() as tasks:
        place = Place(tasks)
        place.session.start()
        yield place
        await place.session.stop()
        place.link.close()
        tasks.cancel_scope.cancel()


async def closed(peer: Peer) -> int:
    await peer.until(lambda: peer.code is not None)
    assert peer.code is not None
    return peer.code


async def test_who_says_hello_is_welcome_and_on_record() -> None:
    async with placed() as place:
        peer = await place.client(name="Chrome")
        (welcome,) = peer.told
        peer.say(type="bye")
        code = await closed(peer)

    assert ("welcome", place.session.id, RATE, 0, LEAD_S) == tuple(
        welcome[name] for name in ("type", "session", "rate", "reply", "lead_s")
    )
    assert (1000, None, True) == (code, place.link.owner, place.link.is_left)
    assert ["microphone_closed", "microphone_opened"] == [entry["kind"] for entry in place.audit.entries]
    assert {"remote 10.0.0.1 a test Chrome"} == {
        f"{entry['where']} {entry['by']} {entry['name']}" for entry in place.audit.entries
    }


async def test_who_says_no_hello_is_closed() -> None:
    async with placed() as place:
        began_s = anyio.current_time()
        peer = await place.connection()
        peer.say(type="bye")
        code = await closed(peer)

    assert (4010, ["error"]) == (code, [told["type"] for told in peer.told])
    assert HELLO_S == pytest.approx(peer.closed_at_s - began_s)


async def test_a_wrong_hello_can_be_said_again() -> None:
    async with placed() as place:
        peer = await place.connection()
        peer.say(type="hello", rate=1)
        peer.say(type="hello", rate=RATE)
        await peer.until(lambda: len(peer.told) == 2)

    assert ["error", "welcome"] == [told["type"] for told in peer.told[:2]]
    assert peer.told[0]["code"] == "field"


async def test_the_second_client_is_refused_and_may_take_it() -> None:
    async with placed() as place:
        first = await place.client()
        second = await place.client()
        refused = await closed(second)
        third = await place.client(take=True)
        lost = await closed(first)
        owner = place.link.owner

    assert (4409, ["owned"]) == (refused, [told["code"] for told in second.told])
    assert (4001, ["welcome", "taken"]) == (lost, [told["type"] for told in first.told])
    assert "welcome" == third.told[0]["type"]
    assert owner is not None


async def test_an_owner_of_whom_nothing_is_heard_is_released_within_ten_seconds() -> None:
    async with placed() as place:
        began_s = anyio.current_time()
        peer = await place.client()
        code = await closed(peer)
        other = await place.client()

    assert (4008, "welcome") == (code, other.told[0]["type"])
    assert DEAD_S <= peer.closed_at_s - began_s <= 10.0


async def test_an_owner_that_answers_pings_lives() -> None:
    async with placed() as place:
        peer = await place.client()
        for number in range(20):
            await anyio.sleep(PING_S)
            peer.say(type="pong", n=number)

    assert [1000] == [message["code"] for message in peer.down if message["type"] == "websocket.close"]
    assert 15 <= sum('"ping"' in message.get("text", "") for message in peer.down)


async def test_a_client_that_plays_nothing_of_what_it_has_is_dead() -> None:
    async with placed() as place:
        peer = await place.client()
        place.link.playback.write(1, np.full(RATE, 0.5, np.float32))
        for number in range(12):
            await anyio.sleep(1.0)
            if peer.code is None:
                peer.say(type="pong", n=number)

    assert 4008 == peer.code


async def test_a_client_that_tells_for_ever_of_the_same_place_is_dead() -> None:
    async with placed() as place:
        peer = await place.client()
        began_s = anyio.current_time()
        place.link.playback.write(1, np.full(RATE, 0.5, np.float32))
        for _ in range(120):
            await anyio.sleep(0.1)
            if peer.code is None:
                peer.say(type="played", reply=1, sample=0, at=anyio.current_time(), state="playing")

    assert 4008 == peer.code
    assert DEAD_S <= peer.closed_at_s - began_s <= 10.0


async def test_a_reply_that_was_paused_for_long_and_cut_leaves_its_client_the_time_of_the_next() -> None:
    async with placed() as place:
        peer, playback = await place.client(), place.link.playback
        playback.write(1, np.full(RATE, 0.5, np.float32))
        playback.pause(1)
        playback.write(2, np.full(RATE, 0.5, np.float32))
        for number in range(30):
            await anyio.sleep(1.0)
            peer.say(type="pong", n=number)
        playback.halt(1)
        await anyio.sleep(PING_S)
        left = peer.code

    assert left is None


async def test_sound_goes_down_in_frames_of_20_ms_with_their_numbers() -> None:
    ahead = round(LEAD_S / FRAME_S)
    async with placed() as place:
        peer = await place.client()
        place.link.playback.write(1, np.full(RATE, 0.5, np.float32))
        await peer.until(lambda: sum("bytes" in message for message in peer.down) == ahead)
        peer.say(type="played", reply=1, sample=160, at=1.0, state="playing")
        await peer.until(lambda: sum("bytes" in message for message in peer.down) == ahead + 1)

    headers = [struct.unpack_from("<BBHIIIQ", message["bytes"]) for message in peer.down if "bytes" in message]
    assert [(2, 0, 0, number, 1, 0, 160 * number) for number in range(ahead + 1)] == headers


async def test_a_reader_that_is_too_slow_is_closed_and_the_session_lives() -> None:
    async with placed() as place:
        peer = await place.client()
        began_s = anyio.current_time()
        peer.reads = anyio.Event()
        place.link.playback.write(1, np.full(RATE, 0.5, np.float32))
        await place.left()
        took_s = anyio.current_time() - began_s
        running = not place.session.ended

    assert running
    assert SLOW_S <= took_s <= SLOW_S + 1.0


async def test_what_waits_for_a_slow_reader_is_bounded() -> None:
    async with placed() as place:
        peer = await place.client()
        peer.reads = anyio.Event()
        for _ in range(QUEUED + 10):
            place.link.playback.pause(1)
            place.link.playback.resume()
        for _ in range(5):
            await anyio.lowlevel.checkpoint()

        assert place.link.owner is None


async def test_wrong_frames_are_told_of_and_too_many_close_it() -> None:
    async with placed() as place:
        peer = await place.client()
        for _ in range(WRONG - 1):
            peer.say(type="sing")
        await peer.until(lambda: len(peer.told) == WRONG)
        peer.say(type="pong", n=0)
        for _ in range(WRONG):
            peer.say(type="played", reply=9, sample=1, at=0.0)
        code = await closed(peer)
        running = not place.session.ended
        await place.client()

    errors = [told["code"] for told in peer.told if told["type"] == "error"]
    assert (4003, True) == (code, running)
    assert ["form"] * (WRONG - 1) == errors[: WRONG - 1]
    assert {"order"} == set(errors[WRONG - 1 :])


NUMBERS = st.sampled_from([0, 1, 2, 159, 160, 320, 10**6, 2**40]) | st.integers(-1, 2**60)
FRAMES = st.one_of(
    st.builds(
        lambda kind, reply, sample: {"type": kind, "reply": reply, "sample": sample, "at": 1.0, "n": sample},
        *(st.sampled_from(["hello", "onset", "played", "pong", "mute", "sing", "bye"]), NUMBERS, NUMBERS),
    ),
    st.builds(lambda on: {"type": "mute", "on": on}, st.booleans()),
    st.builds(lambda sample: {"sound": sample}, st.integers(0, 2**52)),
    st.builds(lambda data: {"bytes": data}, st.binary(max_size=400)),
    st.builds(lambda text: {"text": text}, st.text(max_size=50)),
    st.sampled_from([{"server": name} for name in ("write", "pause", "resume", "halt")]),
)


@given(frames=st.lists(FRAMES, max_size=60))
@settings(max_examples=60)
def test_whatever_a_client_sends_in_whatever_order_the_session_lives(frames: list[dict[str, Any]]) -> None:
    async def run() -> None:
        async with placed() as place:
            peer = await place.client()
            for number, frame in enumerate(frames):
                act(place, peer, number, frame)
                await anyio.lowlevel.checkpoint()
            await anyio.sleep(0.1)
            again = await place.client(take=True)
            assert "welcome" == again.told[0]["type"]
            assert {told["type"] for told in peer.told} <= {"welcome", "error", "pause", "resume", "stop", "taken"}
            assert not place.session.ended

    anyio.run(run, backend="asyncio", backend_options={"loop_factory": VirtualTimeLoop})


def act(place: Place, peer: Peer, number: int, frame: dict[str, Any]) -> None:
    playback = place.link.playback
    match frame:
        case {"sound": sample}:
            peer.sound(sample)
        case {"bytes": _} | {"text": _}:
            peer.put({"type": "websocket.receive", **frame})
        case {"server": "write"} if playback.room > RATE:
            playback.write(number, np.full(RATE // 4, 0.5, np.float32))
        case {"server": "pause"}:
            playback.pause(number)
        case {"server": "resume"}:
            playback.resume()
        case {"server": "halt"}:
            playback.halt(number)
        case {"type": _}:
            peer.say(**frame)


async def test_a_connection_that_breaks_keeps_its_place_for_who_comes_back() -> None:
    async with placed() as place:
        peer = await place.client()
        place.link.playback.write(1, np.full(RATE, 0.5, np.float32))
        peer.say(type="played", reply=1, sample=0, at=0.0)
        await peer.until(lambda: any("bytes" in message for message in peer.down))
        peer.say(type="played", reply=1, sample=200, at=0.0)
        peer.leave()
        await place.left()
        left = place.link.is_left
        again = await place.client()
        await again.until(lambda: any("bytes" in message for message in again.down))

    first = next(message["bytes"] for message in again.down if "bytes" in message)
    assert (False, None) == (left, peer.code)
    assert (1, 200) == (again.told[0]["reply"], struct.unpack_from("<BBHIIIQ", first)[6])


async def test_a_client_with_another_rate_ends_the_reply_and_gets_the_next() -> None:
    async with placed() as place:
        peer = await place.client()
        place.link.playback.write(1, np.full(RATE, 0.5, np.float32))

        async def halt() -> None:  # as a voice does that speaks through it
            place.link.playback.halt(1)
            await anyio.lowlevel.checkpoint()

        place.session.discussion.voice.stop = halt  # type: ignore[method-assign]
        other = await place.client(rate=16_000, take=True)
        place.link.playback.write(2, np.full(160, 0.5, np.float32))
        await other.until(lambda: any("bytes" in message for message in other.down))

    assert (16_000, 4001) == (other.told[0]["rate"], peer.code)


async def test_the_session_s_end_is_told() -> None:
    async with placed() as place:
        peer = await place.client()
        await place.session.stop()
        code = await closed(peer)

    assert (1000, {"type": "ended", "reason": "stopped"}) == (code, peer.told[-1])


async def test_the_server_s_end_closes_it() -> None:
    async with placed() as place:
        peer = await place.client()
        place.live.close()

        assert 1001 == await closed(peer)


async def test_who_mutes_a_client_from_elsewhere_is_on_record_and_the_same_is_not_told_twice() -> None:
    async with placed() as place:
        peer = await place.client(name="Chrome")
        for on in (True, True, False, True):
            place.audit.muted(place.session.id, on, "10.0.0.9 another")
        place.audit.muted("another session", True, "10.0.0.9 another")
        peer.say(type="bye")
        await closed(peer)
        await place.left()
        place.audit.muted(place.session.id, False, "10.0.0.9 another")

    told = [(entry["kind"].removeprefix("microphone_"), entry["by"]) for entry in reversed(place.audit.entries)]
    other = "10.0.0.9 another"
    assert [("opened", "10.0.0.1 a test"), ("closed", other), ("opened", other), ("closed", other)] == told
    assert {"Chrome"} == {entry["name"] for entry in place.audit.entries}


async def test_who_comes_to_a_session_that_somebody_muted_is_told_and_no_microphone_is_on_record_as_open() -> None:
    async with placed() as place:
        first = await place.client()
        place.link.hold(True)
        second = await place.client(take=True)
        await closed(first)
        kinds = [entry["kind"] for entry in place.audit.entries]
        second.say(type="mute", on=False)
        place.link.hold(False)
        await second.until(lambda: len(second.told) == 2)

    assert [False, True] == [peer.told[0]["muted"] for peer in (first, second)]
    assert [{"type": "muted", "on": True}] == [told for told in first.told if told["type"] == "muted"]
    assert {"type": "muted", "on": False} == second.told[1]
    assert ["microphone_closed", "microphone_opened"] == kinds
    assert "microphone_opened" in [entry["kind"] for entry in place.audit.entries][: -len(kinds)]


async def test_mute_closes_the_microphone_and_is_on_record() -> None:
    async with placed() as place:
        peer = await place.client()
        peer.say(type="mute", on=True)
        peer.say(type="mute", on=True)
        peer.say(type="pong", n=1)
        await anyio.sleep(0.1)
        muted = place.link.microphone_of
        peer.say(type="mute", on=False)
        await anyio.sleep(0.1)

        assert (None, place.link.owner) == (muted, place.link.microphone_of)
        assert ["microphone_opened", "microphone_closed", "microphone_opened"] == [
            entry["kind"] for entry in place.audit.entries
        ]
