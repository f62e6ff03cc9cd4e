"""The page's reducer against the session's own record: the same state after whatever happens, and after any drop."""

import json
import random
from collections.abc import Callable
from typing import Any

import pytest

from discussion_helper.event import Event
from discussion_helper.present import Present
from discussion_helper.record import Record
from discussion_helper.title import title_of
from discussion_helper.types import Floor, SpokenUtterance, TurnTiming, Utterance, unheard_in
from discussion_helper.web import create_app

pytestmark = [pytest.mark.anyio, pytest.mark.browser]

FOLDED = """async sequences => {
  const { blank, fold } = await import('/page/state.js');
  return sequences.map(events => events.map(event => JSON.parse(event)).reduce(fold, blank()).session);
}"""
WHOLE = """async events => {
  const { blank, fold } = await import('/page/state.js');
  return events.reduce(fold, blank());
}"""
UNHEARD = """async pairs => {
  const { unheardIn } = await import('/page/unheard.js');
  return pairs.map(([said, heard]) => unheardIn(said, heard));
}"""
WORDS = ("", "yes", "and the river", "Straße ß", "水 は", "one two", "…", "a  b")


class Scene:
    """A record to which things happen at random, what a watcher got of it, and what it should know then."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self.events: list[dict[str, Any]] = []
        self._watches = True
        self._record = Record(self._observe)
        self._at_s = 0.0
        self._snapshot()

    def _observe(self, kind: str, data: dict[str, Any]) -> None:
        if self._watches:
            self.events.append(Event(kind, self._at_s, data).as_dict())

    def _snapshot(self) -> None:
        self.events.append({"kind": "snapshot", "at_s": self._at_s, "state": self.state})

    @property
    def state(self) -> dict[str, Any]:
        title = title_of(self._record.conversation.utterances, "a-session")
        return {"id": "a-session", "title": title, "kind": "voice", "running": True, **self._said}

    @property
    def _said(self) -> dict[str, Any]:
        return self._record.conversation.as_dict()

    def play(self) -> "Scene":
        steps: list[Callable[[], None]] = [self._user, self._user, self._agent, self._agent, self._time, self._floor]
        for _ in range(self._random.randrange(1, 40)):
            self._at_s += 0.5
            self._random.choice([*steps, self._revise, self._partial, self._drop])()
        if not self._watches:
            self._drop()
        return self

    def _user(self) -> None:
        self._record.add(Utterance("user", self._random.choice(WORDS), self._at_s - 0.3333333, self._at_s - 0.1))

    def _agent(self) -> None:
        said = self._random.choice(WORDS)
        heard = said[: self._random.randrange(len(said) + 1)]
        times_s = (self._at_s - 0.4, self._at_s)
        self._record.add(
            Utterance("agent", heard, *times_s, interrupted=heard != said, said=said if heard != said else "")
        )

    def _revise(self) -> None:
        before = self._record.conversation.last_user_text
        self._record.add(SpokenUtterance("user", f"{before} more", revises=before))

    def _time(self) -> None:
        self._record.add_timing(TurnTiming(endpoint_s=self._random.random(), think_s=self._random.random()))

    def _floor(self) -> None:
        self._record.set_floor(self._random.choice(list(Floor)))

    def _partial(self) -> None:
        self._record.report("partial", speaker="user", text="so far", stable="so")
        self._record.report("tool", id="1", name="weather", state="called")

    def _drop(self) -> None:
        """The connection breaks, or comes back with a snapshot."""
        self._watches = not self._watches
        if self._watches:
            self._snapshot()


def timeless(state: dict[str, Any]) -> dict[str, Any]:
    """Without what no event of a turn tells, and what is a time of the page's own."""
    turns = [{key: value for key, value in turn.items() if key != "calls"} for turn in state["utterances"]]
    return {key: value for key, value in state.items() if key != "elapsed_s"} | {"utterances": turns}


async def test_whatever_happens_and_whenever_the_connection_drops_the_page_knows_what_the_session_knows(
    serving: Any, browsing: Any
) -> None:
    scenes = [Scene(seed).play() for seed in range(300)]
    async with serving(create_app(token="a-token-for-the-page")) as served, browsing(served) as (open_page, _):
        page = await open_page()
        texts = [[json.dumps(event) for event in scene.events] for scene in scenes]
        for scene, told in zip(scenes, await page.evaluate(FOLDED, texts), strict=True):
            assert timeless(scene.state) == timeless(told)


async def test_tools_belong_to_the_turn_that_follows(serving: Any, browsing: Any) -> None:
    scene = Scene(0)
    for number in range(2):
        for state in ("called", "done"):
            scene._record.report("tool", id=str(number), name="weather", arguments="{}", result="rain", state=state)
    scene._record.add(Utterance("agent", "It rains."))
    scene._record.add(Utterance("agent", "Still."))
    async with serving(create_app(token="a-token-for-the-page")) as served, browsing(served) as (open_page, _):
        [told] = await (await open_page()).evaluate(FOLDED, [[json.dumps(event) for event in scene.events]])
    assert [2, 0] == [len(turn.get("calls", ())) for turn in told["utterances"]]
    assert scene.state["utterances"][0]["calls"] == told["utterances"][0]["calls"]


async def test_who_comes_in_the_middle_sees_what_goes_on_and_keeps_the_decisions_it_had(
    serving: Any, browsing: Any
) -> None:
    def snapshot(*decided_s: float) -> dict[str, Any]:
        decisions = [{"kind": "decision", "at_s": at_s, "what": "turn", "why": "silence"} for at_s in decided_s]
        return {"kind": "snapshot", "at_s": 9.0, "state": Scene(0).state | {"live": live, "decisions": decisions}}

    present = Present()
    happened: tuple[tuple[str, dict[str, Any]], ...] = (
        ("partial", {"speaker": "user", "text": "so far", "stable": "so"}),
        *(("partial", {"speaker": "agent", "text": text}) for text in ("One.", "Two.")),
        ("tool", {"state": "done", "id": "1", "name": "clock", "arguments": "{}", "result": "noon"}),
        ("tool", {"state": "called", "id": "2", "name": "weather", "arguments": "{}"}),
        ("level", {"dbfs": -20.5}),
        ("device", {"which": "microphone", "state": "lost", "fix": "Plug it in."}),
        ("device", {"which": "client", "state": "here"}),
    )
    for kind, data in happened:
        present.take(Event(kind, 1.0, data))
    live = present.as_dict()["live"]
    async with serving(create_app(token="a-token-for-the-page")) as served, browsing(served) as (open_page, _):
        told = await (await open_page()).evaluate(WHOLE, [snapshot(1.0, 2.0, 3.0), snapshot(3.0, 4.0)])

    assert {"live", "decisions"}.isdisjoint(told["session"])
    assert [1.0, 2.0, 3.0, 4.0] == [one["at_s"] for one in told["decisions"]]
    assert "The microphone is lost. Plug it in." == told["live"].pop("fault")
    assert told["live"].pop("thinkingSince") is None
    assert {key: value for key, value in live.items() if key != "fault"} == told["live"]


async def test_a_client_that_comes_and_goes_is_known_and_mends_no_fault(serving: Any, browsing: Any) -> None:
    told: tuple[dict[str, Any], ...] = (
        {"which": "client", "state": "here"},
        {"which": "loudspeaker", "state": "lost", "fix": "Plug it in."},
        {"which": "client", "state": "away"},
    )
    happened = [{"kind": "device", "at_s": 1.0, **data} for data in told]
    async with serving(create_app(token="a-token-for-the-page")) as served, browsing(served) as (open_page, _):
        known = await (await open_page()).evaluate(WHOLE, [*Scene(0).events[:1], *happened])

    assert "away" == known["session"]["client"]
    assert "The loudspeaker is lost. Plug it in." == known["live"]["fault"]


async def test_what_was_not_heard_is_the_same_in_both_languages(serving: Any, browsing: Any) -> None:
    pick = random.Random(1)
    texts = ["".join(pick.choices("ab ß水.\n 😀", k=pick.randrange(12))) for _ in range(300)]
    pairs = [(said, said[: pick.randrange(len(said) + 1)].replace(" ", pick.choice(["", " "]))) for said in texts]
    pairs += list(zip(texts, reversed(texts), strict=True))
    async with serving(create_app(token="a-token-for-the-page")) as served, browsing(served) as (open_page, _):
        page = await open_page()
        assert [unheard_in(*pair) for pair in pairs] == await page.evaluate(UNHEARD, pairs)


TITLES = """async pairs => {
  const { titleOf } = await import('/page/title.js');
  return pairs.map(([utterances, id]) => titleOf(utterances, id));
}"""


async def test_a_title_is_the_same_in_both_languages(serving: Any, browsing: Any) -> None:
    pick = random.Random(2)
    letters = "ab 1\n\t\x1f\x85\xa0\u2028\u3000水😀ß~!/\u200b\u200d\u202e\u2003\u3164\ufe0f\U000e0041"
    words = ["".join(pick.choices(letters, k=pick.randrange(200))) for _ in range(300)]
    words += ["", " ", "sk-0123456789abcdefghij and more", "x" * 7_000, "a1" * 5_000, "水" * 5_000 + " a", "😀" * 70]
    words += [" " * 5_990 + "sk-0123456789abcdefghij", "a" + "😀" * 5_994 + "sk-0123456789", "b" + " " * 7_000]
    words += ["".join(pick.choices(letters[-7:], k=pick.randrange(4))) for _ in range(50)]
    talks = [
        [Utterance(pick.choice(["user", "agent"]), pick.choice(words)) for _ in range(pick.randrange(4))]
        for _ in range(400)
    ]
    asked = [([utterance.as_dict() for utterance in talk], "an-id-of-a-session") for talk in talks]
    async with serving(create_app(token="a-token-for-the-page")) as served, browsing(served) as (open_page, _):
        told = await (await open_page()).evaluate(TITLES, asked)

    assert [title_of(talk, "an-id-of-a-session") for talk in talks] == told
