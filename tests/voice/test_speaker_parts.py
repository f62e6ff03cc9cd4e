"""The voice, with a synthesiser whose clauses are heard before they are whole."""

from collections.abc import AsyncGenerator, Callable
from typing import Any

import anyio
import numpy as np
import pytest

from discussion_helper.errors import SynthesisError
from discussion_helper.tts.base import SpeaksInParts, Speech, Word
from discussion_helper.voice.speaker import SpeakerVoice

pytestmark = pytest.mark.anyio

Running = Callable[[], Any]
RATE = 1000


class Parted:
    """Half a second of sound, and, `takes_s` later, another half second with the rest of the words."""

    rate = RATE

    def __init__(self, *, takes_s: float = 0.2, fails: bool = False) -> None:
        self.takes_s, self.fails = takes_s, fails
        self.closed = 0

    async def parts(self, text: str) -> AsyncGenerator[Speech, None]:
        half = np.full(RATE // 2, 0.5, np.float32)
        ends = (len(text.split()[0]), len(text))
        words = (Word(ends[0], 0, RATE // 2), Word(ends[1], RATE // 2, RATE))
        try:
            yield Speech(text, half, RATE, words, more=True)
            await anyio.sleep(self.takes_s)
            if self.fails:
                raise SynthesisError("The voice failed.")
            yield Speech("", half, RATE)
        finally:
            self.closed += 1

    async def synthesise(self, text: str) -> Speech:
        await anyio.sleep(self.takes_s)
        return Speech(text, np.full(RATE, 0.5, np.float32), RATE)

    async def warmup(self) -> None: ...

    async def aclose(self) -> None: ...


def voice_on(device: Any, synthesiser: Any) -> SpeakerVoice:
    async def close() -> None: ...

    return SpeakerVoice(synthesiser, device.playback, device.marks, close=close)


async def prepared(voice: SpeakerVoice, text: str, tasks: anyio.abc.TaskGroup) -> None:
    """Its first part is there, or nothing of it yet where it comes whole."""
    tasks.start_soon(voice.prepare, text)
    await anyio.sleep(0.01)


async def test_it_is_heard_before_it_is_whole_and_without_a_seam(loudspeaker: Running) -> None:
    async with loudspeaker() as device, anyio.create_task_group() as tasks:
        assert isinstance(Parted(), SpeaksInParts)
        voice = voice_on(device, Parted(takes_s=0.3))
        began = anyio.current_time()
        await prepared(voice, "one two", tasks)
        result = await voice.speak("one two")

        assert 1.0 == pytest.approx(anyio.current_time() - began, abs=0.04)
        assert (False, 1.0) == (result.cut, result.played_s)
        assert 1000 == np.count_nonzero(device.sound == 0.5)
        sounding = np.flatnonzero(device.sound)
        assert len(sounding) == sounding[-1] - sounding[0] + 1 >= 1000


async def test_one_that_is_slow_leaves_a_hole_and_no_more(loudspeaker: Running) -> None:
    async with loudspeaker() as device, anyio.create_task_group() as tasks:
        voice = voice_on(device, Parted(takes_s=0.8))
        await prepared(voice, "one two", tasks)
        result = await voice.speak("one two")

    assert (False, 1.0) == (result.cut, result.played_s)
    assert 1000 == np.count_nonzero(device.sound == 0.5)


async def test_stopped_before_the_rest_was_made_it_was_cut_where_it_was(loudspeaker: Running) -> None:
    async with loudspeaker() as device, anyio.create_task_group() as tasks:
        voice = voice_on(device, Parted(takes_s=5.0))
        found = []

        async def speak() -> None:
            found.append(await voice.speak("one two"))

        await prepared(voice, "one two", tasks)
        tasks.start_soon(speak)
        await anyio.sleep(0.8)
        await voice.stop()
        await anyio.sleep(0.1)
        tasks.cancel_scope.cancel()

    assert [(True, "one", 0.5)] == [(it.cut, it.heard, it.played_s) for it in found]


async def test_a_rest_that_fails_is_told_once_its_beginning_was_said(loudspeaker: Running) -> None:
    async with loudspeaker() as device:
        voice = voice_on(device, Parted(fails=True))
        told = []

        async def prepare() -> None:
            try:
                await voice.prepare("one two")
            except SynthesisError as error:
                told.append(error)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(prepare)
            await anyio.sleep(0.01)
            with pytest.raises(SynthesisError):
                await voice.speak("one two")

    assert 1 == len(told)


async def test_what_comes_next_waits_for_the_rest(loudspeaker: Running) -> None:
    synthesiser = Parted(takes_s=0.1)
    async with loudspeaker() as device:
        voice = voice_on(device, synthesiser)
        async with anyio.create_task_group() as tasks:
            await prepared(voice, "one two", tasks)
            tasks.start_soon(voice.speak, "one two")
            await anyio.sleep(0.05)
            await prepared(voice, "three four", tasks)
            await anyio.sleep(0.3)
            await voice.speak("three four")

        sounding = np.flatnonzero(device.sound)
        assert 2000 == np.count_nonzero(device.sound == 0.5)
        assert len(sounding) == sounding[-1] - sounding[0] + 1
    assert 2 == synthesiser.closed


async def test_a_beginning_whose_rest_nobody_makes_any_more_is_no_whole_sentence(loudspeaker: Running) -> None:
    async with loudspeaker() as device:
        voice = voice_on(device, Parted(takes_s=5.0))
        async with anyio.create_task_group() as tasks:
            await prepared(voice, "one two", tasks)
            tasks.cancel_scope.cancel()
        with pytest.raises(SynthesisError):
            await voice.speak("one two")
