"""A loudspeaker, a synthesiser and a recogniser without hardware or model, on virtual time."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio
import numpy as np
import pytest

from discussion_helper.audio.frames import Frame, Samples
from discussion_helper.audio.inbox import Played
from discussion_helper.audio.playback import Playback
from discussion_helper.testing import VirtualTimeLoop
from discussion_helper.tts.base import Speech
from discussion_helper.voice.marks import Marks

RATE = 1_000
"""Hertz: one sample a millisecond keeps the arithmetic readable."""


@pytest.fixture
def anyio_backend() -> Any:
    """A clock that jumps."""
    return "asyncio", {"loop_factory": VirtualTimeLoop}


class ToneSynthesiser:
    """`seconds` of a constant for each sentence, made in `takes_s`; "" gives nothing."""

    rate = RATE

    def __init__(self, seconds: float = 1.0, takes_s: float = 0.0) -> None:
        self.seconds, self.takes_s = seconds, takes_s
        self.begun: list[str] = []
        self.finished: list[str] = []
        self.fails_on = "?"
        self.closed = False

    async def synthesise(self, text: str) -> Speech:
        self.begun.append(text)
        await anyio.sleep(self.takes_s)
        if text == self.fails_on:
            raise OSError("no voice")
        self.finished.append(text)
        count = round(self.seconds * RATE) if text else 0
        return Speech(text, np.full(count, 0.5, np.float32), RATE)

    async def warmup(self) -> None: ...

    async def aclose(self) -> None:
        self.closed = True


class Loudspeaker:
    """Renders 10 ms every 10 ms, and keeps what it was given."""

    def __init__(self) -> None:
        self.playback = Playback(RATE)
        self.marks = Marks(self.playback)
        self.heard: list[Samples] = []

    async def run(self) -> None:
        start = 0
        while True:
            block = np.empty(10, np.float32)
            position = self.playback.render(block)
            self.heard.append(block.copy())
            if position is not None:
                played = Played(Frame(block, RATE, start), anyio.current_time(), position)
                if self.marks.is_passed_by(played):
                    self.marks.pass_all(position.generation, position.samples, played.at_s)
            start += 10
            await anyio.sleep(0.01)

    @property
    def sound(self) -> Samples:
        return np.concatenate(self.heard)


@pytest.fixture
def synthesiser() -> ToneSynthesiser:
    return ToneSynthesiser()


@pytest.fixture
def loudspeaker() -> Callable[[], Any]:
    """An open loudspeaker, as an async context manager."""

    @asynccontextmanager
    async def running() -> AsyncIterator[Loudspeaker]:
        device = Loudspeaker()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(device.run)
            yield device
            tasks.cancel_scope.cancel()

    return running
