"""/health: can each part run here, and the fix if not."""

from collections.abc import Callable, Collection, Sequence
from typing import Any, Protocol

import anyio
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from discussion_helper.clock import now
from discussion_helper.registry import Sessions
from discussion_helper.shown import shown
from discussion_helper.web.encoding import Answer
from discussion_helper.web.problems import Problem

__all__ = ["FRESH_S", "Examine", "Finding", "HealthRoute"]

FRESH_S = 10.0
"""How long what was found is told again: looking opens modules and asks endpoints."""


_NEEDS = {"remote": "open_remote", "text": "a manager"}
"""Uses that not every server is there for, and what of."""


class Finding(Protocol):
    """One part."""

    @property
    def part(self) -> str:
        """Its name."""
        ...

    @property
    def ok(self) -> bool:
        """Whether it can run here."""
        ...

    @property
    def found(self) -> str:
        """What there is."""
        ...

    @property
    def fix(self) -> str:
        """What to do if it cannot."""
        ...

    @property
    def uses(self) -> Collection[str]:
        """Which uses of the server cannot be had without it, as "voice", "remote" and "text"."""
        ...


Examine = Callable[[], Sequence[Finding]]
"""Looks at every part; blocks."""


class HealthRoute:
    """The handler, and its route."""

    def __init__(
        self, sessions: Sessions[Any], examine: Examine | None, uses: Sequence[str], *, keeps: bool = False
    ) -> None:
        """`uses`: what the server is there for. `keeps`: what is said by voice, where nothing else is asked for."""
        self._keeps = keeps
        self._sessions = sessions
        self._uses = tuple(uses)
        self._examine = examine
        self._one = anyio.Lock()
        self._thread = anyio.CapacityLimiter(1)
        self._found: Sequence[Finding] = ()
        self._until_s = 0.0
        self.routes = [Route("/health", self._show, methods=["GET"])]

    async def _show(self, request: Request) -> Response:
        """The whole; with `?ready=USE` the status alone says whether that can be had, for who looks at no more."""
        ready = request.query_params.get("ready")
        if ready in _NEEDS and ready not in self._uses:
            raise Problem(503, f"This server is not there for {ready}.", fix=f"Give create_app {_NEEDS[ready]}.")
        if ready is not None and ready not in self._uses:
            raise Problem(422, f"ready: there is no use {shown(ready)} here.", fix=f"Use {' or '.join(self._uses)}.")
        found = await self._looked()
        uses = {use: _usable(use, found) for use in self._uses}
        if ready is not None:
            fixes = [f.fix for f in found if ready in f.uses and not f.ok]
            return Answer({"ready": ready, **uses[ready], "fixes": fixes}, 200 if uses[ready]["ok"] else 503)
        parts = [{"part": f.part, "ok": f.ok, "found": f.found, "fix": f.fix} for f in found]
        ok = any(use["ok"] for use in uses.values())  # who only writes does without a microphone
        return Answer({"ok": ok, "uses": uses, "parts": parts, "sessions": len(self._sessions), "keeps": self._keeps})

    async def _looked(self) -> Sequence[Finding]:
        async with self._one:
            if self._examine is not None and now() >= self._until_s:
                self._found = await anyio.to_thread.run_sync(self._examine, limiter=self._thread)
                self._until_s = now() + FRESH_S
            return self._found


def _usable(use: str, found: Sequence[Finding]) -> dict[str, Any]:
    missing = [finding.part for finding in found if use in finding.uses and not finding.ok]
    return {"ok": not missing, "missing": missing}
