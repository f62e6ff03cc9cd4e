"""Who follows every session of a server: what counts, and what traces; nobody where neither is installed."""

from typing import Any

from discussion_helper.registry import Sessions
from discussion_helper.taps import Begin, Taps
from discussion_helper.tracing import spans_of, tracer_here
from discussion_helper.web.live import Live
from discussion_helper.web.metrics import metrics_here
from discussion_helper.web.metrics_route import MetricsRoute

__all__ = ["Observing"]


class Observing:
    """From now until `close`."""

    def __init__(self, sessions: Sessions[Any], live: Live) -> None:
        self._metrics, tracer = metrics_here(sessions, live), tracer_here()
        begin: list[Begin] = [] if self._metrics is None else [self._metrics.begin]
        begin += [] if tracer is None else [spans_of(tracer)]
        self._taps = Taps(sessions, *begin) if begin else None
        self.routes = MetricsRoute(self._metrics).routes

    def request_failed(self) -> None:
        """A request was answered with a 500 that nobody expected."""
        if self._metrics is not None:
            self._metrics.failed("request")

    def close(self) -> None:
        """Nobody is told of anything any more. Idempotent."""
        if self._taps is not None:
            self._taps.close()
