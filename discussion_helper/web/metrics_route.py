"""/metrics: what `Metrics` counts, where that can be had."""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from discussion_helper.web.metrics import Metrics
from discussion_helper.web.problems import Problem

__all__ = ["MetricsRoute"]

_FIX = "Install prometheus-client, the extra `metrics`, where the server runs, and start it again."


class MetricsRoute:
    """The handler, and its route."""

    def __init__(self, metrics: Metrics | None) -> None:
        """None = it cannot be had."""
        self._metrics = metrics
        self.routes = [Route("/metrics", self._show, methods=["GET"])]

    async def _show(self, _: Request) -> Response:
        if self._metrics is None:
            raise Problem(501, "What writes metrics is not installed.", fix=_FIX)
        content, media_type = self._metrics.page()
        return Response(content, headers={"Content-Type": media_type})
