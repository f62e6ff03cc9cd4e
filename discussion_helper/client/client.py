"""A server's sessions, from a program."""

import json
import ssl
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any, Literal, Self

import anyio
import httpx

from discussion_helper.client.answers import json_of, unreachable
from discussion_helper.client.errors import ServerError, TooOften
from discussion_helper.client.following import SILENCE_S, Following
from discussion_helper.client.link import Link
from discussion_helper.client.paths import check_cursor, check_kinds, session_path, thread_path
from discussion_helper.client.values import (
    Accepted,
    Rotated,
    SessionState,
    StoredThread,
    ThreadHead,
    Transcript,
    value_of,
)
from discussion_helper.clock import now

__all__ = ["ANSWER_S", "CONNECT_S", "PATIENCE_S", "Client"]

PATIENCE_S = 30.0
"""How long a server is tried again that went away, or that wants to be asked less often."""
CONNECT_S = 5.0
ANSWER_S = 65.0
"""The server itself gives an answer up after 60 s."""
_CLOSE_S = 1.0


class Client:
    """`async with Client(link) as client`. On asyncio and trio; for one event loop.

    Everything here raises ServerUnreachable where nobody answers, NotLetIn where the token is another one by now,
    Refused with the server's own words and fix for the rest; SettingError, and nothing is asked, for an id, a kind or
    an `after` that can be none. Who asks too often is let wait as the server says, within `patience_s` in all.
    """

    def __init__(
        self,
        url: str,
        *,
        token: str | None = None,
        insecure: bool = False,
        tls: ssl.SSLContext | None = None,
        patience_s: float = PATIENCE_S,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        """`url`: the link that the server printed, or its address and `token`. Nothing is asked yet.

        `insecure`: the token may go to another machine in clear text. `tls`: which certificates are trusted, in the
        place of the system's. `transport`: in the place of the network. Raises SettingError.
        """
        self.link = Link.of(url, token, insecure=insecure)
        self._patience_s = patience_s
        encrypted = self.link.url.startswith("https")
        self._http = httpx.AsyncClient(
            base_url=self.link.url,
            headers={**self.link.headers, "User-Agent": "discussion-helper-client"},
            verify=tls or (ssl.create_default_context() if encrypted else False),
            trust_env=not self.link.is_here,  # no proxy is asked for this machine
            timeout=httpx.Timeout(ANSWER_S, connect=CONNECT_S),
            limits=httpx.Limits(max_connections=None),
            transport=transport,
        )

    async def sessions(self) -> list[str]:
        """The ids of those that are open."""
        return value_of(list[str], await self._ask("GET", "/sessions"))

    async def open(
        self,
        *,
        kind: Literal["voice", "text"] = "voice",
        transport: Literal["local", "remote", "fake"] = "local",
        turns: Sequence[str] = (),
        thread_id: str | None = None,
        voice: str | None = None,
        language: str | None = None,
        system: str | None = None,
        **policy: Any,
    ) -> SessionState:
        """Open a session: by voice at the server's microphone ("local") or at a client's ("remote"), or in writing.

        `turns`: what the user of a fake one says. `thread_id`: a stored conversation that goes on. `system`: what its
        model is told beforehand, in the place of what the server was told. `policy`: fields of
        `discussion_helper.Policy`, of a session by voice.
        """
        asked: dict[str, Any] = {"kind": kind, "transport": transport, "turns": list(turns), "thread_id": thread_id}
        asked |= {"voice": voice, "language": language, "system": system, **policy}
        body = {name: value for name, value in asked.items() if value is not None and value != []}
        return value_of(SessionState, await self._ask("POST", "/sessions", body))

    async def state(self, session_id: str) -> SessionState:
        """All that there is to know of it now."""
        return value_of(SessionState, await self._ask("GET", session_path(session_id)))

    async def say(self, session_id: str, text: str) -> Accepted:
        """The user's next turn, typed; its answer comes as events."""
        return value_of(Accepted, await self._ask("POST", session_path(session_id, "say"), {"text": text}))

    async def speak(self, session_id: str, text: str) -> None:
        """Have the agent of a session by voice say it next. What a person answers is the user's next utterance."""
        await self._ask("POST", session_path(session_id, "speak"), {"text": text})

    async def interrupt(self, session_id: str) -> bool:
        """Cut the reply; False when there is none."""
        told = await self._ask("POST", session_path(session_id, "interrupt"))
        return value_of(dict[str, bool], told).get("interrupted", False)

    async def cancel(self, session_id: str) -> bool:
        """Cancel the turn of a text session, not what waits; False when there is none."""
        told = await self._ask("POST", session_path(session_id, "cancel"))
        return value_of(dict[str, bool], told).get("cancelled", False)

    async def press(self, session_id: str) -> bool:
        """Press the key of push to talk; whether that cut a reply."""
        told = await self._ask("POST", session_path(session_id, "press"))
        return value_of(dict[str, bool], told).get("interrupted", False)

    async def release(self, session_id: str) -> None:
        """Release it: the turn is over."""
        await self._ask("POST", session_path(session_id, "release"))

    async def mute(self, session_id: str, on: bool = True) -> None:
        """Close the microphone of the server's machine, or open it; `AudioClient.mute` does so with a client's."""
        await self._ask("POST", session_path(session_id, "mute"), {"on": on})

    async def end(self, session_id: str) -> Transcript:
        """End it; what was said."""
        return value_of(Transcript, await self._ask("DELETE", session_path(session_id)))

    async def threads(self) -> list[ThreadHead]:
        """The conversations that are kept, the newest change first."""
        return value_of(list[ThreadHead], await self._ask("GET", "/threads"))

    async def thread(self, thread_id: str) -> StoredThread:
        """One of them, with what was said."""
        return value_of(StoredThread, await self._ask("GET", thread_path(thread_id)))

    async def forget(self, thread_id: str) -> None:
        """Forget one of them; none on which a session is open."""
        await self._ask("DELETE", thread_path(thread_id))

    async def rotate_token(self) -> Link:
        """A new token, which this client shows from now on; the link with it. Everybody else's is worth nothing.

        What it follows ends as theirs does, with NotLetIn: follow again.
        """
        token = value_of(Rotated, await self._ask("POST", "/token/rotate")).token
        self.link = Link.of(self.link.url, token, insecure=True)  # as it was when this client was made
        self._http.cookies.clear()
        self._http.headers.update(self.link.headers)
        return self.link

    def follow(self, session_id: str, *kinds: str, after: str = "") -> Following:
        """Its events from now on, as they happen: see `Following`. No kinds = the coarse ones; `ended` always comes.

        `after`: the id of an event that was seen; what came since then comes first.
        """
        check_cursor("after", after)
        check_kinds(kinds)
        wanted = {"kinds": ",".join(dict.fromkeys((*kinds, "ended")))} if kinds else {}
        limits = httpx.Timeout(SILENCE_S, connect=CONNECT_S)
        request = self._http.build_request("GET", session_path(session_id, "events"), params=wanted, timeout=limits)
        return Following(self._http, request, self.link, after=after, patience_s=self._patience_s)

    async def aclose(self) -> None:
        """Let go of its connections; the sessions live on. Idempotent."""
        with anyio.move_on_after(_CLOSE_S, shield=True):
            await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def _ask(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> Any:
        """Raises ServerError."""
        until_s = now() + self._patience_s
        while True:
            try:
                return await self._ask_once(method, path, body)
            except TooOften as often:  # refused at the door: nothing was done of it
                if now() + often.after_s > until_s:
                    raise
                await anyio.sleep(often.after_s)

    async def _ask_once(self, method: str, path: str, body: Mapping[str, Any] | None) -> Any:
        content = None if body is None else json.dumps(body)  # in ASCII: also of a text that is none
        headers = {} if body is None else {"Content-Type": "application/json"}
        try:
            return json_of(await self._http.request(method, path, content=content, headers=headers))
        except httpx.ReadTimeout as error:
            fix = "Try again, or look at the server's log."
            raise ServerError(f"The server did not answer within {ANSWER_S:g} s.", fix=fix) from error
        except httpx.RequestError as error:
            raise unreachable(self.link, error) from error
