"""A session at a client's devices: its microphone follows the clients, and a reply waits for one that went away."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import numpy as np
import pytest

from discussion_helper.errors import DeviceError
from discussion_helper.session import Session
from discussion_helper.testing import EchoResponder, ScriptedListener, VirtualTimeLoop
from discussion_helper.tts.base import Speech
from discussion_helper.types import SpokenSentence
from discussion_helper.voice.marks import Marks
from discussion_helper.voice.remote_client import RemoteClient
from discussion_helper.voice.remote_link import KEPT_S, RemoteLink
from discussion_helper.voice.remote_messages import Held, Play, Progress
from discussion_helper.voice.remote_talk import RemoteTalk, remote_talk
from discussion_helper.voice.speaker import SpeakerVoice

pytestmark = pytest.mark.anyio
RATE = 8_000


@pytest.fixture
def anyio_backend() -> Any:
    return "asyncio", {"loop_factory": VirtualTimeLoop}


class Ears(ScriptedListener):
    """A listener whose microphone is a client's."""

    def __init__(self, link: RemoteLink) -> None:
        super().__init__([], stays_open=True)
        self.link = link
        self.muted: list[Any] = []
        self.is_muted = False
        self.slow_s = 0.0

    async def mute(self, on: bool) -> None:
        await anyio.sleep(self.slow_s)
        if on != self.is_muted:
            self.muted.append("closed" if on else self.link.open_source().name)
        self.is_muted = on
        if self._reporter is not None:
            self._reporter.report("device", which="microphone", state="muted" if on else "open")


class Tones:
    """A second of a constant for each sentence, at the rate of the client."""

    rate = RATE

    def __init__(self, link: RemoteLink) -> None:
        self.link = link

    async def synthesise(self, text: str) -> Speech:
        await anyio.sleep(0.1)
        rate = self.link.playback.rate
        return Speech(text, np.full(rate, 0.5, np.float32), rate)

    async def warmup(self) -> None: ...

    async def aclose(self) -> None: ...


class Rig:
    """A session on a voice that speaks through the link."""

    def __init__(self) -> None:
        self.link = RemoteLink()
        self.ears = Ears(self.link)
        self.marks = Marks(self.link.playback)
        self.voice = SpeakerVoice(
            Tones(self.link),
            self.link.playback,
            self.marks,
            close=anyio.lowlevel.checkpoint,
            is_read=lambda: self.link.is_left,
        )
        self.session = Session(self.ears, EchoResponder(), self.voice)
        self.sent: list[Any] = []
        self.talk: RemoteTalk | None = None

    def client(self, name: str = "page", rate: int = RATE) -> RemoteClient:
        return RemoteClient(name, rate, anyio.current_time(), send=self.sent.append, taken=lambda: None)

    async def attach(self, client: RemoteClient, *, take: bool = False) -> bool:
        assert self.talk is not None
        return await self.talk.attach(client, take=take)


@asynccontextmanager
async def held() -> AsyncIterator[Rig]:
    rig = Rig()
    async with remote_talk(rig.session, rig.link) as rig.talk:
        yield rig
    await rig.session.stop()


async def settled() -> None:
    await anyio.sleep(0.01)


async def test_the_microphone_is_open_while_a_client_has_its_own_open() -> None:
    async with held() as rig:
        client = rig.client()
        await rig.attach(client)
        await settled()
        rig.link.muted(client, True)
        await settled()
        rig.link.muted(client, False)
        await settled()
        rig.link.detach(client, leaves=False)
        await settled()

    assert ["closed", "page", "closed", "page", "closed"] == rig.ears.muted


async def test_what_was_muted_by_somebody_else_stays_so_when_the_client_comes_back_until_it_says_otherwise() -> None:
    async with held() as rig:
        first, second = rig.client("first"), rig.client("second")
        rig.session.start()
        await rig.attach(first)
        await settled()
        await rig.session.mute(True)
        rig.link.detach(first, leaves=False)
        await settled()
        await rig.attach(second)
        await settled()
        before = list(rig.ears.muted)
        for on in (True, False):
            rig.link.muted(second, on)
            await settled()

    assert ["closed", "first", "closed"] == before
    assert [*before, "second"] == rig.ears.muted[:4]


async def test_a_client_is_told_who_mutes_it_from_elsewhere_and_its_own_word_opens_it_again() -> None:
    async with held() as rig:
        first, second = rig.client("first"), rig.client("second")
        rig.session.start()
        await rig.attach(first)
        await settled()
        for on in (True, False, True):
            await rig.session.mute(on)
            await settled()
        told = list(rig.sent)
        await rig.attach(second, take=True)
        await settled()
        taken = (rig.link.is_held, rig.session.microphone)
        rig.link.muted(second, False)  # which it has never closed
        await settled()
        opened = (rig.link.is_held, rig.session.microphone)

    assert [Held(True), Held(False), Held(True)] == told
    assert (True, "muted") == taken
    assert (False, "open") == opened
    assert Held(False) == rig.sent[-1]


async def test_a_client_that_mutes_itself_and_one_that_takes_its_place_are_muted_by_nobody_else() -> None:
    async with held() as rig:
        first, second = rig.client("first"), rig.client("second")
        rig.session.start()
        await rig.attach(first)
        await settled()
        rig.link.muted(first, True)
        await settled()
        with pytest.raises(DeviceError):
            await rig.session.mute(False)  # who closed it opens it
        await rig.attach(second, take=True)
        await settled()
        rig.link.detach(second, leaves=False)
        await settled()

    assert [] == rig.sent
    assert ["closed", "first", "closed", "second", "closed"] == rig.ears.muted


async def test_whoever_follows_the_session_knows_whether_a_client_is_there_muted_or_not() -> None:
    async with held() as rig:
        client, seen = rig.client(), []
        rig.session.start()
        seen.append(rig.session.state.get("client"))
        await rig.attach(client)
        await settled()
        for on in (True, False):
            rig.link.muted(client, on)
            await settled()
            seen.append((rig.session.state["client"], rig.session.state["microphone"]))
        rig.link.detach(client, leaves=False)
        await settled()
        seen.append((rig.session.state["client"], rig.session.state["microphone"]))

    assert [None, ("here", "muted"), ("here", "open"), ("away", "muted")] == seen


async def test_another_client_s_microphone_is_another_one() -> None:
    async with held() as rig:
        await rig.attach(rig.client("first"))
        await settled()
        assert not await rig.attach(rig.client("second"))
        assert await rig.attach(rig.client("third"), take=True)
        await settled()

    assert ["closed", "first", "closed", "third"] == rig.ears.muted


async def test_a_client_that_is_gone_before_its_microphone_is_open_does_no_harm() -> None:
    async with held() as rig:
        rig.ears.slow_s = 1.0
        first, second = rig.client("first"), rig.client("second")
        await rig.attach(first)
        await settled()
        rig.link.detach(first, leaves=False)
        with pytest.raises(DeviceError):
            rig.link.open_source()
        await anyio.sleep(5.0)
        await rig.attach(second)
        await anyio.sleep(5.0)

    assert ["closed", "second"] == rig.ears.muted


@pytest.mark.parametrize("when", ["before anybody came", "while it was away", "while it was muted by itself"])
async def test_who_is_muted_while_no_microphone_is_open_is_not_heard_until_somebody_lifts_that(when: str) -> None:
    async with held() as rig:
        first, second = rig.client("first"), rig.client("second")
        rig.session.start()
        await settled()
        if when != "before anybody came":
            await rig.attach(first)
            await settled()
            rig.link.muted(first, when == "while it was muted by itself")
            await settled()
        if when == "while it was away":
            rig.link.detach(first, leaves=False)
            await settled()
        before = list(rig.ears.muted)
        await rig.session.mute(True)
        await rig.attach(second, take=True)
        await settled()
        held_back = (list(rig.ears.muted), rig.link.is_held, rig.session.microphone == "open")
        await rig.session.mute(False)
        await settled()

    closed = ["closed"] if before[-1:] == ["first"] else []
    assert (before + closed, True, False) == held_back
    assert [*before, *closed, "second"] == rig.ears.muted


async def test_who_mutes_and_hangs_up_before_the_microphone_is_closed_has_muted_it() -> None:
    async with held() as rig:
        rig.session.start()
        await rig.attach(rig.client("first"))
        await settled()
        rig.ears.slow_s = 1.0
        with anyio.move_on_after(0.5):
            await rig.session.mute(True)
        await anyio.sleep(5.0)
        muted, is_held = rig.ears.is_muted, rig.link.is_held

    assert (True, True) == (muted, is_held)


async def test_what_was_muted_with_nobody_there_can_be_lifted_with_nobody_there() -> None:
    async with held() as rig:
        client = rig.client()
        rig.session.start()
        for on in (True, False):
            await rig.session.mute(on)
            await settled()
        with pytest.raises(DeviceError, match="No client"):
            await rig.session.mute(False)
        await rig.attach(client)
        await settled()

    assert ["closed", client.name] == rig.ears.muted


async def test_a_reply_waits_for_a_client_that_comes_back() -> None:
    async with held() as rig, anyio.create_task_group() as tasks:
        said: list[SpokenSentence] = []

        async def speak() -> None:
            said.append(await rig.voice.speak("hello"))

        client = rig.client()
        await rig.attach(client)
        tasks.start_soon(speak)
        await anyio.sleep(0.5)
        rig.link.progressed(client, Progress(2, 800, 0.0, "playing"))
        rig.link.detach(client, leaves=False)
        await anyio.sleep(KEPT_S - 1.0)
        before = list(said)
        rig.sent.clear()
        again = rig.client()
        await rig.attach(again)
        await settled()
        first = rig.sent[0]
        while rig.link.playback.pending(2):
            sent = rig.sent[-1]
            rig.link.progressed(again, Progress(2, sent.sample + len(sent.samples), 0.0, "playing"))
            await settled()
        rig.marks.pass_all(2, rig.link.playback.position.samples, anyio.current_time())

    assert [] == before
    assert isinstance(first, Play)
    assert (2, 800) == (first.reply, first.sample)
    assert [("hello", False)] == [(sentence.text, sentence.cut) for sentence in said]


async def test_after_thirty_seconds_the_reply_is_cut_where_it_is_and_the_next_is_read() -> None:
    async with held() as rig:
        client = rig.client()
        await rig.attach(client)
        said: list[SpokenSentence] = []

        async def lose() -> None:
            await anyio.sleep(0.5)
            rig.link.progressed(client, Progress(2, 800, 0.0, "playing"))
            rig.link.detach(client, leaves=False)

        began_s = anyio.current_time()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(lose)
            said.append(await rig.voice.speak("hello"))
        took_s = anyio.current_time() - began_s
        said.append(await rig.voice.speak("and this is read"))

    assert 0.5 + KEPT_S == pytest.approx(took_s, abs=0.1)
    assert [True, False] == [sentence.cut for sentence in said]
    assert [0.1, 0.0] == [pytest.approx(sentence.played_s) for sentence in said]
    assert "and this is read" == said[1].heard


async def test_who_says_bye_in_the_middle_of_a_reply_has_it_cut_at_once() -> None:
    async with held() as rig, anyio.create_task_group() as tasks:
        client = rig.client()
        await rig.attach(client)

        async def leave() -> None:
            await anyio.sleep(0.5)
            rig.link.detach(client, leaves=True)

        tasks.start_soon(leave)
        began_s = anyio.current_time()
        said = await rig.voice.speak("hello")
        took_s = anyio.current_time() - began_s

    assert said.cut
    assert took_s < 1.0


async def test_a_client_of_another_rate_gets_replies_at_its_own() -> None:
    async with held() as rig:
        first = rig.client()
        await rig.attach(first)
        cut: list[SpokenSentence] = []

        async def speak() -> None:
            cut.append(await rig.voice.speak("hello"))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(speak)
            await anyio.sleep(0.5)
            await rig.attach(rig.client(rate=2 * RATE), take=True)
        rig.sent.clear()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(speak)
            await anyio.sleep(0.5)
            await rig.voice.stop()

    assert [True, True] == [sentence.cut for sentence in cut]
    assert 2 * RATE == rig.link.playback.rate
    assert {round(0.02 * 2 * RATE)} == {len(down.samples) for down in rig.sent if isinstance(down, Play)}


async def test_who_comes_when_all_is_over_gets_nothing() -> None:
    async with held() as rig:
        pass
    with pytest.raises(RuntimeError):
        await rig.attach(rig.client())


async def test_a_session_goes_on_for_who_types_when_the_client_stays_away() -> None:
    async with held() as rig:
        rig.session.start()
        client = rig.client()
        await rig.attach(client)
        async with rig.session.events("utterance") as events:
            await rig.session.say("is heard in part")
            await anyio.sleep(0.5)
            rig.link.progressed(client, Progress(2, 800, 0.0, "playing"))
            rig.marks.pass_all(2, 800, anyio.current_time())
            rig.link.detach(client, leaves=False)
            await anyio.sleep(KEPT_S + 1.0)
            await rig.session.say("is read")
            told = [(await anext(events)).data for _ in range(4)]

    assert ["is heard in part", True] == [told[1]["said"] or told[1]["text"], told[1]["interrupted"]]
    assert ["is read", False] == [told[3]["text"], told[3]["interrupted"]]
