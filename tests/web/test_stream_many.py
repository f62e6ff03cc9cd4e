"""Very many watchers, some of whom do not read: the talk does not notice, and the memory has a bound."""

import gc
import tracemalloc
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import anyio
import numpy as np
import psutil
import pytest

from discussion_helper.audio.files import load
from discussion_helper.session import Session
from discussion_helper.testing import EchoResponder, ScriptedListener, SilentVoice
from discussion_helper.testing.room import (
    After,
    CutSynthesiser,
    NoEchoPath,
    Room,
    Tape,
    cheap_detectors,
    run_in_room,
)
from discussion_helper.types import Utterance
from discussion_helper.web.feed import Feed
from discussion_helper.web.sse import EventStream

SPEECH = Path(__file__).parents[2] / "audio" / "speech"
MEBIBYTE = 1024 * 1024
REPLY_SENTENCES = 3


def followed(session: Session) -> tuple[EventStream, AsyncGenerator[bytes, None]]:
    stream = EventStream(Feed(session, ["*"], most_bytes=MEBIBYTE), "", heartbeat_s=15.0)
    stream.begin()
    return stream, stream.chunks()


def talk(watchers: int, stalled: int) -> tuple[Tape, list[dict[str, Any]], int]:
    """A talk with an interruption; what was at the devices, the transcript, and how much the readers have read."""
    goforward, bobby = (load(SPEECH / f"sphinx_{name}.wav", 48_000) for name in ("goforward", "cards_002"))
    read = 0

    async def run(room: Room) -> tuple[Tape, list[dict[str, Any]], int]:
        session = room.session(
            responder=EchoResponder(sentences=REPLY_SENTENCES),
            recogniser=room.recogniser(),
            synthesiser=CutSynthesiser(voice=bobby.samples, delay_s=0.1),
        ).start()
        streams = [followed(session) for _ in range(watchers)]

        async def follow(chunks: AsyncGenerator[bytes, None]) -> None:
            nonlocal read
            async for chunk in chunks:
                read += len(chunk)

        async with anyio.create_task_group() as tasks:
            for number, (_, chunks) in enumerate(streams):
                if number >= stalled:
                    tasks.start_soon(follow, chunks)
            room.say(goforward, at_s=0.5, text="go forward ten meters")
            room.say(bobby, after=After("reply", 1, 1.5), text="the second of them")
            await room.reached("reply", 2)
            await room.quiet(1.0)
            tape, state = room.recording, session.state
            tasks.cancel_scope.cancel()
        for stream, _ in streams:
            await stream.aclose()
        return tape, state["utterances"], read

    return run_in_room(run, Room(detectors=cheap_detectors, echo_path=NoEchoPath))


@pytest.mark.parametrize(
    ("watchers", "stalled"), [(100, 5), pytest.param(1000, 50, marks=[pytest.mark.slow, pytest.mark.timeout(300)])]
)
def test_a_talk_sounds_the_same_to_the_sample_with_watchers_of_whom_some_do_not_read(
    watchers: int, stalled: int
) -> None:
    alone, said, nothing = talk(0, 0)
    watched, said_then, read = talk(watchers, stalled)

    assert np.array_equal(alone.loudspeaker, watched.loudspeaker)
    assert np.array_equal(alone.microphone, watched.microphone)
    assert alone.marks == watched.marks
    assert said == said_then
    assert any(turn["interrupted"] for turn in said)
    assert (0, True) == (nothing, read > 10_000 * (watchers - stalled))


EVENTS = ("level", "partial", "decision", "saying", "utterance")


def tell(session: Session, number: int) -> None:
    record = session.discussion._record
    match EVENTS[number % len(EVENTS)]:
        case "level":
            record.report("level", dbfs=-float(number % 90))
        case "partial":
            record.report("partial", speaker="user", text=f"so far {number}", stable="so far")
        case "decision":
            record.report("decision", what="ignored", why=f"too short, for the {number}th time")
        case "saying":
            record.report("partial", speaker="agent", text=f"The {number}th sentence.")
        case "utterance":
            record.add(Utterance("agent" if number % 2 else "user", f"turn {number}"))
            record.conversation.utterances.clear()  # the transcript grows in any case


async def publish(events: int, watchers: int) -> tuple[int, int, int]:
    """Memory before, in the middle, and at the end, with watchers who never read."""
    session = Session(ScriptedListener([], stays_open=True), EchoResponder(), SilentVoice())
    streams = [followed(session) for _ in range(watchers)]
    told = [_taken()]
    for number in range(events):
        tell(session, number)
        if number == events // 2:
            told.append(_taken())
    told.append(_taken())
    missed = [await _gap_of(chunks) for _, chunks in streams]
    for stream, _ in streams:
        await stream.aclose()
    assert all(number > events // 2 for number in missed)
    return told[0], told[1], told[2]


async def _gap_of(chunks: AsyncGenerator[bytes, None]) -> int:
    """What a watcher who reads at last is told: its snapshot of then, and how many events it has missed."""
    _, gap = [chunk async for chunk in chunks]
    return int(gap.decode().rpartition('"missed":')[2].partition("}")[0])


def _taken() -> int:
    gc.collect()
    return tracemalloc.get_traced_memory()[0] if tracemalloc.is_tracing() else psutil.Process().memory_info().rss


@pytest.mark.anyio
async def test_watchers_who_never_read_take_no_more_memory_after_many_events() -> None:
    tracemalloc.start()
    try:
        before, middle, end = await publish(50_000, watchers=5)
    finally:
        tracemalloc.stop()

    assert middle - before < 5 * MEBIBYTE
    assert end - middle < 200_000


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.anyio
async def test_nor_after_a_million() -> None:
    before, middle, end = await publish(1_000_000, watchers=20)

    assert middle - before < 20 * MEBIBYTE
    assert end - middle < 4 * MEBIBYTE
