"""Measure how late the audio thread and the event loop are while models work, and what holds them up.

    python -m benchmarks.lateness [--seconds N] [--rounds N] [--only ROW ...] [--python] [--places]

The audio thread is a talk's, on files as devices: 10 ms blocks of recorded people, while the agent's voice is played.
Beside it the recogniser (tiny.en), the language model (SmolLM2-135M) and the voice (joe-medium) work without a pause,
in the order of a talk: a turn is recognised, and each clause of the answer is synthesised while the next one is
decoded; with `--python` a thread that computes in Python works instead. Each row changes the interpreter: the garbage
collector, or how long a thread keeps the interpreter's lock that another one wants. The rows take turns, `--rounds`
times; the figures are medians over the rounds, in ms.

late: from the device's callback to the end of the audio thread's work on the block; net: without what the thread
waited for a core (Linux; the wait of another thread that has the lock is in it). loop: how late the event loop wakes a
task. lock: how long a thread waits for the lock that wants it every millisecond, without its wait for a core.
collections: how many of each generation in all, and the longest. turns: answered by the models. `--places` tells what
the other threads did at the longest waits.
"""

import argparse
import gc
import sys
import tempfile
import threading
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import anyio
from rich.console import Console
from rich.table import Table

from benchmarks.lock_waits import LockWaits, QueueTime, Wait, longest
from benchmarks.pauses import Pauses
from discussion_helper.audio.analysis import percentile
from discussion_helper.audio.echo import EchoPath
from discussion_helper.audio.files import load
from discussion_helper.audio.frames import Samples
from discussion_helper.audio.inbox import Inbox
from discussion_helper.audio.resample import resample
from discussion_helper.bench.lag import LagMeter, with_missed
from discussion_helper.choices import choose
from discussion_helper.commands.interpreter import SWITCH_S
from discussion_helper.listening import hearing_with
from discussion_helper.responder.embedded import EmbeddedResponder
from discussion_helper.settings import Settings
from discussion_helper.stt.whisper import WhisperRecogniser
from discussion_helper.tts.piper import PiperSynthesiser
from discussion_helper.types import Message
from discussion_helper.voice.audio_thread import AudioThread
from discussion_helper.voice.audio_work import AudioWork
from discussion_helper.voice.devices import RATE, file_devices
from discussion_helper.voice.engine import AudioEngine
from discussion_helper.voice.health import Lateness
from discussion_helper.voice.notes import Decided, Note

__all__ = ["main"]

QUESTIONS = ("What is the capital of France?", "Why is the sky blue?", "How do I boil an egg?")
REPLY = (
    "The old lighthouse stands on a narrow strip of rock, a mile from the village, and every evening the keeper climbs."
)


@dataclass(frozen=True, slots=True)
class Row:
    """A state of the interpreter."""

    name: str
    switch_s: float = 0.005
    frozen: bool = False
    thresholds: tuple[int, int, int] = (700, 10, 10)
    collects: bool = True

    def apply(self) -> None:
        """Bring it about, from whatever it was."""
        gc.unfreeze()
        gc.collect()
        if self.frozen:
            gc.freeze()
        gc.set_threshold(*self.thresholds)
        (gc.enable if self.collects else gc.disable)()
        sys.setswitchinterval(self.switch_s)


ROWS = (
    Row("default"),
    Row("frozen", frozen=True),
    Row("thresholds 50,000", thresholds=(50_000, 20, 100)),
    Row("no collection", collects=False),
    Row("switch 1 ms", switch_s=0.001),
    Row("switch 0.5 ms", switch_s=0.0005),
    Row("switch 0.1 ms", switch_s=0.0001),
    Row(f"frozen, switch {1e3 * SWITCH_S:g} ms", switch_s=SWITCH_S, frozen=True),
)


@dataclass(slots=True)
class Round:
    """What was measured of one row once; times in seconds."""

    late: list[float]
    net: list[float]
    lags: list[float]
    waits: list[Wait]
    pauses: list[tuple[int, float]]
    work: int
    """Turns that the models answered."""


class Kept(Lateness):
    """All of them, not a histogram; `net` is without what the thread waited for a core since the block before."""

    def __init__(self) -> None:
        super().__init__()
        self.all: list[float] = []
        self.net: list[float] = []
        self._queue: QueueTime | None = None
        self._queued_s = 0.0

    def add(self, late_s: float) -> None:
        """One more."""
        if self._queue is None:  # on the thread that is asked about
            self._queue = QueueTime()
            self._queued_s = self._queue.read()
        before, self._queued_s = self._queued_s, self._queue.read()
        self.all.append(late_s)
        self.net.append(max(0.0, late_s - (self._queued_s - before)))


@dataclass(slots=True)
class Models:
    """The three, at work without a pause."""

    recogniser: WhisperRecogniser
    responder: EmbeddedResponder
    synthesiser: PiperSynthesiser
    turn: Samples
    answered: int = 0

    async def run(self) -> None:
        """Until cancelled."""
        while True:
            await self.recogniser.recognise(self.turn)
            question = Message(role="user", content=QUESTIONS[self.answered % len(QUESTIONS)])
            async with anyio.create_task_group() as tasks:
                async for clause in self.responder.reply([question]):
                    tasks.start_soon(self.synthesiser.synthesise, clause)
            self.answered += 1

    async def aclose(self) -> None:
        """Release them."""
        for part in (self.responder, self.recogniser, self.synthesiser):
            await part.aclose()


class Agent:
    """Hears the notes of the audio thread; a reply that is interrupted is followed by another one."""

    def __init__(self, engine: AudioEngine, voice: Samples) -> None:
        self._engine, self._voice = engine, voice
        self._generation = 1

    def noted(self, note: Note) -> None:
        """Something was heard."""
        if isinstance(note, Decided) and note.what == "interruption":
            self._engine.playback.halt(self._generation)
            self._generation += 1

    def device(self, which: str, state: str, **more: str) -> None:
        """Files do not go away."""

    def lost(self, error: Exception) -> None:
        """It broke off."""
        raise error

    async def run(self) -> None:
        """Speak until cancelled."""
        while True:
            if self._engine.playback.pending(self._generation) < RATE:
                self._engine.playback.write(self._generation, self._voice)
            await anyio.sleep(0.5)


def main() -> None:
    """Read the command line, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=8.0, help="of each row in each round")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", nargs="+", default=[], metavar="ROW", help="rows whose name begins like that")
    parser.add_argument("--clips", type=Path, default=Path("audio"), help="folder of the recorded clips")
    parser.add_argument("--places", action="store_true", help="what the other threads did at the longest waits")
    parser.add_argument("--python", action="store_true", help="a thread of pure Python works instead of the models")
    given = parser.parse_args()
    rows = [row for row in ROWS if not given.only or row.name.startswith(tuple(given.only))]
    found = anyio.run(_measured, rows, given)
    _print(found)
    if given.places:
        _print_places([wait for rounds in found.values() for one in rounds for wait in one.waits])


async def _measured(rows: Sequence[Row], given: argparse.Namespace) -> dict[str, list[Round]]:
    found: dict[str, list[Round]] = {row.name: [] for row in rows}
    with LockWaits() as waits, Pauses() as pauses:
        async with _talking(given.clips, python=given.python) as (thread, models), anyio.create_task_group() as tasks:
            meter = LagMeter()
            tasks.start_soon(meter.run)
            for row in [row for _ in range(given.rounds) for row in rows]:
                row.apply()
                await anyio.sleep(0.5)
                kept = thread.lateness = Kept()
                for measure in (meter, waits, pauses):
                    measure.take()
                before = models.answered
                await anyio.sleep(given.seconds)
                lags = with_missed([lag for _, lag in meter.take()])
                found[row.name].append(
                    Round(kept.all, kept.net, lags, waits.take(), pauses.take(), models.answered - before)
                )
            tasks.cancel_scope.cancel()
    return found


@asynccontextmanager
async def _talking(clips: Path, *, python: bool) -> AsyncIterator[tuple[AudioThread, Models]]:
    """The audio thread hears and plays, and the models work."""
    settings = Settings(inputs=_clips(clips))
    threads: list[AudioThread] = []
    models = await _models(settings)
    voice = await _voice(models.synthesiser)
    with tempfile.TemporaryDirectory() as folder:
        devices = file_devices(settings.inputs, Path(folder) / "out.wav", None)
        assert devices.files is not None

        def driver(inbox: Inbox, work: AudioWork) -> AudioThread:
            threads.append(AudioThread(inbox, work))
            return threads[-1]

        echo = EchoPath()
        engine = AudioEngine(
            inbox=devices.inbox,
            open_capture=devices.open_capture,
            open_playback=devices.open_playback,
            hearing=lambda rate: hearing_with(rate, echo, policy=settings.policy, language="en"),
            driver=driver,
        )
        async with engine, anyio.create_task_group() as tasks:
            agent = Agent(engine, voice)
            await engine.open_microphone(agent)
            tasks.start_soon(agent.run)
            tasks.start_soon(_say, devices.files.say, len(settings.inputs))
            tasks.start_soon(_compute if python else models.run)
            await anyio.sleep(3.0)
            yield threads[0], models
            tasks.cancel_scope.cancel()
    await models.aclose()


async def _models(settings: Settings) -> Models:
    choices = choose(settings)
    assert isinstance(choices.llm, Path)
    turn = load(settings.inputs[0], 16_000).samples
    recogniser = WhisperRecogniser(choices.recogniser, language="en")
    made = Models(recogniser, EmbeddedResponder(choices.llm), PiperSynthesiser(choices.voice), turn)
    for part in (made.recogniser, made.responder, made.synthesiser):
        await part.warmup()
    return made


def _clips(folder: Path) -> tuple[Path, ...]:
    """People who say something."""
    return tuple(sorted((folder / "speech").glob("*"))[:6])


async def _voice(synthesiser: PiperSynthesiser) -> Samples:
    return resample((await synthesiser.synthesise(REPLY)).samples, synthesiser.rate, RATE)


async def _compute() -> None:
    """Keep a thread at work that never lets go of the lock by itself."""
    over = threading.Event()

    def work() -> None:
        while not over.is_set():
            sum(number * number for number in range(1000))

    try:
        await anyio.to_thread.run_sync(work, abandon_on_cancel=True)
    finally:
        over.set()


async def _say(say: Callable[[int], object], count: int) -> None:
    """One clip after the other: whichever finds room waits for its turn."""
    number = 0
    while True:
        try:
            say(number % count)
            number += 1
        except RuntimeError:  # enough wait
            await anyio.sleep(1.0)


def _print(found: dict[str, list[Round]]) -> None:
    table = Table(title="how late, ms")
    for column in (
        "row",
        "late P50",
        "P99",
        "worst",
        "net P99",
        "worst",
        "loop P99",
        "worst",
        "lock P99",
        "worst",
        "collections",
        "turns",
    ):
        table.add_column(column)
    for name, rounds in found.items():
        waits = [[wait.waited_s for wait in one.waits] for one in rounds]
        cells = [_of([one.late for one in rounds], percent) for percent in (50, 99, 100)]
        cells += [_of([one.net for one in rounds], percent) for percent in (99, 100)]
        cells += [_of([one.lags for one in rounds], percent) for percent in (99, 100)]
        cells += [_of(waits, percent) for percent in (99, 100)]
        table.add_row(name, *cells, _collections(rounds), f"{median(one.work for one in rounds):g}")
    Console(width=150).print(table)


def _of(rounds: Sequence[Sequence[float]], percent: float) -> str:
    return f"{1e3 * median(percentile(values, percent) for values in rounds):.2f}"


def _collections(rounds: Sequence[Round]) -> str:
    """How many of each generation in all, and the longest."""
    told = []
    for generation in range(3):
        lengths = [length for one in rounds for which, length in one.pauses if which == generation]
        told.append(f"{len(lengths)} ({1e3 * max(lengths):.1f})" if lengths else "0")
    return ", ".join(told)


def _print_places(waits: Sequence[Wait]) -> None:
    table = Table("longest wait, ms", "waits", "a thread that did not rest", title="waits of over 3 ms for the lock")
    for place, count, worst in longest(waits, 25):
        table.add_row(f"{1e3 * worst:.1f}", str(count), place)
    Console(width=200).print(table)


if __name__ == "__main__":
    main()
