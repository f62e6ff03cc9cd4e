"""The rules of listeners."""

import math
from functools import partial
from typing import Any

from discussion_helper.iteration import closing
from discussion_helper.parts import Listener, Mutable
from discussion_helper.testing.conformance.bench import Bench
from discussion_helper.testing.conformance.calls import gap_of, left, outcome_of, result_of
from discussion_helper.testing.conformance.course import CANCEL
from discussion_helper.testing.conformance.ending import closing_check, ending_checks
from discussion_helper.testing.conformance.port import ANSWERS, Port
from discussion_helper.testing.conformance.rule import Unchecked, expect
from discussion_helper.testing.conformance.suite import Suite
from discussion_helper.types import Utterance

__all__ = ["LISTENER_RULES", "check_listener"]


async def _first(part: Listener, _: object) -> Any:
    async with closing(part.utterances(), within_s=1.0) as turns:
        return await anext(turns, None)


def _fits(turn: Any, _: object) -> None:
    expect(isinstance(turn, Utterance), f"its first turn was {turn!r}")


_PORT = Port(name="listener", call=_first, given=(1, 2, 3), fits=_fits)


async def _heard(bench: Bench[Listener]) -> Any:
    async with bench.own() as part:
        return await result_of(partial(_first, part, None), within_s=bench.limits.call_s)


async def _answers(bench: Bench[Listener]) -> None:
    _fits(await _heard(bench), None)


async def _users(bench: Bench[Listener]) -> None:
    turn = await _heard(bench)
    expect(turn.speaker == "user", f"the speaker of its turn is {turn.speaker!r}")


async def _dated(bench: Bench[Listener]) -> None:
    turn = await _heard(bench)
    in_order = math.isfinite(turn.started_s) and turn.started_s <= turn.ended_s < math.inf
    expect(in_order, f"its turn lasts from {turn.started_s:g} to {turn.ended_s:g}")


async def _cancel(bench: Bench[Listener]) -> None:
    """Each time a new one: what was cancelled need not hear again."""
    limits = bench.limits
    async with bench.own() as part:
        took_s = (await outcome_of(partial(_first, part, None), within_s=limits.call_s)).took_s
    for turns, share in ((0, 0.0), (1, 0.0), (3, 0.0), (0, 0.5), (0, 0.9)):
        async with bench.own() as part:
            when = f"after {turns} rounds of the event loop and {share * took_s:.3f} s"
            call = partial(_first, part, None)
            await left(call, when, turns=turns, after_s=share * took_s, within_s=limits.let_go_s)


async def _speech(bench: Bench[Listener]) -> None:
    async with bench.own() as part:
        for turns in (1, 3):
            await left(part.speech_started, "early", turns=turns, within_s=bench.limits.let_go_s)
        await result_of(partial(_first, part, None), within_s=bench.limits.call_s)


async def _free(bench: Bench[Listener]) -> None:
    gaps = []
    for _ in range(2):
        async with bench.own() as part:
            gaps.append(await gap_of(partial(_first, part, None), within_s=bench.limits.call_s))
    expect(min(gaps) <= bench.limits.blocked_s, f"it stood still for {min(gaps):.2f} s")


async def _mutes(bench: Bench[Listener]) -> None:
    async with bench.own() as part:
        if not isinstance(part, Mutable):
            raise Unchecked("it has no mute, which is optional")
        for on in (True, True, False, False):
            await result_of(partial(part.mute, on), within_s=bench.limits.call_s)


check_listener: Suite[Listener] = _PORT.suite(
    _PORT.check(
        ANSWERS,
        _answers,
        "utterances() gives an Utterance for each turn.",
        "Yield discussion_helper.types.Utterance; an empty text says that something without words was heard.",
        (),
    ),
    _PORT.check("turns-are-the-users", _users, "The speaker of each is the user.", 'Write Utterance("user", text).'),
    _PORT.check(
        "times-are-in-order",
        _dated,
        "A turn ends no earlier than it starts; both are finite seconds on the session's clock.",
        "Take the times from the reporter that attach gives.",
    ),
    _PORT.check(
        CANCEL,
        _cancel,
        "Waiting for a turn ends soon after it is cancelled, at whatever time, and with no error.",
        "Let the cancellation through, and release the device in a finally block or in aclose.",
    ),
    _PORT.check(
        "speech-started-can-be-left",
        _speech,
        "speech_started can be cancelled, and turns are heard after that as before.",
        "Wait for an event there, and for nothing else.",
    ),
    _PORT.check(
        "leaves-the-loop-free",
        _free,
        "The event loop goes on while it listens.",
        "Do what blocks in anyio.to_thread.run_sync.",
    ),
    _PORT.check(
        "mutes-and-opens",
        _mutes,
        "mute(True) and mute(False), where there is a mute, end without an error, also a second time.",
        "Compare with the state that it is in.",
    ),
    closing_check(_PORT),
    *ending_checks(_PORT),
)
"""What a session needs. Each one made must hear a turn by itself; the slow one hears nothing for a minute."""
LISTENER_RULES = check_listener.rules
