"""Spans: a trace for each answered turn of a session, and a span in it for each stage, for OpenTelemetry.

Only its API is used: where the spans go is for whoever sets up an SDK. Nothing of what was said is in them.
"""

import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from discussion_helper.event import Event
from discussion_helper.taps import Begin, Tap
from discussion_helper.text.outputs import ErrorEvent, LifecycleEvent, OutputEvent
from discussion_helper.text.stream import Stream

if TYPE_CHECKING:
    from opentelemetry.trace import Tracer

__all__ = ["STAGES", "spans_of", "tracer_here"]

STAGES = ("endpoint", "recognise", "think", "speak")
"""Of a turn by voice, in their order. One in writing has "think" and "answer"."""


def tracer_here() -> "Tracer | None":
    """That of the process; None where opentelemetry-api is not installed."""
    try:
        from opentelemetry import trace
    except ImportError:
        return None
    return trace.get_tracer("discussion_helper")


def spans_of(tracer: "Tracer") -> Begin:
    """What makes the spans of a session of either kind, for `Taps`."""

    def begin(session: Any) -> Tap:
        is_written = isinstance(session, Stream)
        traces = _Traces(tracer, {"session.id": session.id, "session.kind": "text" if is_written else "voice"})
        return _Written(traces).tell if is_written else _Spoken(traces).tell

    return begin


class _Traces:
    """Makes spans of what is over, with times on the session's clock."""

    def __init__(self, tracer: "Tracer", about: Mapping[str, str]) -> None:
        from opentelemetry import trace
        from opentelemetry.context import Context

        self._tracer = tracer
        self._about = about
        self._nowhere = Context()  # in no request's span, though one may be the cause
        self._inside = trace.set_span_in_context
        self._failed = trace.StatusCode.ERROR

    def turn(
        self,
        stages: Sequence[tuple[str, float]],
        *,
        began_s: float,
        ended_s: float,
        about: Mapping[str, str | bool],
        error: str = "",
    ) -> None:
        """One that ends now, at `ended_s`. `stages`: their names and seconds, one after another from its beginning."""
        zero_ns = time.time_ns() - round(ended_s * 1e9)

        def at(session_s: float) -> int:
            return zero_ns + round(session_s * 1e9)

        told = {f"discussion_helper.{name}": value for name, value in about.items()}
        span = self._tracer.start_span(
            "turn", context=self._nowhere, start_time=at(began_s), attributes={**self._about, **told}
        )
        for name, seconds in stages if span.is_recording() else ():
            stage = self._tracer.start_span(name, context=self._inside(span), start_time=at(began_s))
            began_s += seconds
            stage.end(at(began_s))
        if error:
            span.set_status(self._failed, error)
        span.end(at(ended_s))


class _Spoken:
    """Of a voice session: a `timing` comes when the reply is over."""

    def __init__(self, traces: _Traces) -> None:
        self._traces = traces
        self._spoke_s: float | None = None
        self._cut_by = ""

    def tell(self, event: Event) -> None:
        """The next one."""
        if event.kind == "floor" and event.data.get("floor") == "speaking":
            self._spoke_s, self._cut_by = event.at_s, ""
        elif event.kind == "interruption":
            self._cut_by = str(event.data.get("by", ""))
        elif event.kind == "timing":
            self._turn(event)

    def _turn(self, event: Event) -> None:
        """The agent has the floor once the first clause is there, which then has to be spoken."""
        stages = [(stage, float(event.data[f"{stage}_s"])) for stage in STAGES]
        took_s = dict(stages)
        spoke_s = event.at_s - took_s["speak"] if self._spoke_s is None else self._spoke_s
        about: dict[str, str | bool] = {
            "slowest_stage": str(event.data["slowest_stage"]),
            "ahead": bool(event.data.get("ahead", False)),
            "interrupted": bool(self._cut_by),
        }
        if self._cut_by:
            about["interrupted_by"] = self._cut_by
        began_s = spoke_s + took_s["speak"] - sum(took_s.values())
        self._traces.turn(stages, began_s=began_s, ended_s=event.at_s, about=about)
        self._spoke_s, self._cut_by = None, ""


class _Written:
    """Of a text session: a message from when the model is asked until it is over."""

    def __init__(self, traces: _Traces) -> None:
        self._traces = traces
        self._forget()

    def _forget(self) -> None:
        self._asked_s: float | None = None
        self._answered_s: float | None = None
        self._is_cancelled = False
        self._error = ""

    def tell(self, output: OutputEvent) -> None:
        """The next one."""
        match output:
            case LifecycleEvent("submitted", at_s=at_s):
                self._asked_s = at_s if self._asked_s is None else self._asked_s
            case LifecycleEvent("streaming", at_s=at_s):
                self._answered_s = at_s if self._answered_s is None else self._answered_s
            case LifecycleEvent("cancelled"):
                self._is_cancelled = True
            case ErrorEvent(passing=False):
                self._error = type(output.error).__name__
            case LifecycleEvent("done", at_s=at_s):
                self._turn(at_s)

    def _turn(self, ended_s: float) -> None:
        began_s, answered_s = self._asked_s, self._answered_s
        if began_s is not None:  # else it never came to the model
            first_s = ended_s if answered_s is None else answered_s
            stages = [("think", first_s - began_s)]
            if answered_s is not None:
                stages.append(("answer", ended_s - answered_s))
            about = {"interrupted": self._is_cancelled}
            self._traces.turn(stages, began_s=began_s, ended_s=ended_s, about=about, error=self._error)
        self._forget()
