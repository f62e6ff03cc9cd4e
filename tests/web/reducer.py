"""A reference client: it folds a session's snapshot and events into a state, and remembers what it knew at each id."""

import copy
import json
from dataclasses import dataclass
from typing import Any

from discussion_helper.title import title_of
from discussion_helper.types import Utterance

__all__ = ["Reducer", "Told", "comparable", "events_in", "events_of"]

_QUIET: dict[str, Any] = {"user": None, "agent": "", "level": None, "tool": "", "uses": [], "fault": None}
_FAULTS = ("lost", "hanging", "silent", "slow")
_DECISIONS = 50


@dataclass(frozen=True)
class Told:
    """One server-sent event."""

    id: str
    data: dict[str, Any]

    @property
    def kind(self) -> str:
        return str(self.data["kind"])


def events_in(chunk: bytes) -> list[Told]:
    """Those of whole blocks; comments and `retry` are none."""
    told = []
    for block in chunk.decode().split("\n\n"):
        fields = dict(line.split(": ", 1) for line in block.split("\n") if ": " in line and not line.startswith(":"))
        if "data" in fields:
            data = json.loads(fields["data"])
            assert fields["event"] == data["kind"]
            told.append(Told(fields.get("id", ""), data))
    return told


def events_of(messages: list[bytes]) -> list[Told]:
    """Those of a WebSocket's messages; a sign of life is none."""
    told = []
    for fields in map(json.loads, messages):
        if fields:
            assert fields["event"] == fields["data"]["kind"]
            told.append(Told(fields.get("id", ""), fields["data"]))
    return told


def comparable(state: dict[str, Any]) -> dict[str, Any]:
    """Without what is a time of the server's own, and what no event tells."""
    kept = copy.deepcopy(json.loads(json.dumps(state)))
    for name in ("elapsed_s", "speculation", "pending", "thinking_since_s"):
        kept.pop(name, None)
    kept["utterances"] = [{k: v for k, v in turn.items() if not k.endswith("_s")} for turn in kept["utterances"]]
    kept["live"] = _QUIET | {k: v for k, v in kept.get("live", {}).items() if k != "thinking_since_s"}
    decisions = [] if kept["kind"] == "text" else kept["decisions"]  # of a text session none are kept
    return {**kept, "decisions": decisions}


class Reducer:
    """Knows nothing at first; `state` is what GET /sessions/ID says."""

    def __init__(self) -> None:
        self.state: dict[str, Any] = {}
        self.cursor = ""
        self.known: dict[str, dict[str, Any]] = {}
        """The state at each id, for a client that goes back to an earlier one."""
        self.stale: list[str] = []
        """Why it got a snapshot in the place of what it missed, every time."""
        self.kinds: list[str] = []

    def go_back(self, place: str) -> None:
        """Be where it was at this id."""
        self.state, self.cursor = copy.deepcopy(self.known[place]), place

    def take(self, told: Told) -> None:
        """Fold one event."""
        self.kinds.append(told.kind)
        if told.kind == "snapshot":
            if told.data.get("stale"):
                self.stale.append(told.data["why"])
            self._begin(told.data["state"])
        elif told.kind != "gap":
            assert self.state, "an event came before any state"
            assert self.cursor == "" or _place(told.id) > _place(self.cursor), "ids do not increase"
            self._fold(told.data)
        if told.id:
            self.cursor = told.id
            self.known[told.id] = copy.deepcopy(self.state)

    def _begin(self, state: dict[str, Any]) -> None:
        self.cursor = ""
        self.state = copy.deepcopy(state)
        self.state["live"] = copy.deepcopy(_QUIET) | state["live"]

    def _fold(self, event: dict[str, Any]) -> None:
        data = {name: value for name, value in event.items() if name not in ("kind", "at_s")}
        live = self.state["live"]
        match event["kind"]:
            case "floor":
                self._floor(event)
            case "utterance":
                self._turn(data)
            case "timing":
                self.state["timings"].append(data)
            case "ended":
                self.state |= data | {"running": False, "floor": "idle", "live": copy.deepcopy(_QUIET)}
                self.state |= {"attention": ""} if "attention" in self.state else {}
            case "partial":
                self._partial(data)
            case "decision":
                self.state["decisions"] = [*self.state.get("decisions", []), event][-_DECISIONS:]
            case "interruption":
                live["agent"] = ""
            case "attention":
                self.state["attention"] = data["state"]
            case "level":
                live["level"] = data["dbfs"]
            case "tool":
                self._tool(data)
            case "device":
                if data["which"] in ("client", "microphone"):
                    self.state[data["which"]] = data["state"]
                if data["which"] != "client":
                    live["fault"] = data if data["state"] in _FAULTS else None
            case "shed":
                self._shed(data)

    def _floor(self, event: dict[str, Any]) -> None:
        floor, at_s = event["floor"], event["at_s"]
        live, since_s = self.state["live"], self.state["live"].get("thinking_since_s")
        if self.state["kind"] == "text" and floor == "speaking" and since_s is not None:
            self.state["timings"].append({"think_s": at_s - since_s})
        live["thinking_since_s"] = at_s if floor == "thinking" else None
        self.state["floor"] = floor
        if floor in ("listening", "idle"):
            live["agent"] = ""

    def _turn(self, data: dict[str, Any]) -> None:
        live, revised = self.state["live"], data.pop("revises", [])
        turn = {"said": "", "interrupted": False, **data}
        if turn["speaker"] == "user":
            live["user"] = None
        else:
            turn |= {"calls": live["uses"]} if live["uses"] else {}
            live["agent"], live["uses"] = "", []
        kept = [one for at, one in enumerate(self.state["utterances"]) if at not in revised]
        self.state["utterances"] = [*kept, turn]
        said = [Utterance(one["speaker"], one["text"]) for one in self.state["utterances"]]
        self.state["title"] = title_of(said, self.state["id"])
        agent = [one["interrupted"] for one in self.state["utterances"] if one["speaker"] == "agent"]
        self.state["interruption_rate"] = sum(agent) / len(agent) if agent else 0.0

    def _partial(self, data: dict[str, Any]) -> None:
        live = self.state["live"]
        if data["speaker"] == "user":
            live["user"] = {"text": data["text"], "stable": data["stable"]} if data["text"] else None
        elif "delta" in data:
            live["agent"] += data["delta"]
        else:
            live["agent"] = " ".join(filter(None, (live["agent"], data["text"])))

    def _tool(self, data: dict[str, Any]) -> None:
        live = self.state["live"]
        if data["state"] != "done":
            live["tool"] = data["name"]
            return
        use = {"arguments": "", "result": "", "is_error": False} | data
        live["tool"] = ""
        live["uses"] = [*live["uses"], {name: use[name] for name in ("id", "name", "arguments", "result", "is_error")}]

    def _shed(self, data: dict[str, Any]) -> None:
        shed, gone = self.state["shed"], data["state"] == "shed"
        now = [*shed["now"], data["what"]] if gone else [what for what in shed["now"] if what != data["what"]]
        self.state["shed"] = {"now": now, "times": shed["times"] + gone}


def _place(event_id: str) -> tuple[int, int]:
    number, _, part = event_id.partition("-")[2].partition(".")
    return int(number), int(part or 0)
