"""G. Devices: scenarios of public bug reports, in the simulated room.

What belongs to PortAudio alone (G2, G4 and the default device of G3) is tested with the devices.
"""

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from discussion_helper.audio.frames import Samples
from discussion_helper.audio.inbox import Captured
from discussion_helper.testing.room import (
    CutSynthesiser,
    Loudspeaker,
    Microphone,
    NoEchoPath,
    Room,
    Scene,
    Unplugged,
    cheap_detectors,
)

pytestmark = pytest.mark.anyio

REPLY = ["There is a lot to tell about that.", "It began a long time ago in the north."]


class Kept(NoEchoPath):
    """Keeps what the detectors hear, at 16 kHz."""

    def __init__(self) -> None:
        super().__init__()
        self.blocks: list[Samples] = []

    def clean(self, near: Samples, at_s: float, start: int | None = None) -> Samples:
        self.blocks.append(near)
        return super().clean(near, at_s, start)


def level_db(samples: Samples, hertz: int) -> float:
    """Of a tone, or of what it was folded to."""
    spectrum = np.abs(np.fft.rfft(samples * np.hanning(len(samples)))) * 4.0 / len(samples)
    place = round(hertz * len(samples) / 16_000)
    return 20.0 * float(np.log10(spectrum[place - 3 : place + 4].max() + 1e-12))


@pytest.mark.parametrize("rate", [44_100, 48_000, 32_000, 96_000])
async def test_g1_at_the_devices_own_rate_tones_come_through_and_aliases_do_not(talk: Any, rate: int) -> None:
    """A device without 16 kHz: a tone of 1 kHz is within 0.5 dB, one of 12 kHz, folded to 4 kHz, below -40 dB."""
    kept = Kept()
    scene = Scene(noise_dbfs=None, microphone=Microphone(rate=rate))
    room = Room(scene, detectors=cheap_detectors, echo_path=lambda: kept)
    at_s = np.arange(3 * 48_000) / 48_000
    async with room:
        room.session(responder=Silent(), recogniser=room.recogniser(), synthesiser=CutSynthesiser()).start()
        for hertz, start_s in ((1_000, 0.0), (12_000, 4.0)):
            room.say(np.asarray(0.1 * np.sin(2 * np.pi * hertz * at_s), np.float32), at_s=start_s, dbfs=None)
        await room.until(lambda: room.now_s > 8.0)
    heard = np.concatenate(kept.blocks)

    assert -20.0 == pytest.approx(level_db(heard[16_000:32_000], 1_000), abs=0.5)
    assert level_db(heard[80_000:96_000], 4_000) < -60.0
    assert 20.0 * np.log10(np.sqrt(np.mean(np.square(heard[80_000:96_000]))) + 1e-12) < -60.0


class Silent:
    """Never asked."""

    async def reply(self, messages: Any) -> Any:
        for text in list[str]():
            yield text

    async def aclose(self) -> None: ...


@pytest.mark.parametrize("rate", [44_100, 48_000])
async def test_g1_who_speaks_into_such_a_device_is_understood_and_answered(talk: Any, rate: int) -> None:
    """The whole of a turn through a microphone and a loudspeaker that know that rate alone."""
    scene = Scene(microphone=Microphone(rate=rate, ppm=60.0), loudspeaker=Loudspeaker(rate=rate, ppm=-40.0))
    async with talk(["Fine."], scene=scene) as on:
        on.say("speech/sphinx_goforward.wav", "go forward ten meters", at_s=0.3)
        await on.room.reached("reply")
        await on.room.quiet(1.0)

        assert ["go forward ten meters", "Fine."] == [turn.text for turn in on.said]


async def test_g3_a_loudspeaker_that_is_unplugged_pauses_the_reply(talk: Any) -> None:
    """Unplugged while speaking: paused, opened again, the same reply goes on; an event tells both."""
    async with talk(REPLY, fast=True) as on:
        await on.session.say("Tell me.")
        reply = await on.room.reached("reply")
        await on.passed(1.0)
        on.room.trouble(Unplugged("loudspeaker", on.room.now_s, 3.0))
        await on.room.quiet(6.0)
        mine = [it for it in on.room.recording.rendered if it.generation == reply.generation]
        gaps = [(after.start - before.start) / 48_000 for before, after in pairwise(mine)]
        states = [data["state"] for data in await on.told("device", which="loudspeaker")]

        assert ["lost", "open"] == states
        assert [(" ".join(REPLY), False)] == [(it.text, it.interrupted) for it in on.replies]
        assert 1 == sum(gap > 0.5 for gap in gaps)
        assert sum(len(on.voice.made[text].samples) for text in REPLY) == sum(it.count for it in mine)


async def test_g3_a_microphone_that_is_unplugged_hears_again_at_its_new_rate(talk: Any) -> None:
    """Unplugged while somebody speaks, and another one plugged in: opened again, and the next turn is understood."""
    async with talk(["Fine."]) as on:
        on.say("speech/sphinx_cards_002.wav", "four queen of clubs", at_s=0.3)
        await on.passed(1.2)
        on.room.trouble(Unplugged("microphone", on.room.now_s, 2.0, rate=16_000))
        await on.passed(6.0)
        on.say("speech/sphinx_goforward.wav", "go forward ten meters")
        before = len(on.said)
        await on.passed(5.0)
        states = [data["state"] for data in await on.told("device", which="microphone")]

        assert ["open", "lost", "open"] == states
        assert "go forward ten meters" == on.said[before].text
        assert "Fine." == on.replies[-1].text


async def test_g7_the_microphone_has_one_owner_and_whoever_records_taps_it(clip: Any) -> None:
    """A second stream on the same microphone would get silence: a recording taps the one that there is."""
    opened: list[str] = []
    tapped: list[Captured] = []
    room = Room(
        detectors=cheap_detectors,
        echo_path=NoEchoPath,
        tap=lambda item, _: tapped.append(item) if isinstance(item, Captured) else None,
    )
    async with room:
        open_capture = room.engine._open_capture

        def counted() -> Any:
            opened.append("microphone")
            return open_capture()

        room.engine._open_capture = counted
        session = room.session(responder=Silent(), recogniser=room.recogniser(), synthesiser=CutSynthesiser()).start()
        room.say(clip("speech/sphinx_cards_002.wav"), at_s=0.3, text="four queen of clubs")
        await room.until(lambda: room.now_s > 4.0)
        tape = room.recording

        assert ["microphone"] == opened
        assert ["four queen of clubs"] == [turn["text"] for turn in session.state["utterances"]]
        heard = np.concatenate([item.frame.samples for item in tapped])
        assert np.array_equal(heard, tape.microphone[: len(heard)])
