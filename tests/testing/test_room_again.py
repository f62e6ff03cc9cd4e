"""The same talk again: in another process, with other hashes, on a busy machine, and later on its loop's clock."""

import asyncio
import hashlib
import json
import os
import subprocess
import sys
from collections import defaultdict
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread
from typing import Any

import anyio
import pytest

from discussion_helper.audio.echo import EchoPath
from discussion_helper.audio.files import load
from discussion_helper.audio.frames import Samples
from discussion_helper.audio.inbox import Played
from discussion_helper.testing import EchoResponder, VirtualTimeLoop
from discussion_helper.testing.room import After, CutSynthesiser, Detectors, Echo, Room, Scene
from discussion_helper.vad.base import Detector
from discussion_helper.vad.silero import SileroDetector
from discussion_helper.vad.webrtc import WebRtcDetector

SPEECH = Path(__file__).parents[2] / "audio" / "speech"
REPLY = "There is a lot to tell about that. It began a long time ago in the north. Nobody knew why."
KINDS = ("floor", "utterance", "decision", "interruption", "device", "partial")


class Sums:
    """A sum of all that went each way, by its name; times are told apart to the last bit."""

    def __init__(self) -> None:
        self._sums: Any = defaultdict(hashlib.sha256)

    def add(self, name: str, *values: object) -> None:
        """More of it."""
        for value in values:
            self._sums[name].update(getattr(value, "tobytes", repr(value).encode)())

    @property
    def all(self) -> dict[str, str]:
        return {name: it.hexdigest()[:16] for name, it in self._sums.items()}


class Heard:
    """A detector whose every score is added."""

    def __init__(self, name: str, detector: Detector, sums: Sums) -> None:
        self.rate, self.frame_samples = detector.rate, detector.frame_samples
        self.reset = detector.reset
        self._name, self._detector, self._sums = name, detector, sums

    def probability(self, samples: Samples) -> float:
        score = self._detector.probability(samples)
        self._sums.add(self._name, score)
        return score


class Cancelled(EchoPath):
    """Adds every block, with what comes of it."""

    def __init__(self, sums: Sums, zero_s: float) -> None:
        self._sums, self._zero_s = sums, zero_s
        super().__init__()

    def feed(self, played: Played) -> None:
        position = played.position
        self._sums.add(
            "played", played.frame.samples, played.at_s - self._zero_s, position.generation, position.samples
        )
        super().feed(played)

    def clean(self, near: Samples, at_s: float, start: int | None = None) -> Samples:
        left = super().clean(near, at_s, start)
        self._sums.add("microphone", near, at_s - self._zero_s)
        self._sums.add("cancelled", left, self.near_db, self.expected_db)
        return left


async def talk(later_s: float) -> dict[str, str]:
    """A reply, who talks over it, and an answer, with an echo as late and loud as to be taken for a voice at times.

    `later_s`: how long the loop has run by then.
    """
    await anyio.sleep(later_s)
    sums = Sums()

    def detectors() -> Detectors:
        gates = [
            Heard(name, WebRtcDetector(mode=mode), sums) for name, mode in (("gate", 2), ("eager", 2), ("clean", 3))
        ]
        return Detectors(gates[0], Heard("judge", SileroDetector(), sums), *gates[1:])

    voice, over = (load(SPEECH / name, 48_000) for name in ("mfa_acoustic_corpus.wav", "sphinx_goforward.wav"))
    path = Cancelled(sums, asyncio.get_running_loop().time())
    scene = Scene(echo=Echo(gain_db=0.0, delay_s=0.6), seed=600)
    async with Room(scene, detectors=detectors, echo_path=lambda: path) as room:
        session = room.session(
            responder=EchoResponder(),
            recogniser=room.recogniser(),
            synthesiser=CutSynthesiser(voice=voice.samples, delay_s=0.1),
        )
        async with session.events(*KINDS) as events:
            session.start()
            room.say(over, after=After("reply", 1, 2.5), text="go forward ten meters")
            await session.speak(REPLY)
            await room.reached("reply", 2)
            await room.quiet(0.5)
            told = [await anext(events) for _ in range(len(events))]
        sums.add("tape", room.recording.loudspeaker, room.recording.microphone, room.recording.marks)
        sums.add("decisions", *((it.kind, it.data) for it in told))
    return sums.all


def talks(later_s: float) -> dict[str, str]:
    """On a loop of its own."""
    return anyio.run(talk, later_s, backend_options={"loop_factory": VirtualTimeLoop})


@contextmanager
def busy() -> Generator[None]:
    """Beside a thread that takes the interpreter now and then."""
    over = Event()

    def burn() -> None:
        while not over.wait(0.002):
            sum(range(20_000))

    thread = Thread(target=burn)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def test_a_room_in_another_process_and_entered_later_is_the_same_to_the_last_bit() -> None:
    """With other hashes, and on a machine that is as busy as two of them make it."""
    environment = os.environ | {"PYTHONHASHSEED": "4711"}
    with subprocess.Popen([sys.executable, __file__], env=environment, stdout=subprocess.PIPE) as other:
        here = talks(0.0)
        there = json.loads(other.communicate(timeout=50.0)[0])

    assert here == there


@pytest.mark.slow
def test_whenever_it_is_entered() -> None:
    found = [talks(later_s) for later_s in (0.0, 0.1, 1.0 / 3.0, 100.0, 1537.7712, 50_000.0)]

    assert [found[0]] * len(found) == found


if __name__ == "__main__":
    with busy():
        print(json.dumps(talks(7.77)))
