"""The listener and a recogniser that finds out in which language a session is."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import numpy as np
import pytest

from discussion_helper.audio.frames import Samples
from discussion_helper.stt.base import KeepsLanguage, Recognised
from discussion_helper.stt.sticky import Detection, SessionLanguage
from discussion_helper.turn.turns import TurnEnded, TurnPaused, TurnStarted
from discussion_helper.voice.microphone import MicrophoneListener
from discussion_helper.voice.notes import Turn
from discussion_helper.voice.session_language import LANGUAGE

pytestmark = pytest.mark.anyio

SAMPLES = np.zeros(16, np.float32)


class Device:
    """A microphone that delivers nothing."""

    speaking = False

    async def open_microphone(self, ears: Any) -> str:
        return "fake [test]"

    async def close_microphone(self) -> None: ...

    def words(self, words: Any) -> None: ...


class Reports:
    """A session that keeps the decisions."""

    def __init__(self) -> None:
        self.decisions: list[dict[str, Any]] = []

    def now(self) -> float:
        return anyio.current_time()

    def of(self, monotonic_s: float) -> float:
        return monotonic_s

    def report(self, kind: str, /, **data: Any) -> None:
        self.decisions += [data] if kind == "decision" else []


@asynccontextmanager
async def listening(recogniser: Any) -> AsyncIterator[tuple[MicrophoneListener, Reports]]:
    device: Any = Device()
    listener, reports = MicrophoneListener(recogniser, device), Reports()
    listener.attach(reports)

    async def take() -> None:
        async for _ in listener.utterances():
            pass

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(take)
        yield listener, reports
        await listener.aclose()


def note(event: Any, **more: Any) -> Turn:
    return Turn(event, anyio.current_time(), 0.0, 0.0, **more)


class Polyglot:
    """Hears one language after the other, each turn in its pause and, read anew, at its end."""

    def __init__(self, *languages: str) -> None:
        self.languages = list(languages)
        self.session = SessionLanguage()
        self.over: list[str] = []

    async def recognise(self, samples: Samples, *, voiced_s: float | None = None) -> Recognised:
        await anyio.sleep(0.01)
        turn = Detection(self.languages[len(self.over)], 0.9, 2.0)
        return Recognised("words", language=self.session.of(turn), detected=turn)

    def turn_over(self, result: Recognised) -> str:
        self.over.append(result.language)
        before = self.session.language
        assert result.detected is not None
        return before if self.session.take(result.detected) else ""

    async def warmup(self) -> None: ...

    async def aclose(self) -> None: ...


async def test_a_language_changes_by_turns_however_often_each_is_read_and_that_is_told_once() -> None:
    recogniser = Polyglot("en", "de", "de", "de")
    assert isinstance(recogniser, KeepsLanguage)
    async with listening(recogniser) as (listener, reports):
        for end in (100, 300, 500, 700):
            listener.noted(note(TurnStarted(end - 100)))
            listener.noted(note(TurnPaused(SAMPLES, end - 100, end - 50, 2.0)))
            await anyio.sleep(0.05)
            listener.noted(note(TurnEnded(SAMPLES, end - 100, end, 2.0)))
            await anyio.sleep(0.05)

    assert recogniser.over == ["en", "en", "de", "de"]
    told = [data for data in reports.decisions if data["what"] == "language"]
    assert [{"what": "language", "why": LANGUAGE, "language": "de", "before": "en"}] == told


async def test_what_is_no_turn_changes_no_language() -> None:
    recogniser = Polyglot("en")
    async with listening(recogniser) as (listener, _):
        listener.noted(note(TurnStarted(0)))
        listener.noted(note(TurnEnded(SAMPLES, 0, 100, 2.0), own=True))
        await anyio.sleep(0.1)

    assert recogniser.over == []
