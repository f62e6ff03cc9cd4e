"""Two recognisers that are one: when the larger is asked, how long it is waited for, and what is made of both."""

import logging
from dataclasses import dataclass, field
from typing import Any

import anyio
import numpy as np
import pytest

from discussion_helper.audio.frames import Samples
from discussion_helper.errors import ModelCorrupt, RecogniserError, SettingError
from discussion_helper.stt.base import Recognised
from discussion_helper.stt.second_opinion import LONGEST_S, UNSURE, WITHIN_S, SecondOpinion
from discussion_helper.testing import VirtualTimeLoop

pytestmark = pytest.mark.anyio

VOICE = np.full(16_000, 0.1, np.float32)


@pytest.fixture
def anyio_backend() -> Any:
    """A clock that jumps."""
    return "asyncio", {"loop_factory": VirtualTimeLoop}


def said(text: str, doubt: float, *, refused: str = "") -> Recognised:
    return Recognised(
        text, "en", 1.0, no_speech_probability=0.1, average_logprob=0.1 - doubt, refused=refused, took_s=0.2
    )


def doubt_of(result: Recognised) -> float:
    return result.no_speech_probability - result.average_logprob


@dataclass
class Reader:
    """Gives the same each time, after so long."""

    gives: Recognised | Exception
    takes_s: float = 0.25
    asked: list[float | None] = field(default_factory=list)
    warmed: int = 0
    closed: int = 0

    async def recognise(self, samples: Samples, *, voiced_s: float | None = None) -> Recognised:
        self.asked.append(voiced_s)
        await anyio.sleep(self.takes_s)
        if isinstance(self.gives, Exception):
            raise self.gives
        return self.gives

    async def warmup(self) -> None:
        self.warmed += 1
        if isinstance(self.gives, Exception):
            raise self.gives

    async def aclose(self) -> None:
        self.closed += 1


def five(doubt: float = 0.9) -> Reader:
    return Reader(said("five five", doubt))


async def test_a_machine_that_is_late_does_without_it_and_has_it_back() -> None:
    second = five()
    both = SecondOpinion(Reader(said("fife.", 1.5)), second)

    await both.use_second(False)
    alone = await both.recognise(VOICE, voiced_s=0.5)
    assert ("fife.", []) == (alone.text, second.asked)
    await both.use_second(True)
    assert ("five five", [0.5]) == ((await both.recognise(VOICE, voiced_s=0.5)).text, second.asked)


async def test_what_the_first_is_sure_of_it_is_not_asked() -> None:
    second = five()
    first = said("Hello there.", UNSURE)

    assert first is await SecondOpinion(Reader(first), second).recognise(VOICE, voiced_s=0.5)
    assert [] == second.asked


async def test_the_words_are_those_of_the_one_that_is_surer() -> None:
    both = SecondOpinion(Reader(said("The assist immediately, sir.", 1.1)), Reader(said("a million years!", 1.3)))

    result = await both.recognise(VOICE)

    assert "The assist immediately, sir." == result.text
    assert 1.2 == pytest.approx(doubt_of(result))
    assert 0.4 == pytest.approx(result.took_s)


async def test_of_what_the_first_is_unsure_of_it_gives_the_words_and_both_the_doubt() -> None:
    second = five(0.9)

    result = await SecondOpinion(Reader(said("fife.", 1.5)), second).recognise(VOICE, voiced_s=0.5)

    assert "five five" == result.text
    assert 1.2 == pytest.approx(doubt_of(result))
    assert 0.4 == pytest.approx(result.took_s)
    assert [0.5] == second.asked


@pytest.mark.parametrize("first", [said("", 1.9, refused="no speech"), said("", 0.0, refused="no words")])
async def test_where_the_first_has_no_words_it_is_not_asked(first: Recognised) -> None:
    second = five()

    assert first is await SecondOpinion(Reader(first), second).recognise(VOICE)
    assert [] == second.asked


async def test_where_it_has_no_words_the_first_ones_stand() -> None:
    first = said("We're going to see", 1.5)

    assert first is await SecondOpinion(Reader(first), Reader(said("", 2.0, refused="no speech"))).recognise(VOICE)


async def test_it_is_not_asked_about_what_takes_it_long() -> None:
    second, first = five(), said("and so on", 1.5)
    both = SecondOpinion(Reader(first), second)

    assert first is await both.recognise(np.ones(round(LONGEST_S * 16_000) + 1, np.float32))
    assert "five five" == (await both.recognise(np.ones(round(LONGEST_S * 16_000), np.float32))).text


async def test_it_is_not_waited_for_longer_than_was_allowed() -> None:
    first, second = said("fife", 1.5), Reader(said("five five", 0.9), takes_s=2.0)
    both = SecondOpinion(Reader(first), second)
    began_s = anyio.current_time()

    assert first is await both.recognise(VOICE)
    assert 0.25 + WITHIN_S == pytest.approx(anyio.current_time() - began_s, abs=0.01)
    second.takes_s = 0.1
    assert "five five" == (await both.recognise(VOICE)).text


@pytest.mark.parametrize(
    "fails",
    [
        RecogniserError("It failed."),
        ModelCorrupt("It is broken."),
        RuntimeError("it is closed"),
        IndexError("IndexError"),
    ],
)
async def test_one_that_fails_is_told_of_and_not_asked_again(
    fails: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    first, second = said("fife", 1.5), Reader(fails)
    both = SecondOpinion(Reader(first), second)

    with caplog.at_level(logging.WARNING):
        assert first is await both.recognise(VOICE)
        assert first is await both.recognise(VOICE)

    assert 1 == len(second.asked)
    assert [f"no second opinion any more: {fails}"] == [record.getMessage() for record in caplog.records]


async def test_one_that_cannot_be_loaded_is_not_asked(caplog: pytest.LogCaptureFixture) -> None:
    first, second = said("fife", 1.5), Reader(ModelCorrupt("It is broken."))
    both = SecondOpinion(Reader(first), second)
    with caplog.at_level(logging.WARNING):
        await both.warmup()

    assert first is await both.recognise(VOICE)
    assert ([], 1) == (second.asked, len(caplog.records))


async def test_what_the_first_fails_with_is_raised() -> None:
    both = SecondOpinion(Reader(RecogniserError("It failed.")), five())

    with pytest.raises(RecogniserError):
        await both.recognise(VOICE)
    with pytest.raises(RecogniserError):
        await both.warmup()


async def test_both_are_loaded_and_closed() -> None:
    first, second = Reader(said("Hello", 0.5)), five()
    both = SecondOpinion(first, second)
    await both.warmup()
    await both.aclose()

    assert [(1, 1), (1, 1)] == [(each.warmed, each.closed) for each in (first, second)]


@pytest.mark.parametrize("within_s", [0.0, -1.0, float("nan"), 60.0])
def test_a_time_that_is_none_is_refused(within_s: float) -> None:
    with pytest.raises(SettingError, match="within_s"):
        SecondOpinion(five(), five(), within_s=within_s)
