"""What the server counts and measures, in the text format of Prometheus; nothing of what was said."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from discussion_helper.event import Event
from discussion_helper.registry import Sessions
from discussion_helper.taps import Tap
from discussion_helper.text.outputs import ErrorEvent, LifecycleEvent, OutputEvent, TurnCompleteEvent
from discussion_helper.text.stream import Stream
from discussion_helper.web.live import Live
from discussion_helper.web.metrics_audio import AudioMetrics

if TYPE_CHECKING:
    from prometheus_client import Counter

__all__ = ["BUCKETS_S", "Metrics", "metrics_here"]

BUCKETS_S = (0.01, 0.025, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 1.5, 2.0, 3.0, 5.0, 10.0)
"""Upper bounds of a delay's histogram: the stages take 5 ms to 2 s, and beyond 3 s nobody waits."""
_PREFIX = "discussion_helper"
_KINDS = ("voice", "text")


def metrics_here(sessions: Sessions[Any], live: Live) -> "Metrics | None":
    """None where prometheus-client is not installed."""
    try:
        import prometheus_client  # noqa: F401
    except ImportError:
        return None
    return Metrics(sessions, live)


class Metrics:
    """Of one server, in a registry of its own. `begin` is for `Taps`. Raises ImportError without prometheus-client.

    Labels have few values each: no session, no client and no text is one.
    """

    def __init__(self, sessions: Sessions[Any], live: Live) -> None:
        from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

        self._sessions = sessions
        self._live = live
        self._all = CollectorRegistry()
        mine: dict[str, Any] = {"namespace": _PREFIX, "registry": self._all}
        self._open = Gauge("sessions", "Live sessions.", ["kind"], **mine)
        self._opened = Counter("sessions_opened", "Sessions that were opened.", ["kind"], **mine)
        self._turns = Counter("turns", "Turns that are over.", ["kind", "speaker"], **mine)
        self._cuts = Counter("interruptions", "Replies that were cut.", ["kind", "by"], **mine)
        self._errors = Counter("errors", "What failed.", ["where"], **mine)
        self._stages = Histogram(
            "stage_seconds", "How long each stage of a turn took.", ["kind", "stage"], buckets=BUCKETS_S, **mine
        )
        self._waits = Histogram(
            "first_audio_seconds", "From a user's last voiced sample to the agent's first.", buckets=BUCKETS_S, **mine
        )
        watching = Gauge("watchers", "Streams and connections that follow sessions.", **mine)
        watching.set_function(lambda: live.watching)
        self._dropped = _Growing(Counter("dropped_events", "Events that watchers lost.", **mine), lambda: live.dropped)
        self._audio = AudioMetrics(mine)

    def begin(self, session: Any) -> Tap:
        """What counts the events of one session."""
        if isinstance(session, Stream):
            self._opened.labels("text").inc()
            return _Written(self).tell
        self._opened.labels("voice").inc()
        self._audio.follow(session)

        def tell(event: Event) -> None:
            self._spoken(event)
            if event.kind == "ended":
                self._audio.leave(session)

        return tell

    def page(self) -> tuple[bytes, str]:
        """All of it as it is now, and its media type."""
        from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest

        texts = sum(isinstance(self._sessions.get(each), Stream) for each in self._sessions.ids())
        for kind, number in zip(_KINDS, (len(self._sessions) - texts, texts), strict=True):
            self._open.labels(kind).set(number)
        self._dropped.grow()
        self._audio.look()
        return generate_latest(self._all), CONTENT_TYPE_LATEST

    # -- what is counted

    def turn(self, kind: str, speaker: str) -> None:
        """One is over."""
        self._turns.labels(kind, speaker).inc()

    def cut(self, kind: str, by: str) -> None:
        """A reply was cut."""
        self._cuts.labels(kind, by).inc()

    def took(self, kind: str, stage: str, seconds: float) -> None:
        """A stage of a turn."""
        self._stages.labels(kind, stage).observe(seconds)

    def failed(self, where: str) -> None:
        """Something did."""
        self._errors.labels(where).inc()

    def _spoken(self, event: Event) -> None:
        data = event.data
        match event.kind:
            case "utterance":
                self.turn("voice", str(data["speaker"]))
            case "interruption":
                self.cut("voice", str(data["by"]))
            case "timing":
                for stage in ("endpoint", "recognise", "think", "speak"):
                    self.took("voice", stage, data[f"{stage}_s"])
                self._waits.observe(data["to_first_audio_s"])
            case "tool" if data.get("is_error"):
                self.failed("tool")
            case "device" if data.get("state") == "lost":
                self.failed("device")
            case "ended" if data.get("reason") == "failed":
                self.failed("session")


class _Written:
    """Counts the output of one stream."""

    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics
        self._asked_s: float | None = None

    def tell(self, output: OutputEvent) -> None:
        """The next one."""
        match output:
            case LifecycleEvent("submitted", at_s=at_s):
                self._asked_s = at_s
            case LifecycleEvent("streaming", at_s=at_s) if self._asked_s is not None:
                self._metrics.took("text", "think", at_s - self._asked_s)
                self._asked_s = None
            case LifecycleEvent("cancelled"):
                self._metrics.cut("text", "cancel")
            case TurnCompleteEvent(turn) if turn.role in ("user", "assistant") and turn.text:
                self._metrics.turn("text", "user" if turn.role == "user" else "agent")
            case ErrorEvent(passing=False):
                self._metrics.failed("turn")


class _Growing:
    """A counter of what is counted elsewhere."""

    def __init__(self, counter: "Counter", count: Callable[[], int]) -> None:
        self._counter = counter
        self._count = count
        self._told = 0

    def grow(self) -> None:
        """To what it is now."""
        count = self._count()
        self._counter.inc(max(0, count - self._told))
        self._told = count
