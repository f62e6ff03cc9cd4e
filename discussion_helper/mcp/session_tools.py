"""What a model of another program can do with sessions: a method for each tool, with what the model is told of it."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Annotated, Any, Literal

import anyio

from discussion_helper.bounds import check_number, check_whole
from discussion_helper.client.client import Client
from discussion_helper.client.errors import Refused
from discussion_helper.client.following import Following
from discussion_helper.client.paths import check_cursor
from discussion_helper.client.server_events import ServerEvent
from discussion_helper.client.values import ThreadHead
from discussion_helper.mcp.fitting import MOST_BYTES, first_of, fitted, size_of

__all__ = ["MOST_EVENTS", "MOST_SESSIONS", "MOST_THREADS", "MOST_UTTERANCES", "MOST_WAIT_S", "SETTLE_S", "SessionTools"]

MOST_EVENTS = 200
"""Of one answer: a model reads all of it. So it has no more than MOST_BYTES either."""
MOST_UTTERANCES = 50
"""The newest ones of a state or a transcript."""
MOST_SESSIONS = 20
"""The newest ones, each asked for by itself."""
MOST_THREADS = 50
MOST_WAIT_S = 50.0
"""Programs wait for a tool's answer for a minute."""
_ROOM = MOST_BYTES - 2048
"""Beside what stands around it."""
SETTLE_S = 0.2
"""Once something has happened, what follows within so long is told with it."""

_LISTED = ("id", "kind", "transport", "floor", "elapsed_s")
"""Of each session in a list."""
_UNTOLD = ("timings", "url", "events_url")
"""Of a state: the times of stages, and addresses, which no tool takes."""

_SessionId = Annotated[str, "the id that `start` or `sessions` gave"]


class SessionTools:
    """What is wrong is raised as the client raises it, with the fix. What is given back is JSON."""

    def __init__(self, client: Client) -> None:
        self._client = client

    @property
    def all(self) -> tuple[Callable[..., Awaitable[dict[str, Any]]], ...]:
        """Each of the tools."""
        turns = (self.say, self.speak, self.state, self.follow, self.interrupt, self.stop)
        return (self.start, self.sessions, self.threads, *turns)

    async def start(
        self,
        kind: Annotated[Literal["voice", "text"], "by voice, or in writing"],
        transport: Annotated[
            Literal["local", "remote", "fake"],
            "of a voice session: at the microphone and loudspeaker of the server's machine (local, opens the "
            "microphone), at those of a client that connects later (remote; until then what is said is typed with "
            "`say`), or with no devices and no models (fake)",
        ] = "local",
        thread_id: Annotated[str | None, "a stored conversation to go on with, of `threads`"] = None,
        language: Annotated[str | None, "two letters, such as en or de; else the server's own"] = None,
        system: Annotated[
            str | None, "what the agent is told beforehand: who it is, and what to do; else what the server was told"
        ] = None,
    ) -> dict[str, Any]:
        """Open a conversation with the person at the server, and get its state, with its `id`."""
        state = await self._client.open(
            kind=kind, transport=transport, thread_id=thread_id, language=language, system=system
        )
        return _shortened(state.told)

    async def sessions(self) -> dict[str, Any]:
        """The conversations that are open now, also those that somebody else began; the newest first."""
        ids = list(reversed(await self._client.sessions()))
        states = [await self._state(session_id) for session_id in ids[:MOST_SESSIONS]]
        listed = [{name: state[name] for name in _LISTED if name in state} for state in states if state]
        return {"sessions": listed} | _earlier("sessions", len(ids) - MOST_SESSIONS)

    async def threads(self) -> dict[str, Any]:
        """The conversations that are kept, with the person's first words; the newest change first.

        `start` goes on with one by its `thread_id`, and tells what was said in it.
        """
        heads = await self._client.threads()
        listed = first_of(map(_head, heads[:MOST_THREADS]), _ROOM)
        return {"threads": listed} | _earlier("threads", len(heads) - len(listed))

    async def say(self, session_id: _SessionId, text: Annotated[str, "what is said"]) -> dict[str, Any]:
        """Give the conversation its next turn, as if the person had typed it. The answer comes with `follow`."""
        accepted = await self._client.say(session_id, text)
        return {"accepted": True} | ({"event_id": accepted.event_id} if accepted.event_id else {})

    async def speak(
        self, session_id: _SessionId, text: Annotated[str, "what the agent says, in plain words without markup"]
    ) -> dict[str, Any]:
        """Say this aloud to the person, as the agent of a conversation by voice; it comes next, after what waits.

        To ask the person something and get the answer: call `follow` for a cursor, `speak` the question, and `follow`
        with that cursor, again and again, until an `utterance` whose speaker is "user" comes: its `text` is the answer.
        The agent then replies to it by itself; `interrupt` cuts that.
        """
        await self._client.speak(session_id, text)
        return {"accepted": True}

    async def state(self, session_id: _SessionId) -> dict[str, Any]:
        """Who has the floor, what was said and heard (the newest turns), and whether the conversation is running."""
        return _shortened((await self._client.state(session_id)).told)

    async def follow(
        self,
        session_id: _SessionId,
        cursor: Annotated[str, "what the last call gave as `cursor`; empty at first, which tells the state"] = "",
        wait_s: Annotated[float, "seconds to wait for something new, 0 to 50"] = 20.0,
        most: Annotated[int, "events at most, 1 to 200"] = 50,
        kinds: Annotated[
            list[str] | None, 'kinds of events; else floor, utterance, timing and ended; ["*"] for all'
        ] = None,
    ) -> dict[str, Any]:
        """What has happened in the conversation since `cursor`, or else the next thing that happens.

        Gives `events`, the `cursor` for the next call, and whether the conversation has `ended`; `more` where some wait
        for the next call. A `gap` event says how many were missed, a `snapshot` holds the state. What is too long is
        cut, and says how much was `left_out_bytes`.
        """
        check_cursor("cursor", cursor)
        check_number("wait_s", wait_s, 0.0, MOST_WAIT_S, unit="seconds")
        check_whole("most", most, 1, MOST_EVENTS)
        async with self._client.follow(session_id, *(kinds or ()), after=cursor) as following:
            events, is_full = await _gathered(following, wait_s, most)
            over = following.is_over
        told = {"events": events, "cursor": following.cursor, "ended": over}
        return told | ({"more": True} if is_full and not over else {})

    async def interrupt(self, session_id: _SessionId) -> dict[str, Any]:
        """Cut the agent off in the middle of its reply; `interrupted` is false when it was not replying."""
        return {"interrupted": await self._client.interrupt(session_id)}

    async def stop(self, session_id: _SessionId) -> dict[str, Any]:
        """End the conversation, and get what was said in it (the newest turns)."""
        ended = await self._client.end(session_id)
        said = [utterance.as_dict() for utterance in ended.utterances]
        return _shortened({"id": ended.id, "utterances": said, "interruption_rate": ended.interruption_rate})

    async def _state(self, session_id: str) -> Mapping[str, Any]:
        """Of a session that was listed; nothing of one that is gone since."""
        try:
            return (await self._client.state(session_id)).told
        except Refused as refused:
            if refused.status != 404:
                raise
            return {}


async def _gathered(following: Following, wait_s: float, most: int) -> tuple[list[dict[str, Any]], bool]:
    """What comes within the time, or until nothing follows, or it is over, and whether it is as much as may be.

    What was read is never lost by the time.
    """
    events: list[dict[str, Any]] = []
    size = 0
    with anyio.move_on_after(max(wait_s, SETTLE_S)) as time:  # what is there already takes a moment as well
        async for event in following:
            events.append(_told(event))
            size += size_of(events[-1])
            if len(events) == most or size > _ROOM // 2:
                return events, True
            time.deadline = min(time.deadline, anyio.current_time() + SETTLE_S)
    return events, False


def _told(event: ServerEvent) -> dict[str, Any]:
    told: dict[str, Any] = {"kind": event.kind} | ({} if event.at_s is None else {"at_s": event.at_s})
    if event.kind == "snapshot" and isinstance(event.data.get("state"), Mapping):
        return told | {"state": _shortened(event.data["state"], _ROOM // 2)}
    return fitted(told | dict(event.data))


def _shortened(state: Mapping[str, Any], most_bytes: int = _ROOM) -> dict[str, Any]:
    """A state with its newest utterances alone, and how many came before them; each of the two has half the room."""
    said = state.get("utterances", ())
    kept = fitted({name: it for name, it in state.items() if name not in (*_UNTOLD, "utterances")}, most_bytes // 2)
    newest = first_of(reversed(said[-MOST_UTTERANCES:]), most_bytes // 2)
    if "utterances" in state:
        kept["utterances"] = newest[::-1]
    return kept | _earlier("utterances", len(said) - len(newest))


def _head(head: ThreadHead) -> dict[str, Any]:
    said = {"error": head.error} if head.error else {"turn_count": head.turn_count, "first": head.first}
    return {"id": head.id, "updated_at": head.updated_at.isoformat(), **said}


def _earlier(what: str, count: int) -> dict[str, int]:
    """How many are left out, if any are."""
    return {f"earlier_{what}": count} if count > 0 else {}
