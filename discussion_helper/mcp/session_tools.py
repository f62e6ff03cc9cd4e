"""What a model of another program can do with sessions: a method for each tool, with what the model is told of it."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

import anyio

from discussion_helper.bounds import check_number, check_whole
from discussion_helper.client.client import Client
from discussion_helper.client.following import Following
from discussion_helper.client.server_events import ServerEvent

__all__ = ["MOST_EVENTS", "MOST_UTTERANCES", "MOST_WAIT_S", "SETTLE_S", "SessionTools"]

MOST_EVENTS = 200
"""Of one answer: a model reads all of it."""
MOST_UTTERANCES = 50
"""The newest ones of a state or a transcript."""
MOST_WAIT_S = 50.0
"""Programs wait for a tool's answer for a minute."""
SETTLE_S = 0.2
"""Once something has happened, what follows within so long is told with it."""

_SessionId = Annotated[str, "the id that `start` gave"]


class SessionTools:
    """What is wrong is raised as the client raises it, with the fix. What is given back is JSON."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def start(
        self,
        kind: Annotated[Literal["voice", "text"], "by voice, or in writing"],
        transport: Annotated[
            Literal["local", "remote", "fake"],
            "of a voice session: at the microphone and loudspeaker of the server's machine (local, opens the "
            "microphone), at those of a client that connects later (remote; until then what is said is typed with "
            "`say`), or with no devices and no models (fake)",
        ] = "local",
        thread_id: Annotated[str | None, "a stored conversation to go on with"] = None,
        language: Annotated[str | None, "two letters, such as en or de; else the server's own"] = None,
    ) -> dict[str, Any]:
        """Open a conversation with the person at the server, and get its state, with its `id`."""
        state = await self._client.open(kind=kind, transport=transport, thread_id=thread_id, language=language)
        return _shortened(state.told)

    async def say(self, session_id: _SessionId, text: Annotated[str, "what is said"]) -> dict[str, Any]:
        """Give the conversation its next turn, as if the person had typed it. The answer comes with `follow`."""
        accepted = await self._client.say(session_id, text)
        return {"accepted": True} | ({"event_id": accepted.event_id} if accepted.event_id else {})

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

        Gives `events`, the `cursor` for the next call, and whether the conversation has `ended`. A `gap` event says
        how many were missed, a `snapshot` holds the state.
        """
        check_number("wait_s", wait_s, 0.0, MOST_WAIT_S, unit="seconds")
        check_whole("most", most, 1, MOST_EVENTS)
        async with self._client.follow(session_id, *(kinds or ()), after=cursor) as following:
            events = await _gathered(following, wait_s, most)
            over = following.is_over
        return {"events": [_told(event) for event in events], "cursor": following.cursor, "ended": over}

    async def interrupt(self, session_id: _SessionId) -> dict[str, Any]:
        """Cut the agent off in the middle of its reply; `interrupted` is false when it was not replying."""
        return {"interrupted": await self._client.interrupt(session_id)}

    async def stop(self, session_id: _SessionId) -> dict[str, Any]:
        """End the conversation, and get what was said in it (the newest turns)."""
        ended = await self._client.end(session_id)
        said = [utterance.as_dict() for utterance in ended.utterances]
        return _shortened({"id": ended.id, "utterances": said, "interruption_rate": ended.interruption_rate})


async def _gathered(following: Following, wait_s: float, most: int) -> list[ServerEvent]:
    """What comes within the time, or until nothing follows, or it is over. What was read is never lost by the time."""
    events: list[ServerEvent] = []
    with anyio.move_on_after(max(wait_s, SETTLE_S)) as time:  # what is there already takes a moment as well
        async for event in following:
            events.append(event)
            if len(events) == most:
                break
            time.deadline = min(time.deadline, anyio.current_time() + SETTLE_S)
    return events


def _told(event: ServerEvent) -> dict[str, Any]:
    told: dict[str, Any] = {"kind": event.kind} | ({} if event.at_s is None else {"at_s": event.at_s})
    if event.kind == "snapshot" and isinstance(event.data.get("state"), Mapping):
        return told | {"state": _shortened(event.data["state"])}
    return told | dict(event.data)


def _shortened(state: Mapping[str, Any]) -> dict[str, Any]:
    """A state with its newest utterances alone, and how many came before them; the times of stages are left out."""
    kept = {name: value for name, value in state.items() if name != "timings"}
    said = kept.get("utterances", ())
    if len(said) > MOST_UTTERANCES:
        kept |= {"utterances": list(said[-MOST_UTTERANCES:]), "earlier_utterances": len(said) - MOST_UTTERANCES}
    return kept
