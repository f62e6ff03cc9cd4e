"""H. Resources over hours: scenarios of public bug reports, in the simulated room."""

import asyncio
import gc
import threading
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any

import anyio
import numpy as np
import pytest

from discussion_helper.audio.frames import Frame
from discussion_helper.audio.free_memory import give_back
from discussion_helper.audio.inbox import Call, Captured, Inbox, Played
from discussion_helper.audio.playback import Position
from discussion_helper.recorder.recorder import Recorder, RecordTo
from discussion_helper.recorder.talk_recording import header_now
from discussion_helper.testing import VirtualTimeLoop
from discussion_helper.testing.room import After, Echo, Loudspeaker, Microphone, Scene

pytestmark = pytest.mark.anyio

SMALL: dict[str, Any] = {
    "rate": 16_000,
    "keep_s": 5.0,
    "loudspeaker": Loudspeaker(rate=16_000),
    "microphone": Microphone(rate=16_000),
}
"""A room that remembers little and takes little time."""


def counted() -> Counter[str]:
    """Objects that the garbage collector knows, by type."""
    gc.collect()
    return Counter(type(it).__qualname__ for it in gc.get_objects())


def grown(before: Counter[str], after: Counter[str]) -> dict[str, int]:
    """Of which types there are more."""
    return {name: count - before[name] for name, count in after.items() if count - before[name] > 8}


def resident_mb() -> float:
    """Memory of this process; what is free goes back first, as behind each clause of a talk: here no model works."""
    give_back()
    psutil: Any = pytest.importorskip("psutil", reason="comes with the bench extra, which make test installs")
    return float(psutil.Process().memory_info().rss) / 2**20


def waiting(on: Any) -> dict[str, int]:
    """What stands in queues, and what works."""
    engine = on.room.engine
    return {
        "tasks": len(asyncio.all_tasks()),
        "threads": threading.active_count(),
        "inbox": engine._inbox.waiting,
        "playback": engine.playback.pending(10**9),
        "turns": len(on.session.discussion._turns),
    }


@pytest.mark.parametrize(
    "seconds",
    [40.0, pytest.param(7_200.0, marks=[pytest.mark.slow, pytest.mark.timeout(600)])],
    ids=["forty-seconds", "two-hours"],
)
async def test_h1_in_silence_nothing_grows(talk: Any, seconds: float) -> None:
    """Two virtual hours of silence, with the real detectors: as many objects as before, less than 5 MB more memory."""
    async with talk(scene=Scene(**SMALL)) as on:
        for _ in range(2):  # what is made once, of counting too, is there the second time
            await on.passed(5.0)
            counted()
        memory, queues, before = resident_mb(), waiting(on), counted()
        await on.passed(seconds)
        after = counted()

        assert {} == {name: count for name, count in grown(before, after).items() if name != "Event"}
        assert after["Event"] < 1_200  # the latest are kept, for who comes back
        assert queues == waiting(on)
        assert resident_mb() - memory < 5.0
        assert [] == on.said
        assert 0 == len(on.ears.given)


@pytest.mark.parametrize(
    ("turns", "most_mb"),
    [(12, 2.0), pytest.param(200, 4.0, marks=[pytest.mark.slow, pytest.mark.timeout(600)])],
)
async def test_h2_turns_leave_nothing_but_the_transcript(talk: Any, turns: int, most_mb: float) -> None:
    """200 turns, asked and answered: besides the transcript there are as many objects as before."""
    async with talk(["Yes, of course."], scene=Scene(**SMALL), fast=True) as on:

        async def ask(count: int) -> None:
            for _ in range(count):
                number = len(on.said) // 2 + 1
                on.say("speech/sphinx_cards_004.wav", "five five", at_s=on.room.now_s + 0.1)
                await on.room.reached("reply", number)
                await on.room.quiet(0.8)
                on.ears.given.clear()
                on.answers.seen.clear()
                on.answers.given.clear()

        await ask(6)
        counted()  # makes objects of its own, once
        memory, queues, before = resident_mb(), waiting(on), counted()
        await ask(turns)
        left = grown(before, counted())
        bounded = {"_Reply", "_Sentence", "deque"}  # a playback remembers 64 replies, its reader 64 sentences
        transcript = {"SpokenUtterance", "Utterance", "TurnTiming", "Mark", "Event", "tuple", "dict", "list", "float"}

        assert 2 * (6 + turns) == len(on.said)
        assert {} == {name: count for name, count in left.items() if name not in transcript | bounded}
        assert sum(left.values()) < 14 * turns + 128
        assert queues == waiting(on)
        assert resident_mb() - memory < most_mb


@pytest.mark.parametrize(
    "hours",
    [0.1, pytest.param(3.0, marks=[pytest.mark.slow, pytest.mark.timeout(900)])],
    ids=["minutes", "three-hours"],
)
def test_h3_a_recording_of_any_length_takes_the_same_memory_and_disk(tmp_path: Path, hours: float) -> None:
    """A recording goes to the disk: of three hours in both directions a minute is kept, in the same memory."""
    recorder = Recorder(RecordTo(tmp_path / "talk", minutes=1.0), header_now({}))
    random, rows = np.random.default_rng(1), []
    blocks = [np.asarray(0.1 * random.standard_normal(160), np.float32) for _ in range(500)]
    for number in range(round(hours * 360_000)):
        block, at_s = blocks[number % 500], number / 100
        frame = Frame(block.copy(), 16_000, number * 160)
        recorder.item(Captured(frame, at_s), at_s)
        recorder.item(Played(frame, at_s, Position(1, (number + 1) * 160, 16_000)), at_s)
        if number % 900 == 899:  # it holds 2,000
            _drained(recorder)
        if number % 3_600 == 3_599:
            rows.append((resident_mb(), size_mb(tmp_path / "talk"), len(gc.get_objects())))
    recorder.close()
    late = rows[len(rows) // 4 :]
    first, last = (min(row[2] for row in half) for half in (late[: len(late) // 2], late[len(late) // 2 :]))

    assert "" == recorder.trouble
    assert max(row[1] for row in rows) < 9.0, rows  # a minute, a segment that is complete, and the one under way
    assert late[-1][0] - late[0][0] < 2.0, rows
    assert last - first < 2_000, rows  # the least of each half: while a batch is written its 1,800 entries are there


def size_mb(folder: Path) -> float:
    """Of its files, of which one may go meanwhile."""
    size = 0
    for path in folder.iterdir():
        with suppress(FileNotFoundError):
            size += path.stat().st_size
    return size / 2**20


def _drained(recorder: Recorder) -> None:
    """Wait until all of it is written."""
    done = threading.Event()
    until = time.monotonic() + 10.0
    while recorder._queue.qsize() and time.monotonic() < until:
        done.wait(0.01)


@pytest.mark.timed
def test_h7_an_audio_queue_that_nobody_empties_is_bounded_and_counts_and_never_blocks() -> None:
    """A queue that backs up: it holds 2 s of both directions, counts what it drops, and keeps no callback waiting."""
    inbox = Inbox()
    block = Captured(Frame(np.zeros(160, np.float32), 16_000, 0), 0.0)
    began = time.perf_counter()
    taken = [inbox.put(block) for _ in range(20_000)]
    took_s = time.perf_counter() - began

    assert (600, 19_400, 600) == (sum(taken), inbox.dropped, inbox.waiting)
    assert took_s / 20_000 < 0.000_1
    assert inbox.put(Call(lambda: None))  # what decides still gets through


@pytest.mark.parametrize("ends", ["stop", "cancel"])
def test_h8_opened_and_closed_at_every_step_leaves_no_task(talk: Any, ends: str) -> None:
    """Opened, and closed again after any number of steps of the event loop: no task is left, nothing is open."""

    async def hold(steps: int) -> tuple[int, int]:
        before = len(asyncio.all_tasks())
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_open, talk)
            for _ in range(steps):
                await anyio.lowlevel.checkpoint()
            tasks.cancel_scope.cancel()
        return before, len(asyncio.all_tasks())

    async def stopped(steps: int) -> tuple[int, int]:
        before = len(asyncio.all_tasks())
        async with talk(["Yes."], scene=Scene(**SMALL), fast=True, synthesis_s=0.0) as on:
            await on.session.say("Go.")
            for _ in range(steps):
                await anyio.lowlevel.checkpoint()
            await on.session.stop()
        return before, len(asyncio.all_tasks())

    for steps in [*range(30), 45, 70, 110, 170]:
        main = hold if ends == "cancel" else stopped
        before, after = anyio.run(main, steps, backend_options={"loop_factory": VirtualTimeLoop})
        assert before == after, steps
    assert 1 == len([thread for thread in threading.enumerate() if thread is threading.main_thread()])
    assert not [thread for thread in threading.enumerate() if thread.name == "audio"]


async def _open(talk: Any) -> None:
    async with talk(["Yes."], scene=Scene(**SMALL), fast=True, synthesis_s=0.0) as on:
        await on.session.say("Go.")
        await anyio.sleep(5.0)


ANSWER = ["There is a lot to tell about that.", "It began a long time ago in the north."]
Row = tuple[float, int, float, int, dict[str, int]]
"""Hours, barge-ins, megabytes, objects, queues."""


async def talk_over_again_and_again(on: Any, count: int, *, every_s: float, rows_of: int, dbfs: float) -> list[Row]:
    """Somebody talks over a reply, and is answered, `count` times; what there was after every `rows_of` times."""
    rows: list[Row] = []
    for number in range(1, count + 1):
        heard = on.room._world._counts.get("reply", 0)
        await on.session.speak(ANSWER[0])
        over = After("reply", heard + 1, 0.6)
        on.say("speech/sphinx_cards_004.wav", "five five", after=over, dbfs=dbfs)
        with suppress(TimeoutError):  # a detector may not have heard it
            await on.room.reached("reply", heard + 2, within_s=every_s - 4.0)
        await on.passed(0.5)
        await on.session.interrupt()
        until_s = number * every_s
        await on.room.until(lambda until_s=until_s: on.room.now_s >= until_s)
        on.ears.given.clear()
        on.answers.seen.clear()
        on.answers.given.clear()
        on.answers.cancelled_s.clear()
        on.voice.spoken.clear()
        on.ears.calls.clear()
        await on.told("floor")  # as somebody who reads: what nobody does fills a buffer of 1,024 first
        on._told.clear()
        del on.room._world._marks[:-40]  # the room's own notes, of which no talk has any (0.3 MB an hour)
        if number % rows_of == 0:
            rows.append((on.room.now_s / 3_600.0, number, resident_mb(), sum(counted().values()), waiting(on)))
    return rows


def told_flat(on: Any, rows: list[Row], capsys: pytest.CaptureFixture[str], *, each: float = 4.5) -> None:
    """97 of 100 were interruptions; nothing grew but the transcript, of which `each` adds so many objects."""
    with capsys.disabled():
        for hours, count, megabytes, objects, queues in rows:
            print(f"\n{hours:5.2f} h {count:5} barge-ins {megabytes:7.2f} MB {objects:7} objects {queues}", end="")
    late = rows[len(rows) // 4 :]
    first, last = late[0], late[-1]
    slope = float(np.polyfit([row[0] for row in late], [row[2] for row in late], 1)[0])
    cut = sum(reply.interrupted for reply in on.replies)
    with capsys.disabled():
        print(f"\nslope {slope:.3f} MB/h, {cut} interrupted of {len(on.replies)}")

    assert cut >= 0.97 * 2 * last[1]
    assert len({tuple(row[4].items()) for row in rows}) == 1
    assert (last[3] - first[3]) / (last[1] - first[1]) < each
    if last[0] - first[0] < 0.5:
        assert last[2] - first[2] < 4.0  # minutes say no more than that
    else:
        assert slope < 1.0


@pytest.mark.slow
@pytest.mark.timeout(1_500)
async def test_three_hours_with_a_thousand_interruptions_are_flat(
    talk: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    """Three simulated hours, 1000 barge-ins: objects, tasks, threads and queues stay, memory grows < 1 MB an hour."""
    scene = Scene(echo=Echo(gain_db=None), **SMALL)
    async with talk(ANSWER, scene=scene, fast=True) as on:
        rows = await talk_over_again_and_again(on, 1_000, every_s=10.8, rows_of=50, dbfs=-26.0)
        told_flat(on, rows, capsys)


@pytest.mark.parametrize(
    ("count", "rows_of", "each"),
    [
        (8, 2, 40.0),  # what is remembered for a while, as the latest replies, still fills
        pytest.param(300, 20, 4.5, marks=[pytest.mark.slow, pytest.mark.timeout(3_000)]),
    ],
)
async def test_an_hour_of_interruptions_over_an_echo_is_flat_also_with_the_real_detectors_and_canceller(
    talk: Any, capsys: pytest.CaptureFixture[str], count: int, rows_of: int, each: float
) -> None:
    """The same for an hour with 300 barge-ins, with what hears voices and removes the echo in a real talk."""
    scene = Scene(echo=Echo(gain_db=-15.0, delay_s=0.08), **SMALL)
    async with talk(ANSWER, scene=scene) as on:
        rows = await talk_over_again_and_again(on, count, every_s=12.0, rows_of=rows_of, dbfs=-18.0)
        told_flat(on, rows, capsys, each=each)
