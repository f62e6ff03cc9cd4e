"""A whole conversation over the reference client, at a real server."""

import math
import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import numpy as np
import pytest
from starlette.applications import Starlette

from discussion_helper.audio.frames import Samples, silence
from discussion_helper.client import Client, NotLetIn, Refused, ServerError, ServerUnreachable
from discussion_helper.client.audio import FRAME_S, AudioClient
from discussion_helper.clock import now
from discussion_helper.errors import DeviceError
from discussion_helper.testing.remote import fake_remote_talk
from discussion_helper.testing.room.recognisers import KnownSound, MatchingRecogniser
from discussion_helper.testing.room.synthesisers import speech_like
from discussion_helper.web import Wish, create_app
from discussion_helper.web.tls import tls_context

pytestmark = pytest.mark.anyio

Serving = Callable[..., Any]
TOKEN = "a-token-for-tests"
CERT, KEY = (Path(__file__).parents[1] / "web" / f"loopback-{what}.pem" for what in ("cert", "key"))
RATE = 16_000
BLOCK = RATE // 50
SLOW_MACHINE_S = 30.0
LONG = "one two three four five six seven eight nine ten eleven twelve"


def voice(number: int) -> Samples:
    """0.9 s of a voice that says something else for each number."""
    return (3.0 * speech_like(0.9, RATE, seed=number)).clip(-0.5, 0.5).astype(np.float32)


class Person:
    """Who sits at the microphone: says what is put into the mouth, and is silent."""

    def __init__(self) -> None:
        self.mouth = silence(0.0, RATE)
        self.heard: list[Samples] = []
        self.gone = anyio.Event()
        self._noise = np.random.default_rng(7)
        self._news = anyio.Event()

    async def microphone(self) -> AsyncIterator[Samples]:
        due_s = now()
        while not self.gone.is_set():
            said, self.mouth = self.mouth[:BLOCK], self.mouth[BLOCK:]
            noise = self._noise.normal(0.0, 1e-4, BLOCK).astype(np.float32)
            due_s += 0.02
            await anyio.sleep(max(0.0, due_s - now()))
            yield np.pad(said, (0, BLOCK - len(said))) + noise

    def hear(self, samples: Samples) -> None:
        self.heard.append(samples)
        self._news.set()

    @property
    def heard_s(self) -> float:
        """Of sound."""
        return sum(0.02 for block in self.heard if abs(block).max() > 0)

    async def until_heard(self, seconds: float) -> None:
        while self.heard_s < seconds:
            await self.until_blocks(len(self.heard) + 1)

    async def until_silent(self) -> None:
        while abs(self.heard[-1]).max() > 0:
            await self.until_blocks(len(self.heard) + 1)

    async def until_blocks(self, count: int) -> None:
        while len(self.heard) < count:
            self._news = anyio.Event()
            await self._news.wait()


def app_of(*heard: str, **options: Any) -> Starlette:
    """Its remote sessions understand these turns: the first one is `voice(1)`, the second `voice(2)`."""

    def opened(wish: Wish) -> Any:
        known = [KnownSound(text, voice(number)) for number, text in enumerate(heard, 1)]
        return fake_remote_talk(recogniser=MatchingRecogniser(lambda: known), policy=wish.policy)

    return create_app(token=TOKEN, open_remote=opened, **options)


@asynccontextmanager
async def talking(
    client: Client, session_id: str, **options: Any
) -> AsyncIterator[tuple[AudioClient, Person, list[str]]]:
    """A client that talks, the person at it, and why it ended, once it has."""
    audio, person, reasons = AudioClient(client.link, session_id, rate=RATE, **options), Person(), list[str]()

    async def run() -> None:
        reasons.append(await audio.run(person.microphone(), person.hear))

    with anyio.fail_after(SLOW_MACHINE_S):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(run)
            await audio.connected()
            yield audio, person, reasons


async def until_said(client: Client, session_id: str, count: int) -> list[Any]:
    """The utterances, once there are so many."""
    async with client.follow(session_id) as events:
        async for _ in events:
            said = (await client.state(session_id)).utterances
            if len(said) >= count:
                return list(said)
    raise AssertionError("the session ended")


async def test_a_turn_is_spoken_and_answered_and_the_end_is_told(serving: Serving) -> None:
    async with serving(app_of("hello there my friend")) as url, Client(url, token=TOKEN) as client:
        session = await client.open(transport="remote")
        async with talking(client, session.id, name="a test") as (_, person, reasons):
            person.mouth = voice(1)
            user, agent = await until_said(client, session.id, 2)
            transcript = await client.end(session.id)

    assert ("user", "hello there my friend") == (user.speaker, user.text)
    assert ("agent", "hello there my friend", False) == (agent.speaker, agent.text, agent.interrupted)
    assert 1.0 <= person.heard_s
    assert {BLOCK} == {len(block) for block in person.heard}
    assert (["stopped"], 2) == (reasons, len(transcript.utterances))


async def test_what_a_program_cuts_falls_silent_and_what_was_played_is_what_was_heard(serving: Serving) -> None:
    async with serving(app_of()) as url, Client(url, token=TOKEN) as client:
        session = await client.open(transport="remote")
        async with talking(client, session.id) as (audio, person, _):
            await client.say(session.id, LONG)
            await person.until_heard(0.8)
            cut = await client.interrupt(session.id)
            _, agent = await until_said(client, session.id, 2)
            told_s = person.heard_s
            await person.until_silent()
            heard_s, blocks = person.heard_s, len(person.heard)
            await person.until_blocks(blocks + 5)
            await audio.leave()

    assert (True, True) == (cut, agent.interrupted)
    assert 1 <= len(agent.text.split()) <= math.ceil(heard_s * 2.5) + 1
    assert heard_s - told_s < 1.5 * FRAME_S  # the block in which it fades out may be the next one
    assert heard_s == person.heard_s  # and not a sample sounds behind it


@pytest.mark.slow
async def test_an_interruption_is_heard_at_once_and_what_was_played_is_what_was_heard(serving: Serving) -> None:
    async with serving(app_of(LONG, "stop that now please")) as url, Client(url, token=TOKEN) as client:
        session = await client.open(transport="remote")
        async with talking(client, session.id) as (audio, person, _):
            person.mouth = voice(1)
            await person.until_heard(1.5)
            await audio.onset()
            person.mouth = voice(2)
            said = await until_said(client, session.id, 3)
            await audio.leave()

    agent = next(each for each in said if each.speaker == "agent")
    assert (True, True) == (agent.interrupted, 0 < len(agent.text) < len(LONG))


@pytest.mark.slow
async def test_a_reply_goes_on_where_it_was_after_the_connection_broke(serving: Serving) -> None:
    async with serving(app_of(LONG)) as url, Client(url, token=TOKEN) as client:
        session = await client.open(transport="remote")
        async with talking(client, session.id) as (audio, person, _):
            person.mouth = voice(1)
            await person.until_heard(0.5)
            assert audio._socket is not None
            audio._socket.transport.abort()
            _, agent = await until_said(client, session.id, 2)
            await client.end(session.id)

    assert (LONG, False) == (agent.text, agent.interrupted)
    assert len(LONG.split()) / 2.5 * 0.7 <= person.heard_s <= len(LONG.split()) / 2.5 * 1.3


async def test_who_has_left_is_told_so_and_the_session_goes_on(serving: Serving) -> None:
    async with serving(app_of()) as url, Client(url, token=TOKEN) as client:
        session = await client.open(transport="remote")
        async with talking(client, session.id) as (audio, person, reasons):
            await client.say(session.id, "now aloud")
            await person.until_heard(0.1)
            await audio.mute(True)
            await audio.mute(False)
            await audio.leave()
        state = await client.state(session.id)

    assert (["left"], True) == (reasons, state.running)


async def test_who_is_muted_by_somebody_else_knows_it_and_is_heard_again_when_it_says_so(serving: Serving) -> None:
    async with serving(app_of("Good morning")) as url, Client(url, token=TOKEN) as client:
        session = await client.open(transport="remote")
        async with talking(client, session.id) as (audio, person, _):
            known = [audio.muted]
            for on in (True, False, True):
                await client.mute(session.id, on)
                while audio.muted != on:
                    await person.until_blocks(len(person.heard) + 1)
                known.append(audio.muted)
            sent = audio._seq
            await person.until_blocks(len(person.heard) + 5)
            known.append(audio._seq != sent)  # nothing leaves the program meanwhile
            await audio.mute(False)
            known.append(audio.muted)
            person.mouth = voice(1)
            said = await until_said(client, session.id, 1)
            await audio.leave()

    assert [False, True, False, True, False, False] == known
    assert "user" == said[0].speaker


async def test_what_is_opened_again_without_a_connection_is_open_when_it_is_back(serving: Serving) -> None:
    async with serving(app_of("Good morning")) as url, Client(url, token=TOKEN) as client:
        session = await client.open(transport="remote")
        async with talking(client, session.id) as (audio, person, _):
            await client.mute(session.id, True)
            while not audio.muted:
                await person.until_blocks(len(person.heard) + 1)
            assert audio._socket is not None
            audio._socket.transport.abort()
            while audio._socket is not None:
                await person.until_blocks(len(person.heard) + 1)
            await audio.mute(False)
            await audio.connected()
            person.mouth = voice(1)
            said = await until_said(client, session.id, 1)
            muted = audio.muted
            await audio.leave()

    assert ("user", False) == (said[0].speaker, muted)


async def test_who_is_cancelled_leaves_the_place_to_others_at_once(serving: Serving) -> None:
    async with serving(app_of()) as url, Client(url, token=TOKEN) as client:
        session = await client.open(transport="remote")
        first, second = (AudioClient(client.link, session.id, rate=RATE) for _ in range(2))
        with anyio.fail_after(SLOW_MACHINE_S):
            for audio in (first, second):
                async with anyio.create_task_group() as tasks:
                    tasks.start_soon(audio.run, Person().microphone(), lambda _: None)
                    await audio.connected()
                    tasks.cancel_scope.cancel()


async def test_a_microphone_that_ends_is_closed_and_the_loudspeaker_goes_on(serving: Serving) -> None:
    async with serving(app_of()) as url, Client(url, token=TOKEN) as client:
        session = await client.open(transport="remote")
        async with talking(client, session.id) as (audio, person, _):
            person.gone.set()
            await client.say(session.id, "one two three")
            await person.until_heard(0.5)
            assert audio._is_muted
            await audio.leave()


async def lost(client: Client, session_id: str, act: Callable[[], Any]) -> ServerError:
    """What a client that is connected ends with after `act`."""
    audio, person, errors = AudioClient(client.link, session_id, rate=RATE), Person(), list[ServerError]()

    async def run() -> None:
        try:
            await audio.run(person.microphone(), person.hear)
        except ServerError as error:
            errors.append(error)

    with anyio.fail_after(SLOW_MACHINE_S):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(run)
            await audio.connected()
            await client.say(session_id, LONG)
            await person.until_heard(0.1)
            await act()
    return errors[0]


async def test_a_second_client_is_refused_and_may_take_it(serving: Serving) -> None:
    async with serving(app_of()) as url, Client(url, token=TOKEN) as client:
        session = await client.open(transport="remote")

        async def others() -> None:
            with pytest.raises(ServerError, match="take=True"):
                await AudioClient(client.link, session.id, rate=RATE).run(Person().microphone(), lambda _: None)
            async with talking(client, session.id, take=True) as (audio, person, _):
                await person.until_heard(0.1)  # what was left of the reply
                await audio.leave()

        error = await lost(client, session.id, others)

    assert "Another client has taken the microphone. Take it back with take=True." == str(error)


async def test_what_cannot_be_is_told_with_the_fix(serving: Serving) -> None:
    person = Person()
    async with serving(app_of()) as url, Client(url, token=TOKEN) as client:
        fake, remote = await client.open(transport="fake"), await client.open(transport="remote")
        with pytest.raises(Refused) as gone:
            await AudioClient(client.link, "nobody").run(person.microphone(), person.hear)
        with pytest.raises(Refused) as place:
            await AudioClient(client.link, fake.id).run(person.microphone(), person.hear)
        with pytest.raises(ServerError, match="rate: "):
            await AudioClient(client.link, remote.id, rate=1).run(person.microphone(), person.hear)
        async with Client(url, token="another") as stranger:
            with pytest.raises(NotLetIn, match="printed last"):
                await AudioClient(stranger.link, remote.id).run(person.microphone(), person.hear)
    with pytest.raises(ServerUnreachable, match="cannot be reached"):
        await AudioClient(client.link, remote.id).run(person.microphone(), person.hear)

    assert [404, 409] == [refused.value.status for refused in (gone, place)]
    assert '"transport": "remote"' in place.value.fix


async def test_a_rotated_token_and_a_server_that_stops_end_it(serving: Serving) -> None:
    app = app_of()
    async with serving(app) as url, Client(url, token=TOKEN) as client:
        session = await client.open(transport="remote")
        tokens: list[str] = []

        async def rotate() -> None:
            tokens.append(app.state.door.keys.rotate())

        async def stop() -> None:
            app.state.live.close()

        rotated = await lost(client, session.id, rotate)
        async with Client(url, token=tokens[0]) as again:
            stopped = await lost(again, (await again.open(transport="remote")).id, stop)

    assert isinstance(rotated, NotLetIn)
    assert "The server stops. Come back when it runs again." == str(stopped)


async def test_what_the_microphone_fails_with_ends_it(serving: Serving) -> None:
    async def broken() -> AsyncIterator[Samples]:
        yield silence(0.02, RATE)
        raise DeviceError("The microphone was pulled out.", fix="Plug it in.")

    async with serving(app_of()) as url, Client(url, token=TOKEN) as client:
        session = await client.open(transport="remote")
        with pytest.raises(DeviceError, match="pulled out"):
            await AudioClient(client.link, session.id, rate=RATE).run(broken(), lambda _: None)
        state = await client.state(session.id)

    assert state.running


async def test_it_talks_over_tls(serving: Serving) -> None:
    trusted = ssl.create_default_context(cafile=CERT)
    async with serving(app_of(), tls=tls_context(CERT, KEY)) as url, Client(url, token=TOKEN, tls=trusted) as client:
        session = await client.open(transport="remote")
        with pytest.raises(ServerUnreachable, match="cannot be reached"):
            await AudioClient(client.link, session.id, rate=RATE).run(Person().microphone(), lambda _: None)
        async with talking(client, session.id, tls=trusted) as (audio, person, _):
            await client.say(session.id, "aloud")
            await person.until_heard(0.1)
            await audio.leave()


async def test_who_has_left_does_not_come_back(serving: Serving) -> None:
    """Before the first connection, or while there is none, there is nobody to say it to."""
    async with serving(app_of()) as url, Client(url, token=TOKEN) as client:
        session = await client.open(transport="remote")
        audio, person = AudioClient(client.link, session.id, rate=RATE), Person()
        await audio.leave()
        with anyio.fail_after(SLOW_MACHINE_S):
            assert "left" == await audio.run(person.microphone(), person.hear)
