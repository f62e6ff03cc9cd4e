"""Measure text streams: deliveries, idle streams, the overhead of a turn, attach storms.

    python -m benchmarks.text_streams [--quick] [--backend asyncio|trio]

Deliveries: one task emits through a stream (in the first row it publishes to a hub), and each watcher is read by a
task of its own; an event counts when that task has it. The emitter lets the readers run after each burst of 50, half
of a watcher's buffer, so nothing is dropped, which is checked. Idle streams: opened on threads in memory, with their
share of the process's memory, and the CPU that the process takes while nothing happens. Overhead: from `submit` to
the moment in which a watcher's task has the first delta of a provider that gives it at once. Attach storm: 50 tasks
attach to each of 200 threads.
"""

import argparse
import gc
import time
from statistics import median

import anyio
import psutil
from rich.console import Console
from rich.table import Table

from discussion_helper.audio.analysis import percentile
from discussion_helper.events import DropNewest, EventHub
from discussion_helper.text import Manager, MemoryThreads, PropertiesEvent, Step, Subscription, TextDelta
from discussion_helper.text.inputs import UserMessageEvent
from discussion_helper.text.outputs import OutputEvent
from discussion_helper.text.providers.scripted import ScriptedProvider

__all__ = ["main"]

BURST = 50
IDLE_S = 5.0


def main() -> None:
    """Read the command line, measure, print the table."""
    parser = argparse.ArgumentParser(prog="benchmarks.text_streams", description="Measure text streams.")
    parser.add_argument("--quick", action="store_true", help="a tenth of it")
    parser.add_argument("--backend", default="asyncio", choices=("asyncio", "trio"), help="event loop")
    chosen = parser.parse_args()
    share = 10 if chosen.quick else 1
    table = Table(title=f"text streams, {chosen.backend}")
    for column in ("measure", "median", "p95", "wanted"):
        table.add_column(column)
    for row in anyio.run(_measured, share, backend=chosen.backend):
        table.add_row(*row)
    Console().print(table)


async def _measured(share: int) -> list[tuple[str, str, str, str]]:
    rows = []
    rates = [await _of_hub(500_000 // share) for _ in range(5)]
    worst = percentile([-rate for rate in rates], 95)
    rows.append(("of the hub alone, 1 watcher", f"{median(rates):,.0f}", f"{-worst:,.0f}", ">= 500,000"))
    for watchers in (1, 10, 1000):
        rates = [await _deliveries(watchers, max(BURST, 500_000 // share // watchers)) for _ in range(5)]
        worst = percentile([-rate for rate in rates], 95)
        wanted = ">= 500,000"
        rows.append((f"deliveries a second, {watchers} watchers", f"{median(rates):,.0f}", f"{-worst:,.0f}", wanted))
    size, busy, opened_s = await _idle(10_000 // share)
    rows.append((f"memory of each of {10_000 // share:,} idle streams, kB", f"{size / 1e3:.1f}", "", "<= 10"))
    rows.append(("CPU while they are idle, % of a core", f"{busy:.1f}", "", ""))
    rows.append(("opening one of them, µs", f"{1e6 * opened_s:.0f}", "", ""))
    waits = await _overheads(5_000 // share)
    rows.append(
        ("submit to first delta, µs", f"{1e6 * median(waits):.0f}", f"{1e6 * percentile(waits, 95):.0f}", "<= 100")
    )
    storms = [await _storm(50) for _ in range(200 // share)]
    rows.append(
        ("50 attaches to one thread, ms", f"{1e3 * median(storms):.2f}", f"{1e3 * percentile(storms, 95):.2f}", "")
    )
    return rows


def _manager(provider: ScriptedProvider | None = None) -> Manager:
    return Manager(MemoryThreads(), provider or ScriptedProvider(), lambda _: Step())


async def _deliveries(watchers: int, events: int) -> float:
    """Events that tasks had, a second."""
    async with _manager() as manager:
        stream = await manager.create()
        subscriptions = [stream.subscribe() for _ in range(watchers)]
        counts = [0] * watchers

        async def read(index: int, subscription: Subscription[OutputEvent]) -> None:
            async for _ in subscription:
                counts[index] += 1

        async with anyio.create_task_group() as tasks:
            for index, subscription in enumerate(subscriptions):
                tasks.start_soon(read, index, subscription)
            await anyio.wait_all_tasks_blocked()
            began = time.perf_counter()
            event = PropertiesEvent({"model": "none"})
            for number in range(events):
                await stream.emit(event)
                if number % BURST == BURST - 1:
                    while subscriptions[-1]:
                        await anyio.lowlevel.checkpoint()
            while min(counts) < events:
                await anyio.lowlevel.checkpoint()
            took = time.perf_counter() - began
            await stream.aclose()
        assert sum(counts) == watchers * events
        assert not any(subscription.dropped for subscription in subscriptions)
        return sum(counts) / took


async def _of_hub(events: int) -> float:
    """Events that one task had of a hub that another publishes to, a second."""
    hub: EventHub[int] = EventHub(overflow=DropNewest(lambda _: True), capacity=BURST)
    watcher, count = hub.subscribe(), 0

    async def read() -> None:
        nonlocal count
        async for _ in watcher:
            count += 1

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(read)
        await anyio.wait_all_tasks_blocked()
        began = time.perf_counter()
        for number in range(events):
            hub.publish(number)
            if number % BURST == BURST - 1:
                while watcher:
                    await anyio.lowlevel.checkpoint()
        while count < events:
            await anyio.lowlevel.checkpoint()
        took = time.perf_counter() - began
        hub.close()
    assert not watcher.dropped
    return count / took


async def _idle(count: int) -> tuple[float, float, float]:
    """Bytes of each, percent of a core, seconds to open each."""
    process = psutil.Process()
    async with _manager() as manager:
        gc.collect()
        before, began = process.memory_info().rss, time.perf_counter()
        for _ in range(count):
            await manager.create()
        opened_s = (time.perf_counter() - began) / count
        gc.collect()
        size = (process.memory_info().rss - before) / count
        process.cpu_percent()
        await anyio.sleep(IDLE_S)
        return size, process.cpu_percent(), opened_s


async def _overheads(count: int) -> list[float]:
    waits = []
    async with _manager(ScriptedProvider([TextDelta("yes")])) as manager:
        for _ in range(count):
            stream = await manager.create()
            deltas = stream.subscribe("text_delta")
            await stream.process(UserMessageEvent("warm"))
            await anext(deltas)
            began = time.perf_counter()
            stream.submit(UserMessageEvent("hi"))
            await anext(deltas)
            waits.append(time.perf_counter() - began)
            await stream.aclose()
    return waits


async def _storm(tasks_count: int) -> float:
    async with _manager() as manager:
        thread = await manager.store.create()
        began = time.perf_counter()
        async with anyio.create_task_group() as tasks:
            for _ in range(tasks_count):
                tasks.start_soon(manager.attach, thread.id)
        return time.perf_counter() - began


if __name__ == "__main__":
    main()
