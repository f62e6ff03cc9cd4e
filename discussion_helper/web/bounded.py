"""ASGI: a request of bounded size, answered in bounded time."""

import math

import anyio
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from discussion_helper.clock import now
from discussion_helper.web.limits import Limits, raised_by
from discussion_helper.web.problems import Problem, answer_of

__all__ = ["Bounded"]


class Bounded:
    """The limits hold until the answer begins; a stream may last."""

    def __init__(self, app: ASGIApp, *, limits: Limits) -> None:
        self._app = app
        self._limits = limits

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
        elif sum(len(name) + len(value) for name, value in scope["headers"]) > self._limits.headers:
            what = f"The headers are larger than {self._limits.headers} bytes."
            fix = f"Send less of them, or raise the limit ({raised_by('headers')})."
            await answer_of(431, what, fix)(scope, receive, send)
        elif _announced(scope) > self._limits.body:
            await answer_of(413, *self._too_large())(scope, receive, send)
        else:
            await self._in_time(scope, receive, send)

    async def _in_time(self, scope: Scope, receive: Receive, send: Send) -> None:
        begun = False
        with anyio.move_on_after(self._limits.request_s) as time:

            async def begin(message: Message) -> None:
                nonlocal begun
                begun, time.deadline = True, math.inf
                await send(message)

            await self._app(scope, self._counted(receive), begin)
        if time.cancelled_caught and not begun:
            what = f"The request was not answered within {self._limits.request_s:g} s."
            fix = f"Try again, or raise the limit ({raised_by('request_s')})."
            await answer_of(503, what, fix)(scope, receive, send)

    def _counted(self, receive: Receive) -> Receive:
        size, whole, until_s = 0, False, now() + self._limits.whole_body_s

        async def counted() -> Message:
            nonlocal size, whole
            if whole:  # from here on it is the end of the connection that is waited for
                return await receive()
            message = await self._received(receive, until_s)
            size += len(message.get("body", b""))
            if size > self._limits.body:
                what, fix = self._too_large()
                raise Problem(413, what, fix=fix)
            whole = not message.get("more_body", False)
            return message

        return counted

    async def _received(self, receive: Receive, until_s: float) -> Message:
        """Pieces that come one by one have the time of the whole."""
        left_s = until_s - now()
        with anyio.move_on_after(min(self._limits.body_s, left_s)):
            return await receive()
        what = f"The request's body did not come within {self._limits.body_s:g} s"
        what += "." if left_s >= self._limits.body_s else f", and not whole within {self._limits.whole_body_s:g} s."
        raise Problem(408, what, fix=f"Send it at once, or raise the limit ({raised_by('body_s')}).")

    def _too_large(self) -> tuple[str, str]:
        what = f"The body is larger than {self._limits.body} bytes."
        return what, f"Send less at a time, or raise the limit ({raised_by('body')})."


def _announced(scope: Scope) -> int:
    text = Headers(scope=scope).get("content-length", "0")
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 20 else 0
