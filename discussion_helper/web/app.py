"""The ASGI app: sessions over HTTP."""

from collections.abc import AsyncIterator, Callable, Collection, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import anyio
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.routing import BaseRoute

from discussion_helper.errors import DiscussionError, SettingError
from discussion_helper.policy import Policy
from discussion_helper.registry import Sessions
from discussion_helper.text.manager import Manager
from discussion_helper.web.audit import Audit
from discussion_helper.web.bounded import Bounded
from discussion_helper.web.door import Door
from discussion_helper.web.health_route import Examine, HealthRoute
from discussion_helper.web.keys import Keys
from discussion_helper.web.limits import Limits
from discussion_helper.web.live import Live
from discussion_helper.web.login_routes import LoginRoutes
from discussion_helper.web.observing import Observing
from discussion_helper.web.openapi import OpenApiRoute
from discussion_helper.web.opening import Opener, OpenFake, OpenRemote, OpenResponder, OpenVoice
from discussion_helper.web.origins import checked_host
from discussion_helper.web.page_routes import PageRoutes
from discussion_helper.web.passwords import Password
from discussion_helper.web.problems import Catching, answer_to_error, answer_to_http
from discussion_helper.web.security import Guard
from discussion_helper.web.session_routes import SessionRoutes
from discussion_helper.web.sockets import Sockets
from discussion_helper.web.thread_routes import ThreadRoutes
from discussion_helper.web.token_routes import TokenRoutes
from discussion_helper.web.turn_routes import TurnRoutes
from discussion_helper.web.upgrades import NoUpgrades

__all__ = ["create_app"]

_INDEX = {
    **{name: f"/{name}" for name in ("health", "sessions", "threads", "metrics")},
    "openapi": "/openapi.json",
}
"""What a program gets at "/"."""


def create_app(
    sessions: Sessions[Any] | None = None,
    *,
    token: str | None,
    password: Password | None = None,
    manager: Manager | None = None,
    open_voice: OpenVoice | None = None,
    open_remote: OpenRemote | None = None,
    open_responder: OpenResponder | None = None,
    open_fake: OpenFake | None = None,
    examine: Examine | None = None,
    policy: Policy | None = None,
    keep: bool = False,
    routes: Sequence[BaseRoute] = (),
    allowed_hosts: Collection[str] = (),
    limits: Limits | None = None,
) -> Starlette:
    """An app on this registry, also an empty one; without one on the manager's, or on its own, which it then closes.

    `token`: what a client shows; None = everybody may ask, for clients in this process alone. `password`: lets browsers
    in that have no link, at /login. `manager`: opens text sessions and has the threads; its steps find a session's
    `system` in the thread's metadata, as `text_app.step_for` does. `open_voice`: opens sessions on this machine's
    devices. `open_remote`: on a client's; without it who is remote only types. `open_responder`: what
    answers then (without it: an echo). `open_fake`: sessions of other fakes than the public ones. `examine`: what
    /health tells. `policy`: of sessions at a microphone, this machine's or a client's, as far as they bring none.
    `keep`: what is said by voice, as threads, unless a session is opened with `"keep": false`. `routes`: more of them,
    behind the same door; one for "/" is the page. `allowed_hosts`: names of this server beside those of the loopback
    interface.
    `app.state.live.close()` ends every stream; a server calls it when it begins to stop, as `web.Server` does.
    `app.state.door.keys.rotate()` gives a new token and ends what the old one opened; `app.state.audit` tells who did.

    Raises SettingError for a token that no link could carry, a host that is none, a manager with another registry.
    """
    audit, registry = Audit(), _registry(sessions, manager)
    bounds = limits or Limits()
    live, door = Live(bounds), Door(Keys(token), password, bounds, audit)
    observing = Observing(registry, live)
    opener = Opener(
        *(registry, manager),
        most=bounds.sessions,
        most_remote=bounds.remote,
        live=live,
        open_voice=open_voice,
        open_remote=open_remote,
        open_responder=open_responder,
        open_fake=open_fake,
        policy=policy,
        audit=audit,
        keep=keep,
    )
    own: list[BaseRoute] = [
        *HealthRoute(registry, examine, _uses(open_remote, manager), keeps=keep).routes,
        *SessionRoutes(registry, opener, live).routes,
        *TurnRoutes(registry, live, audit).routes,
        *ThreadRoutes(opener).routes,
        *Sockets(registry, opener.talks, live, audit).routes,
        *TokenRoutes(door).routes,
        *audit.routes,
        *([] if password is None else LoginRoutes(door).routes),
        *observing.routes,
        *PageRoutes(_INDEX).routes,
    ]
    app = Starlette(
        routes=[*routes, *own, *OpenApiRoute(door, own, instead=routes).routes],
        middleware=[
            Middleware(Guard, door=door, allowed_hosts=[checked_host("allowed_hosts", name) for name in allowed_hosts]),
            Middleware(Catching, failed=observing.request_failed),
            Middleware(NoUpgrades),
            Middleware(Bounded, limits=bounds),
        ],
        exception_handlers={DiscussionError: answer_to_error, HTTPException: answer_to_http},
        lifespan=_lifespan(live, opener, observing, registry if sessions is None and manager is None else None),
    )
    app.router.redirect_slashes = False  # a redirect would lead to whatever the Host header says
    app.state.live, app.state.door, app.state.audit = live, door, audit
    app.state.sessions, app.state.opener = registry, opener
    return app


def _lifespan(
    live: Live, opener: Opener, observing: Observing, own: Sessions[Any] | None
) -> Callable[[Starlette], AbstractAsyncContextManager[None]]:
    """At its end everything is closed, the registry too if it is the app's `own`."""

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        try:
            yield
        finally:
            live.close()
            with anyio.CancelScope(shield=True):
                await opener.aclose()
                observing.close()
                if own is not None:
                    await own.aclose()

    return lifespan


def _uses(open_remote: OpenRemote | None, manager: Manager | None) -> list[str]:
    """What the server is there for: talks at its devices, at those of clients, and in writing."""
    return ["voice"] + ["remote"] * (open_remote is not None) + ["text"] * (manager is not None)


def _registry(sessions: Sessions[Any] | None, manager: Manager | None) -> Sessions[Any]:
    if manager is None:
        return Sessions() if sessions is None else sessions  # an empty one is false, and given all the same
    if sessions is not None and manager.sessions is not sessions:
        raise SettingError("manager: it has another registry.", fix="Make it with Manager(..., sessions=sessions).")
    return manager.sessions
