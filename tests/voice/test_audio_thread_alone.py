"""The detectors have the audio thread, and share it with nothing: no executor, no event loop."""

import threading
from collections.abc import Callable
from typing import Any

import anyio
import anyio.lowlevel
import anyio.to_thread
import numpy as np
import pytest

from discussion_helper.audio.frames import Frame, Samples
from discussion_helper.audio.inbox import Captured, Inbox
from discussion_helper.audio.playback import Playback
from discussion_helper.listening import hearing_with
from discussion_helper.testing.room import NoEchoPath
from discussion_helper.types import Policy
from discussion_helper.vad.silero import SileroDetector
from discussion_helper.vad.webrtc import WebRtcDetector
from discussion_helper.voice.audio_thread import AudioThread
from discussion_helper.voice.audio_work import AudioWork
from discussion_helper.voice.engine import AudioEngine

RATE = 16_000
BLOCKS = 100
WORKERS = 40
"""As many as anyio has for those who bring no limiter."""


class Device:
    """An open microphone and loudspeaker without hardware."""

    name, rate, overflows, underflows = "fake", RATE, 0, 0

    def __init__(self) -> None:
        self.playback = Playback(RATE)

    def close(self) -> None: ...


class Ears:
    def noted(self, note: object) -> None: ...

    def device(self, which: str, state: str, **more: str) -> None: ...

    def lost(self, error: Exception) -> None:
        raise error


@pytest.fixture
def anyio_backend() -> str:
    """Real time: real threads take part."""
    return "asyncio"


@pytest.mark.anyio
async def test_detectors_work_on_the_audio_thread_while_every_worker_and_the_event_loop_are_busy(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    threads: set[str] = set()
    counted, done, let_go = [0], threading.Event(), threading.Event()

    def watched(probability: Callable[[Any, Samples], float], counts: bool) -> Callable[[Any, Samples], float]:
        def watch(self: Any, samples: Samples) -> float:
            threads.add(threading.current_thread().name)
            counted[0] += counts
            if counted[0] >= BLOCKS:
                done.set()
            return probability(self, samples)

        return watch

    def hearing(rate: int) -> Any:
        """With the detectors of a real talk, watched once they are made."""
        made = hearing_with(rate, NoEchoPath(), policy=Policy(), language="en")
        for detector, counts in ((WebRtcDetector, True), (SileroDetector, False)):
            monkeypatch.setattr(detector, "probability", watched(detector.probability, counts))
        return made

    async def waits() -> None:
        await anyio.to_thread.run_sync(let_go.wait)

    inbox, device = Inbox(), Device()
    engine = AudioEngine(
        inbox=inbox, open_capture=lambda: device, open_playback=lambda: device, hearing=hearing, driver=drive
    )
    async with engine:
        await engine.open_microphone(Ears())
        async with anyio.create_task_group() as tasks:
            for _ in range(WORKERS):
                tasks.start_soon(waits)
            await anyio.lowlevel.checkpoint()
            noise = np.random.default_rng(0).normal(0.0, 0.1, RATE // 100 * BLOCKS * 2).astype(np.float32)
            for number in range(BLOCKS * 2):
                block = noise[number * 160 : number * 160 + 160]
                inbox.put(Captured(Frame(block, RATE, number * 160), number / 100.0))
            heard = done.wait(20.0)  # with the event loop standing still
            let_go.set()
    assert heard
    assert {"audio"} == threads


def drive(inbox: Inbox, work: AudioWork) -> AudioThread:
    return AudioThread(inbox, work)
