"""Rules about the course of a call: it answers, can be left at any time, and holds up nobody."""

from collections.abc import Callable
from functools import partial
from typing import Any

import anyio

from discussion_helper.background import Background
from discussion_helper.event_loop import start_in
from discussion_helper.testing.conformance.bench import Bench
from discussion_helper.testing.conformance.calls import gap_of, in_thread, left, outcome_of, result_of
from discussion_helper.testing.conformance.port import ANSWERS, Port
from discussion_helper.testing.conformance.rule import Broken, expect
from discussion_helper.testing.conformance.suite import Check

__all__ = ["CANCEL", "LATER", "course_checks", "left_anywhere", "left_long", "one_by_one_checks", "works_still"]

CANCEL = "cancel-ends-it"
LATER = "works-after-a-cancel"
_SHARES = (0.1, 0.35, 0.6, 0.85)
"""Of an ordinary call, after which it is cancelled; and after 0 to 2 rounds of the event loop."""


def course_checks(port: Port) -> tuple[Check, ...]:
    """The rules of parts that take calls at once, and belong to no event loop."""
    rule = port.rule
    return (
        *one_by_one_checks(port),
        Check(
            rule(
                "calls-at-once-keep-apart",
                "Calls that overlap all end, each with what belongs to it.",
                "Keep what a call works on in local variables; let calls wait for each other (CapacityLimiter(1)).",
            ),
            partial(_at_once, port),
            port.stands_on,
        ),
        Check(
            rule(
                "works-on-two-loops",
                "Two parts work at the same time, each on an event loop in a thread of its own.",
                "Keep no state in the module or the class, and make events and locks where they are used.",
            ),
            partial(_two_loops, port),
            (CANCEL, "calls-at-once-keep-apart"),
        ),
    )


def one_by_one_checks(port: Port) -> tuple[Check, ...]:
    """The rules of every part that is called on the event loop."""
    rule = port.rule
    return (
        Check(
            rule(
                CANCEL,
                "A call ends soon after it is cancelled, at whatever time, and with no error.",
                "Let the cancellation through; stop a worker thread by a flag that it looks at, or abandon it.",
            ),
            partial(_cancel, port),
            (ANSWERS,),
        ),
        Check(
            rule(
                LATER,
                "After calls that were cancelled the next one gives what it would have given.",
                "Release locks and reset what a call has begun in a finally block.",
            ),
            partial(_later, port),
            (*port.stands_on, CANCEL),
        ),
        Check(
            rule(
                "leaves-the-loop-free",
                "The event loop goes on while a call works.",
                "Do what blocks in anyio.to_thread.run_sync.",
            ),
            partial(_loop_free, port),
            (ANSWERS,),
        ),
    )


def works_still(port: Port) -> Callable[[Bench[Any]], Any]:
    """An ordinary call of the shared part gives what it should."""

    async def call(bench: Bench[Any]) -> None:
        given = port.given[0]
        port.fits(await result_of(lambda: port.call(bench.part, given), within_s=bench.limits.call_s), given)

    return call


async def left_anywhere(bench: Bench[Any], call: Callable[[], Any]) -> None:
    """Cancel the call early and late. Raises Broken when it does not end."""
    limits = bench.limits
    took_s = (await outcome_of(call, within_s=limits.call_s)).took_s
    for turns in range(3):
        await left(call, f"after {turns} rounds of the event loop", turns=turns, within_s=limits.let_go_s)
    for share in _SHARES:
        after_s = share * took_s
        await left(call, f"after {after_s:.3f} s of {took_s:.3f}", after_s=after_s, within_s=limits.let_go_s)


async def left_long(bench: Bench[Any], call: Callable[[], Any], when: str) -> None:
    """Cancel a call that may take very long, if it is not over or refused by then. Raises Broken if it goes on."""
    limits = bench.limits
    await left(call, when, after_s=limits.patience_s, within_s=limits.let_go_s, may_refuse=True)


async def _cancel(port: Port, bench: Bench[Any]) -> None:
    await left_anywhere(bench, lambda: port.call(bench.part, port.given[1]))


async def _later(port: Port, bench: Bench[Any]) -> None:
    for turns in (1, 2, 5):
        await left(lambda: port.call(bench.part, port.given[2]), "", turns=turns, within_s=bench.limits.let_go_s)
        try:
            await works_still(port)(bench)
        except Broken as broken:
            raise Broken(f"after a call that was cancelled, {broken}") from None


async def _at_once(port: Port, bench: Bench[Any]) -> None:
    part = bench.part
    calls = [Background(partial(port.call, part, given), name="one of three").start() for given in port.given]
    with anyio.move_on_after(3 * bench.limits.call_s):
        for call in calls:
            await call.finished()
    for call, given in zip(calls, port.given, strict=True):
        if call.running:
            for each in calls:
                await each.stop(within_s=0.1)
            raise Broken("of three calls at once one did not end")
        result = await result_of(call.wait, within_s=bench.limits.call_s)
        port.fits(result, given)


async def _loop_free(port: Port, bench: Bench[Any]) -> None:
    """Twice, and the better one counts: a machine may be busy for a moment."""
    limits = bench.limits
    gaps = [
        await gap_of(lambda: port.call(bench.part, port.given[1]), within_s=limits.call_s),
        await gap_of(lambda: port.call(bench.part, port.given[1]), within_s=limits.call_s),
    ]
    expect(min(gaps) <= limits.blocked_s, f"it stood still for {min(gaps):.2f} s")


async def _two_loops(port: Port, bench: Bench[Any]) -> None:
    async def call() -> None:
        async with bench.own() as part:
            for given in port.given:
                result = await result_of(partial(port.call, part, given), within_s=bench.limits.call_s)
                port.fits(result, given)

    async with anyio.create_task_group() as tasks:
        failures: list[Exception] = []
        for _ in range(2):
            start_in(tasks, _elsewhere, call, failures)
    if failures:
        raise failures[0]


async def _elsewhere(call: Callable[[], Any], failures: list[Exception]) -> None:
    """On an event loop of its own."""
    try:
        await in_thread(lambda: anyio.run(call))
    except Exception as failure:
        failures.append(failure)
