"""Measure the synthesiser: time per clause, speed, how fast it stops, silence at the edges, memory.

    python -m benchmarks.speaking [VOICE] [--threads N] [--busy N]

Without a voice (an .onnx file or its folder) it takes the default one from the store. `--busy N` runs N processes
beside it that each keep one core busy, as recogniser and language model do in a talk. Both ends of every figure are
named in the table.
"""

import argparse
import multiprocessing
import statistics
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import anyio
import numpy as np
import psutil
from rich.console import Console
from rich.table import Table

from discussion_helper.models import Store, load_manifest
from discussion_helper.responder.clauses import ClauseSplitter
from discussion_helper.tts.base import Speech
from discussion_helper.tts.piper import PiperSynthesiser
from discussion_helper.tts.speakable import speakable

__all__ = ["main"]

CLAUSES = (
    "That is right.",
    "I would be glad to help you with your trip.",
    "I would be glad to help you with your trip to the mountains next week if you tell me more now.",
)
WRITTEN = "**Dr. Smith** paid $3.50 at 14:30 for 5 km by [bus](https://example.com), i.e. 12% less than in 1999 🙂."
REPLY = "You could take the early train from the central station, change once in the valley, and walk up from there."
LONG = "this text has no mark at all and just goes on " * 40
ROUNDS = 9
STOPS = 9
TOKENS_PER_S = 95
"""Decoding speed of the default language model, for the time until a clause is complete."""

Figures = dict[str, str]


def main() -> None:
    """Run everything and print one table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "voice", nargs="?", type=Path, help="an .onnx file or its folder; the default voice if left out"
    )
    parser.add_argument("--threads", type=int, default=2, help="threads of the network")
    parser.add_argument("--busy", type=int, default=0, help="cores to keep busy beside it")
    given = parser.parse_args()
    voice = given.voice or Store().path_of(load_manifest().model("joe-medium"))
    with _busy(given.busy):
        figures = _text_figures() | anyio.run(_voice_figures, voice, given.threads)
    table = Table(
        "measure", "median (to worst)", title=f"{voice.name}, {given.threads} threads, {given.busy} busy cores"
    )
    for name, value in figures.items():
        table.add_row(name, value)
    Console().print(table)


@contextmanager
def _busy(count: int) -> Iterator[None]:
    processes = [multiprocessing.Process(target=_spin, daemon=True) for _ in range(count)]
    for process in processes:
        process.start()
    try:
        yield
    finally:
        for process in processes:
            process.kill()


def _spin() -> None:
    while True:
        pass


def _text_figures() -> Figures:
    speakable(WRITTEN)  # imports the number words
    splitter, began = ClauseSplitter(), time.perf_counter()
    items = [item for _ in range(100) for item in (*splitter.feed(REPLY), *splitter.flush())]
    split_s = (time.perf_counter() - began) / 100
    first = len(items[0].split())
    return {
        f"speakable: {len(WRITTEN)} characters -> text": _ms([_timed_speakable() for _ in range(ROUNDS)]),
        f"splitter: {len(REPLY)} characters, one by one": f"{1000 * split_s:.1f} ms",
        f"first clause of {len(REPLY.split())} words": f"{first}, {1.35 * first / TOKENS_PER_S:.2f} s of tokens",
    }


def _timed_speakable() -> float:
    began = time.perf_counter()
    speakable(WRITTEN)
    return time.perf_counter() - began


async def _voice_figures(voice: Path, threads: int) -> Figures:
    process = psutil.Process()
    before, began = process.memory_info().rss, time.perf_counter()
    synthesiser = PiperSynthesiser(voice, threads=threads)
    await synthesiser.warmup()
    figures = {"warm-up: nothing loaded -> ready": _ms([time.perf_counter() - began])}
    for clause in CLAUSES:
        figures |= await _clause_figures(synthesiser, clause)
    grown = process.memory_info().rss
    stops = [await _stop(synthesiser, 0.15 + 0.02 * n) for n in range(STOPS)]
    figures["stop while it works: cancel -> thread free"] = _ms(stops)
    speech = await synthesiser.synthesise(LONG)
    figures[f"memory after clauses of up to {len(CLAUSES[-1].split())} words"] = f"+{(grown - before) / 1e6:.0f} MB"
    figures[f"memory after {len(speech.samples) / speech.rate:.0f} s of speech in one call"] = (
        f"+{(process.memory_info().rss - before) / 1e6:.0f} MB"
    )
    await synthesiser.aclose()
    return figures


async def _clause_figures(synthesiser: PiperSynthesiser, clause: str) -> Figures:
    times, speeches = [], []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        speeches.append(await synthesiser.synthesise(clause))
        times.append(time.perf_counter() - began)
    seconds = statistics.median(len(speech.samples) / speech.rate for speech in speeches)
    leads, tails = zip(*map(_edges, speeches), strict=True)
    name = f"{len(clause.split())} words"
    return {
        f"{name}: call -> speech": f"{_ms(times)}, {statistics.median(times) / seconds:.3f} x real time",
        f"{name}: silence before / after the sound": f"{_ms(leads)} / {_ms(tails)}",
    }


def _edges(speech: Speech) -> tuple[float, float]:
    """Seconds before the first and after the last sample above -40 dBFS."""
    loud = np.flatnonzero(np.abs(speech.samples) > 0.01)
    return float(loud[0] / speech.rate), float((len(speech.samples) - 1 - loud[-1]) / speech.rate)


async def _stop(synthesiser: PiperSynthesiser, after_s: float) -> float:
    """Seconds to end a call that has been going on for `after_s`."""
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(synthesiser.synthesise, LONG)
        await anyio.sleep(after_s)
        began = time.perf_counter()
        tasks.cancel_scope.cancel()
    return time.perf_counter() - began


def _ms(seconds: list[float] | tuple[float, ...]) -> str:
    text = f"{1000 * statistics.median(seconds):.0f} ms"
    return text if len(seconds) == 1 else f"{text} (to {1000 * max(seconds):.0f})"


if __name__ == "__main__":
    main()
