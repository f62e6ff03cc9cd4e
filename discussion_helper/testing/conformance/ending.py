"""Rules about the end of a part: it closes, and one that is dead or slow says so or is left."""

from functools import partial
from typing import Any

import anyio

from discussion_helper.background import Background
from discussion_helper.errors import DiscussionError
from discussion_helper.testing.conformance.bench import Bench
from discussion_helper.testing.conformance.calls import outcome_of, result_of, said
from discussion_helper.testing.conformance.course import CANCEL, left_long
from discussion_helper.testing.conformance.port import ANSWERS, Port
from discussion_helper.testing.conformance.rule import Broken, expect
from discussion_helper.testing.conformance.suite import Check

__all__ = ["CLOSES", "closing_check", "closing_checks", "ending_checks"]

CLOSES = "close-is-idempotent"


def closing_check(port: Port) -> Check:
    """The rule of every part that is closed on the event loop."""
    rule = port.rule(
        CLOSES,
        "aclose ends soon and without an error: before any call, after one, and a second time.",
        "Remember that it was closed, and release only what is there.",
    )
    return Check(rule, partial(_close, port), (ANSWERS,))


def closing_checks(port: Port) -> tuple[Check, ...]:
    """The same, and that of parts whose calls end when they are closed."""
    return (
        closing_check(port),
        Check(
            port.rule(
                "close-ends-a-call",
                "A call that is going on ends when the part is closed.",
                "Let aclose stop the work, or wake whoever waits for it.",
            ),
            partial(_close_in_call, port),
            (CLOSES, CANCEL),
        ),
    )


def ending_checks(port: Port) -> tuple[Check, ...]:
    """The rules of warming up, and those of parts that are dead or slow."""
    return (
        Check(
            port.rule(
                "warms-up-again",
                "warmup, where there is one, ends without an error, also a second time.",
                "Load what is not loaded yet.",
            ),
            _warm,
            (ANSWERS,),
        ),
        Check(
            port.rule(
                "dead-is-told",
                "A part that cannot work raises an error of discussion_helper.errors, with a fix, in bounded time.",
                "Wrap the library's errors, and give every wait a limit.",
            ),
            partial(_dead, port),
            (ANSWERS,),
        ),
        Check(
            port.rule(
                "slow-can-be-left",
                "A call that takes very long can be cancelled, or fails with an error of discussion_helper.errors.",
                "Never wait shielded, nor with the event loop blocked.",
            ),
            partial(_slow, port),
            (ANSWERS,),
        ),
    )


async def _close(port: Port, bench: Bench[Any]) -> None:
    limits = bench.limits
    for calls in (0, 1):
        part = bench.make()
        for given in port.given[:calls]:
            await outcome_of(partial(port.call, part, given), within_s=limits.call_s)
        for time in ("once", "twice"):
            try:
                await result_of(part.aclose, within_s=limits.close_s)
            except Broken as broken:
                raise Broken(f"closed {time}, after {calls} calls, {broken}") from None


async def _close_in_call(port: Port, bench: Bench[Any]) -> None:
    """Early in a call, whatever it ends with."""
    limits = bench.limits
    took_s = (await outcome_of(lambda: port.call(bench.part, port.given[1]), within_s=limits.call_s)).took_s
    async with bench.own() as part:
        call = Background(lambda: port.call(part, port.given[1]), name="a call").start()
        with anyio.move_on_after(took_s / 4):
            await call.finished()
        await result_of(part.aclose, within_s=limits.close_s)
        ended = await call.ends(within_s=limits.let_go_s + took_s)
        await call.stop(within_s=limits.let_go_s)
        expect(ended, f"{limits.let_go_s + took_s:.2f} s after aclose the call was still at it")


async def _warm(bench: Bench[Any]) -> None:
    warmup = getattr(bench.part, "warmup", None)
    for _ in range(2 if warmup is not None else 0):
        await result_of(warmup, within_s=bench.limits.call_s)  # type: ignore[arg-type]


async def _dead(port: Port, bench: Bench[Any]) -> None:
    """Made or called: a part may look at its model's files when it is made."""
    make = bench.dead()

    async def call() -> object:
        async with bench.own(make) as part:
            return await port.call(part, port.given[0])

    outcome = await outcome_of(call, within_s=bench.limits.call_s)
    if outcome.error is None:
        raise Broken("it raised nothing")
    if not isinstance(outcome.error, DiscussionError):
        raise Broken(f"it raised {said(outcome.error)}")
    expect(bool(outcome.error.fix), f"its error names no fix: {said(outcome.error)}")


async def _slow(port: Port, bench: Bench[Any]) -> None:
    async with bench.own(bench.slow()) as part:
        await left_long(bench, lambda: port.call(part, port.given[0]), "while it takes very long")
