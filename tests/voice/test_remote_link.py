"""The place of a client in a session: one owner, its sound in order, and how long one who went away is waited for."""

import math
from dataclasses import dataclass, field
from typing import Any

import anyio
import numpy as np
import pytest

from discussion_helper.audio.inbox import Call, Captured, Item
from discussion_helper.errors import DeviceError
from discussion_helper.testing import VirtualTimeLoop
from discussion_helper.voice.audio_work import AudioWork
from discussion_helper.voice.remote_client import SLACK_S, RemoteClient
from discussion_helper.voice.remote_link import KEPT_S, RemoteLink
from discussion_helper.voice.remote_messages import FrameError, Pause, Play, Progress, Sound, Stop

pytestmark = pytest.mark.anyio
RATE = 8_000
BLOCK = 160


@pytest.fixture
def anyio_backend() -> Any:
    return "asyncio", {"loop_factory": VirtualTimeLoop}


@dataclass
class Peer:
    """A client and what it was sent."""

    name: str = "page"
    rate: int = RATE
    sent: list[Any] = field(default_factory=list)
    losses: int = 0

    def __post_init__(self) -> None:
        self.client = RemoteClient(self.name, self.rate, anyio.current_time(), send=self.sent.append, taken=self._lose)

    def _lose(self) -> None:
        self.losses += 1


def sound(sample: int, at: float = 0.0, seq: int = 0) -> Sound:
    return Sound(seq, sample, at, np.full(BLOCK, 0.25, np.float32))


async def settled() -> None:
    for _ in range(5):
        await anyio.lowlevel.checkpoint()


def items(link: RemoteLink) -> list[Item]:
    found: list[Item] = []
    while link.inbox.waiting:
        item = link.inbox.get()
        assert isinstance(item, Captured | Call)
        found.append(item)
    return found


async def test_what_a_client_hears_is_the_microphone_of_the_session() -> None:
    link, peer = RemoteLink(), Peer(name="Chrome", rate=RATE)
    link.attach(peer.client)
    source = link.open_source()
    await anyio.sleep(1.0)
    for number in range(2):
        link.heard(peer.client, sound(1_000 + number * BLOCK, at=500.0 + number * 0.02))
        await anyio.sleep(0.02)

    first, second = items(link)

    assert ("Chrome", RATE) == (source.name, source.rate)
    assert isinstance(first, Captured)
    assert isinstance(second, Captured)
    assert [0, BLOCK] == [first.frame.start, second.frame.start]
    assert second.at_s - first.at_s == pytest.approx(0.02)
    assert first.at_s == pytest.approx(anyio.current_time() - 0.06)


async def test_lost_sound_is_a_gap() -> None:
    link, peer = RemoteLink(), Peer()
    link.attach(peer.client)
    link.open_source()
    for sample in (0, 3 * BLOCK):
        link.heard(peer.client, sound(sample))

    assert [0, 3 * BLOCK] == [item.frame.start for item in items(link) if isinstance(item, Captured)]


@pytest.mark.parametrize(
    ("sample", "code"), [(0, "order"), (BLOCK - 1, "order"), (round((SLACK_S + 1.0) * RATE), "late"), (2**52, "late")]
)
async def test_sound_that_cannot_be_is_thrown_away(sample: int, code: str) -> None:
    link, peer = RemoteLink(), Peer()
    link.attach(peer.client)
    link.open_source()
    link.heard(peer.client, sound(0))
    with pytest.raises(FrameError) as refused:
        link.heard(peer.client, sound(sample))
    link.heard(peer.client, sound(BLOCK))

    assert code == refused.value.code
    assert len(items(link)) == 2


async def test_a_microphone_that_is_closed_gives_nothing() -> None:
    link, peer = RemoteLink(), Peer()
    link.attach(peer.client)
    link.heard(peer.client, sound(0))
    source = link.open_source()
    source.close()
    source.close()
    link.heard(peer.client, sound(BLOCK))

    assert (0, 0) == (link.inbox.waiting, source.overflows)


async def test_without_a_client_there_is_no_microphone() -> None:
    link, peer = RemoteLink(), Peer()
    with pytest.raises(DeviceError):
        link.open_source()
    link.attach(peer.client)
    link.muted(peer.client, True)
    with pytest.raises(DeviceError):
        link.open_source()
    link.muted(peer.client, False)

    assert RATE == link.open_source().rate


async def test_who_takes_it_has_it_alone() -> None:
    link, first, second = RemoteLink(), Peer(name="first"), Peer(name="second")
    link.attach(first.client)
    link.open_source()
    link.playback.write(1, np.full(BLOCK, 0.5, np.float32))
    await settled()
    link.attach(second.client)
    await settled()
    link.open_source()
    before = len(first.sent)
    link.heard(first.client, sound(0))
    link.progressed(first.client, Progress(1, BLOCK, 0.0, "playing"))
    link.playback.pause(1)
    link.detach(first.client, leaves=True)
    await settled()

    assert (1, 0, before) == (first.losses, second.losses, len(first.sent))
    assert (link.owner, 0, 0) == (second.client, link.inbox.waiting, link.playback.position.samples)
    assert [Play, Pause] == [type(down) for down in second.sent]


async def test_the_last_samples_told_of_count() -> None:
    link, peer = RemoteLink(), Peer()
    link.attach(peer.client)
    link.playback.write(3, np.full(2 * BLOCK, 0.5, np.float32))
    link.progressed(peer.client, Progress(3, BLOCK, 12.0, "playing"))

    assert (3, BLOCK) == (link.playback.position.generation, link.playback.position.samples)


async def test_what_was_to_be_sent_to_who_is_gone_is_not() -> None:
    link, peer = RemoteLink(), Peer()
    link.attach(peer.client)
    link.playback.write(1, np.full(BLOCK, 0.5, np.float32))
    link.detach(peer.client, leaves=False)
    await settled()

    assert not peer.sent


async def test_who_went_away_is_waited_for_thirty_seconds() -> None:
    link, peer = RemoteLink(), Peer()
    never = link.is_left, link.patience_s
    link.attach(peer.client)
    there = link.is_left, link.patience_s
    link.detach(peer.client, leaves=False)
    away = link.is_left, link.patience_s
    await anyio.sleep(KEPT_S)

    assert (True, math.inf) == never == (link.is_left, link.patience_s)
    assert ((False, math.inf), (False, KEPT_S)) == (there, away)


async def test_who_says_bye_is_not_waited_for() -> None:
    link, peer = RemoteLink(), Peer()
    link.attach(peer.client)
    link.detach(peer.client, leaves=True)

    assert link.is_left


async def test_a_voice_that_the_client_hears_goes_to_the_audio_thread() -> None:
    link, peer, asked = RemoteLink(), Peer(), []
    work = AudioWork(noted=print, lost=print, failed=print)
    work.prompt = lambda: asked.append("prompt")  # type: ignore[method-assign]
    driver = link.drive(link.inbox, work)
    link.attach(peer.client)
    link.prompted(peer.client)
    for item in items(link):
        assert isinstance(item, Call)
        item.fn()
    link.prompted(Peer().client)

    assert (["prompt"], 0, False, False) == (asked, link.inbox.waiting, work.watches, driver.is_alive())


async def test_nobody_gets_it_when_the_session_is_over() -> None:
    link, peer = RemoteLink(), Peer()
    link.attach(peer.client)
    link.close()
    link.close()
    link.playback.halt(1)
    await settled()
    with pytest.raises(RuntimeError):
        link.attach(Peer().client)

    assert (True, []) == (link.is_closed, [down for down in peer.sent if isinstance(down, Stop)])


async def test_each_change_wakes_who_waits() -> None:
    link, peer, woken = RemoteLink(), Peer(), []

    async def follow() -> None:
        while True:
            await link.changed()
            woken.append(link.owner)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(follow)
        await settled()
        link.attach(peer.client)
        await settled()
        link.muted(peer.client, True)
        await settled()
        for _ in range(2):
            link.detach(peer.client, leaves=True)
            await settled()
        tasks.cancel_scope.cancel()

    assert [peer.client, peer.client, None] == woken
