"""Measure the embedded responder: delays, speed, how fast it stops, memory, idle processor time.

    python -m benchmarks.responder [MODEL.gguf] [--threads N] [--busy N]

Without a file it takes the default model from the store. `--busy N` runs N processes beside it that each keep one
core busy, as recogniser and synthesiser do in a talk. Every figure is a median; both ends are named in the table.
"""

import argparse
import multiprocessing
import statistics
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path

import anyio
import psutil
from rich.console import Console
from rich.table import Table

from discussion_helper.models import Store, load_manifest
from discussion_helper.responder.embedded import EmbeddedResponder
from discussion_helper.responder.llama import Llama
from discussion_helper.responder.prompt import system_prompt
from discussion_helper.types import Message

__all__ = ["main"]

QUESTIONS = (
    "Hello there!",
    "What is the capital of France?",
    "Why is the sky blue?",
    "How do I boil an egg?",
    "Can you help me plan a birthday party?",
    "Thank you, goodbye.",
)
IDLE_S = 5.0
STOPS = 5
LONG_WORDS = 1500

Figures = dict[str, str]


def main() -> None:
    """Run everything and print one table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", nargs="?", type=Path, help="a GGUF file; the default model if left out")
    parser.add_argument("--threads", type=int, default=1, help="threads of the model")
    parser.add_argument("--busy", type=int, default=0, help="cores to keep busy beside it")
    given = parser.parse_args()
    model = given.model or next(Store().path_of(load_manifest().model("SmolLM2-135M")).glob("*.gguf"))
    with _busy(given.busy):
        figures = _model_figures(model, given.threads) | anyio.run(_responder_figures, model, given.threads)
    _print(model, figures | {"threads / busy cores beside it": f"{given.threads} / {given.busy}"})


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


class _Reading:
    """The times of one completion's pieces, and how many tokens of the prompt had to be read."""

    def __init__(self, llama: Llama, messages: list[Message], max_tokens: int) -> None:
        system = {"role": "system", "content": system_prompt()}
        self.pieces: list[str] = []
        self._times: list[float] = []
        self._began = time.perf_counter()
        request = {"messages": [system, *messages], "max_tokens": max_tokens, "temperature": 0.0}
        llama.chat(request, self._take)

    def _take(self, piece: str) -> bool:
        if piece:
            self.pieces.append(piece)
            self._times.append(time.perf_counter() - self._began)
        return False

    @property
    def first_s(self) -> float:
        return self._times[0]

    @property
    def tokens_per_s(self) -> float:
        return (len(self._times) - 1) / max(self._times[-1] - self._times[0], 1e-9)


def _model_figures(model: Path, threads: int) -> Figures:
    process = psutil.Process()
    before = process.memory_info().rss
    began = time.perf_counter()
    llama = Llama(model, threads=threads, context=2048)
    loaded_s = time.perf_counter() - began
    cold = _Reading(llama, [_user("Hello there!")], 1).first_s
    messages: list[Message] = []
    readings = []
    for question in QUESTIONS:
        messages.append(_user(question))
        readings.append(_Reading(llama, messages, 48))
        messages.append({"role": "assistant", "content": "".join(readings[-1].pieces)})
    return {
        "load: file -> ready": _ms([loaded_s]),
        "first token, nothing in the cache": _ms([cold]),
        "first token, the conversation in the cache": _ms([reading.first_s for reading in readings[1:]]),
        "decoding": f"{statistics.median(r.tokens_per_s for r in readings if len(r.pieces) > 4):.0f} tokens/s",
        "memory with the model and 2048 tokens of context": f"+{(process.memory_info().rss - before) / 1e6:.0f} MB",
    }


async def _responder_figures(model: Path, threads: int) -> Figures:
    responder = EmbeddedResponder(model, threads=threads, seed=1)
    await responder.warmup()
    figures = await _dialogue(responder)
    decoding = [await _stop(responder, "Tell me a long story about a dog.", 0.4) for _ in range(STOPS)]
    prefill = [await _stop(responder, f"{n} " + "word " * LONG_WORDS, 0.3) for n in range(STOPS)]
    figures["stop while decoding: close -> thread free"] = _ms(decoding)
    figures[f"stop in a cold prefill of {LONG_WORDS} words: the same"] = _ms(prefill)
    await responder.warmup()  # waits for the thread of the last stop
    began = time.process_time()
    await anyio.sleep(IDLE_S)
    figures["processor while idle"] = f"{100 * (time.process_time() - began) / IDLE_S:.2f} % of one core"
    began = time.perf_counter()
    await responder.aclose()
    figures["closing the responder"] = _ms([time.perf_counter() - began])
    return figures


async def _dialogue(responder: EmbeddedResponder) -> Figures:
    messages: list[Message] = []
    firsts: list[float] = []
    lags: list[float] = []
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_watch, lags)
        for question in QUESTIONS:
            messages.append(_user(question))
            began = time.perf_counter()
            times, clauses = [], []
            async for clause in responder.reply(messages):
                times.append(time.perf_counter() - began)
                clauses.append(clause)
            firsts.append(times[0])
            messages.append({"role": "assistant", "content": " ".join(clauses)})
        tasks.cancel_scope.cancel()
    lags.sort()
    return {
        "first clause: call -> first item": _ms(firsts),
        "event loop's lag meanwhile, p99": f"{1000 * lags[int(0.99 * len(lags))]:.0f} ms",
    }


async def _watch(lags: list[float]) -> None:
    """Note how late the event loop is, every 5 ms."""
    while True:
        began = time.perf_counter()
        await anyio.sleep(0.005)
        lags.append(time.perf_counter() - began - 0.005)


async def _stop(responder: EmbeddedResponder, text: str, after_s: float) -> float:
    """Seconds to close a reply that has been going on for `after_s`."""
    await responder.warmup()  # waits for the thread of the stop before
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_consume, responder.reply([_user(text)]))
        await anyio.sleep(after_s)
        began = time.perf_counter()
        tasks.cancel_scope.cancel()
    return time.perf_counter() - began


async def _consume(clauses: AsyncIterator[str]) -> None:
    async for _ in clauses:
        pass


def _user(text: str) -> Message:
    return {"role": "user", "content": text}


def _ms(seconds: list[float]) -> str:
    text = f"{1000 * statistics.median(seconds):.0f} ms"
    return text if len(seconds) == 1 else f"{text} (to {1000 * max(seconds):.0f})"


def _print(model: Path, figures: Figures) -> None:
    table = Table("measure", "median (to worst)", title=f"{model.name}")
    for name, value in figures.items():
        table.add_row(name, value)
    Console().print(table)


if __name__ == "__main__":
    main()
