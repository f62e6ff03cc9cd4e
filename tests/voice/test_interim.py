"""Interim readings: how often, and that what was told as stable stays."""

from typing import Any

import anyio
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discussion_helper.audio.frames import Samples
from discussion_helper.stt.base import Recognised
from discussion_helper.turn.turns import TurnEnded, TurnPaused, TurnResumed, TurnStarted
from discussion_helper.voice.interim import InterimPace, StablePrefix
from discussion_helper.voice.notes import InterimWanted, Turn, WordsWanted
from discussion_helper.voice.turn_reader import TurnReader

SAMPLES = np.zeros(16, np.float32)
WORDS = st.lists(st.sampled_from(["go", "Go", "on", "then,", "now.", "3.5", "wait", "日", "本"]), max_size=8)


def told(*readings: str, complete: bool = False) -> list[tuple[str, str]]:
    prefix = StablePrefix()
    partials = [prefix.read(7, text, complete=complete) for text in readings]
    return [(partial.stable, partial.text[len(partial.stable) :]) for partial in partials]


@pytest.mark.parametrize(
    ("readings", "last"),
    [
        (["Go."], ("", "Go.")),
        (["Go forward.", "Go forward ten."], ("Go forward", " ten.")),
        (["Go for", "Go forward", "Go forward ten"], ("Go forward", " ten")),
        (["Go for.", "Go for."], ("Go", " for.")),  # it may be half of a word
        (["I think.", "I think. So", "I think so too."], ("I think so", " too.")),  # what follows a word may change
        (["Send it to Ann", "Send it to Ann please", "Send it to Anne please now"], ("Send it to Ann please", " now")),
        (["one two three", "one two three four", "too three four five"], ("one two three four", " five")),
        (["one two three", "one two three four", "five"], ("one two three", "")),
        (["It costs 3.5", "It costs 3.50 euros", "It costs 3.50 euros or"], ("It costs 3.50 euros", " or")),
        (["今日は", "今日は天気が", "今日は天気がいい"], ("今日は天気が", "いい")),
        (["¿Qué hora", "¿Qué hora es?"], ("¿Qué hora", " es?")),
        (["", "Go on"], ("", "Go on")),
    ],
)
def test_what_two_readings_agree_on_stays(readings: list[str], last: tuple[str, str]) -> None:
    assert last == told(*readings)[-1]


def test_the_last_word_is_whole_once_the_voice_has_paused() -> None:
    assert ("Go forward", ".") == told("Go forward.", "Go forward.", complete=True)[-1]


def test_another_turn_begins_anew() -> None:
    prefix = StablePrefix()
    for _ in range(2):
        assert prefix.read(7, "yes please", complete=False).text == "yes please"

    assert prefix.read(8, "no", complete=True).stable == ""


@given(st.lists(st.tuples(WORDS, st.booleans()), max_size=8))
def test_nothing_stable_ever_changes_or_shrinks(readings: list[tuple[list[str], bool]]) -> None:
    prefix, before = StablePrefix(), ""
    for words, complete in readings:
        partial = prefix.read(7, " ".join(words), complete=complete)
        assert partial.stable.startswith(before)
        assert partial.text.startswith(partial.stable)
        before = partial.stable


def test_a_turn_is_read_after_every_so_much_voice() -> None:
    pace, due = InterimPace(0.7), []
    for tenth in [*range(31), 0, *range(11)]:
        due += [tenth / 10] if pace.is_due(tenth / 10) else []

    assert [0.7, 1.4, 2.1, 2.8, 0.7] == [pytest.approx(at_s, abs=0.11) for at_s in due]


# -- the reader


class Slow:
    """Takes `takes_s`; notes the seconds of voice it was asked about."""

    def __init__(self, takes_s: float = 0.2) -> None:
        self.takes_s = takes_s
        self.begun: list[float | None] = []
        self.ended: list[float | None] = []

    async def recognise(self, samples: Samples, *, voiced_s: float | None = None) -> Recognised:
        self.begun.append(voiced_s)
        await anyio.sleep(self.takes_s)
        self.ended.append(voiced_s)
        return Recognised(f"{voiced_s}")

    async def warmup(self) -> None: ...

    async def aclose(self) -> None: ...


class Reading:
    """A reader at work, and what it told."""

    def __init__(self, recogniser: Slow) -> None:
        self.decides: list[float] = []
        self.shown: list[tuple[int, str, bool]] = []
        self.reader = TurnReader(
            recogniser,
            read=lambda result, voiced_s, final: self.decides.append(voiced_s),
            finished=self._finished,
            partial=lambda start, result, complete: self.shown.append((start, result.text, complete)),
        )

    async def _finished(self, note: Turn, result: Recognised) -> None: ...

    async def __aenter__(self) -> "Reading":
        self._tasks = anyio.create_task_group()
        await self._tasks.__aenter__()
        self._tasks.start_soon(self.reader.run)
        return self

    async def __aexit__(self, *_: Any) -> None:
        self._tasks.cancel_scope.cancel()
        await self._tasks.__aexit__(None, None, None)

    def wants(self, voiced_s: float) -> None:
        self.reader.add(InterimWanted(SAMPLES, 3, 16, voiced_s))

    def turn(self, event: Any) -> None:
        self.reader.add(Turn(event, 0.0, 0.0, 0.0))


@pytest.mark.anyio
async def test_what_is_read_meanwhile_is_shown_and_decides_nothing() -> None:
    async with Reading(Slow()) as reading:
        reading.turn(TurnStarted(3))
        reading.wants(0.7)
        await anyio.sleep(0.3)

    assert [(3, "0.7", False)] == reading.shown
    assert [] == reading.decides


@pytest.mark.anyio
async def test_a_slow_recogniser_is_asked_half_of_the_time_and_for_one_at_once() -> None:
    recogniser = Slow(takes_s=1.0)
    async with Reading(recogniser) as reading:
        for tenth in range(70):
            reading.wants(tenth / 10)
            await anyio.sleep(0.1)

    assert [0.0, 2.0, 4.0, 6.0] == [pytest.approx(at_s, abs=0.15) for at_s in recogniser.begun]


@pytest.mark.anyio
@pytest.mark.parametrize("note", [Turn(TurnPaused(SAMPLES, 3, 16, 0.9), 0, 0, 0), WordsWanted(SAMPLES, 3, 16, 0.9)])
async def test_a_reading_that_decides_something_comes_first(note: Turn | WordsWanted) -> None:
    recogniser = Slow()
    async with Reading(recogniser) as reading:
        reading.wants(0.7)
        await anyio.sleep(0.1)
        reading.reader.add(note)
        reading.wants(0.8)
        await anyio.sleep(0.3)

    assert [0.7, 0.9] == recogniser.begun
    assert [0.9] == recogniser.ended == reading.decides


@pytest.mark.anyio
async def test_after_the_turn_goes_on_it_is_read_again() -> None:
    recogniser = Slow()
    async with Reading(recogniser) as reading:
        reading.turn(TurnPaused(SAMPLES, 3, 16, 0.9))
        await anyio.sleep(0.1)
        reading.turn(TurnResumed(17))
        reading.wants(1.4)
        await anyio.sleep(0.3)
        reading.turn(TurnEnded(SAMPLES, 3, 16, 1.5))
        await anyio.sleep(0.3)

    assert [(3, "1.4", False), (3, "1.5", True)] == reading.shown


@pytest.mark.anyio
async def test_it_can_be_done_without_at_any_time() -> None:
    recogniser = Slow()
    async with Reading(recogniser) as reading:
        reading.reader.interim = False
        reading.wants(0.7)
        await anyio.sleep(0.3)
        reading.reader.interim = True
        reading.wants(1.4)
        await anyio.sleep(0.3)

    assert [1.4] == recogniser.begun
