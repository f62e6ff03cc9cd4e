"""The talk that is measured, in a process of its own, so that the bench neither holds it up nor counts as its cost.

Run as a module. It takes one JSON object a line on stdin, `{"do": "speak", "text": ...}`, `{"do": "interrupt"}` or
`{"do": "stats"}`, and tells one a line on stdout: `kind`, `at_s` (on the clock of `time.monotonic`) and `data`. It ends
when stdin does.
"""

import json
import os
import sys
import time
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import asdict
from typing import Any, TextIO

import anyio

from discussion_helper.app import Talk, open_talk
from discussion_helper.bench.lag import LagMeter
from discussion_helper.commands.interpreter import PromptInterpreter
from discussion_helper.errors import DiscussionError
from discussion_helper.event_loop import start_in
from discussion_helper.events import Event, Subscription
from discussion_helper.iteration import closing
from discussion_helper.session import Session
from discussion_helper.settings import Settings
from discussion_helper.types import Message, SpokenUtterance

__all__ = ["CLOSING_S", "KINDS", "MEASURED", "PARTS", "Tell", "hold", "main"]

KINDS = ("floor", "utterance", "timing", "ended", "partial", "decision", "interruption", "device")
PARTS = ("listener", "responder", "voice")
CLOSING_S = 1.0
MEASURED = Settings(learn_pauses=False)
"""Every clip has another speaker: their pauses are not one speaker's, nor are they the user's to keep."""

Tell = Callable[..., None]
"""Told what happened, when (None = now), and the data as keywords."""


def main() -> int:
    """Hold the talk."""
    # What libraries print must not get between the lines: stdout is theirs no more.
    lines = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    tell = _teller(lines)
    try:
        with PromptInterpreter() as interpreter:  # as the command `talk` does
            anyio.run(hold, MEASURED, tell, interpreter)
    except DiscussionError as error:
        tell("ended", reason="failed", error=str(error))
        return 1
    return 0


def _teller(lines: TextIO) -> Tell:
    def tell(kind: str, at_s: float | None = None, /, **data: Any) -> None:
        told = {"kind": kind, "at_s": time.monotonic() if at_s is None else at_s, "data": data}
        print(json.dumps(told), file=lines, flush=True)

    return tell


async def hold(settings: Settings, tell: Tell, interpreter: PromptInterpreter | None = None) -> None:
    """Open a talk, tell of it, and do what stdin says until it ends. Raises DiscussionError."""
    meter = LagMeter()
    opener = open_talk if interpreter is None else interpreter.watching(open_talk)
    async with opener(settings) as talk:
        discussion = talk.session.discussion
        for name in PARTS:
            _watch_warmup(name, getattr(discussion, name), tell)
        _watch_reply(discussion.responder, tell)
        async with talk.session.events(*KINDS) as events, anyio.create_task_group() as tasks:
            talk.session.start()
            start_in(tasks, _follow, events, talk.session, tell)
            start_in(tasks, meter.run)
            await _obey(talk, meter, tell)
            tasks.cancel_scope.cancel()


async def _follow(events: Subscription[Event], session: Session, tell: Tell) -> None:
    zero_s = None
    async for event in events:
        if zero_s is None:  # now the session's clock runs, and its end has not stopped it yet
            zero_s = anyio.current_time() - session.discussion.clock.now()
        more: dict[str, Any] = {}
        if event.kind == "utterance" and event.data["speaker"] == "user":
            more = dict(_turn_of(session, zero_s))
        elif event.kind == "timing":
            more = {"speculation": session.discussion.speculation.as_dict()}
        tell(event.kind, zero_s + event.at_s, **event.data, **more)


def _turn_of(session: Session, zero_s: float) -> dict[str, float]:
    """When the last voice of the newest user turn was, and when it was taken to be over."""
    turn = next(u for u in reversed(session.discussion.conversation.utterances) if u.speaker == "user")
    endpoint_s = turn.endpoint_s if isinstance(turn, SpokenUtterance) else 0.0
    return {"voiced_until_s": zero_s + turn.ended_s, "decided_s": zero_s + turn.ended_s + endpoint_s}


def _watch_warmup(name: str, part: Any, tell: Tell) -> None:
    """Tell when a part has loaded what it needs, without having it load anything twice."""
    warmup = getattr(part, "warmup", None)

    async def watched() -> None:
        if warmup is not None:
            await warmup()
        tell("warm", part=name)

    part.warmup = watched


def _watch_reply(responder: Any, tell: Tell) -> None:
    """Tell when the responder begins and ends to think."""
    reply = responder.reply

    async def watched(messages: Sequence[Message]) -> AsyncIterator[str]:
        tell("decoding", on=True)
        try:
            async with closing(reply(messages), within_s=CLOSING_S) as sentences:
                async for sentence in sentences:
                    yield sentence
        finally:
            tell("decoding", on=False)

    responder.reply = watched


async def _obey(talk: Talk, meter: LagMeter, tell: Tell) -> None:
    async for line in anyio.wrap_file(sys.stdin):
        order = json.loads(line)
        match order["do"]:
            case "speak":
                await talk.session.speak(order["text"])
            case "interrupt":
                await talk.session.interrupt()
            case "stats":
                tell("stats", lags=meter.take(), health=asdict(talk.health()))
            case unknown:
                raise ValueError(f"do: {unknown!r} is not an order")


if __name__ == "__main__":
    sys.exit(main())
