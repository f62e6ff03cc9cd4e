"""The handle on the talk that is measured, with a child that plays its part."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from discussion_helper.bench.talk_handle import TalkHandle
from discussion_helper.errors import DiscussionError

CHILD = """
import json, sys, time

def tell(kind, **data):
    print(json.dumps({"kind": kind, "at_s": time.monotonic(), "data": data}), flush=True)

print("noise of a library", file=sys.stderr)
tell("device", which="microphone", state="open")
for part in ("responder", "voice", "listener"):
    tell("warm", part=part)
tell("floor", floor="listening")
for line in sys.stdin:
    order = json.loads(line)
    match order["do"]:
        case "speak":
            tell("floor", floor="speaking")
        case "interrupt":
            tell("utterance", speaker="agent", text="Once", interrupted=True)
            tell("floor", floor="listening")
        case "stats":
            tell("stats", lags=[[1.0, 0.002]], health={"blocks": 7})
        case "fail":
            tell("ended", reason="failed", error="The cable is out.")
        case "crash":
            sys.exit(3)
"""


@pytest.fixture
def talk(tmp_path: Path) -> Iterator[TalkHandle]:
    handle = TalkHandle(os.environ, tmp_path / "talk.log", command=(sys.executable, "-c", CHILD))
    with handle:
        yield handle


def test_it_is_entered_when_the_talk_listens_and_is_warm(talk: TalkHandle) -> None:
    assert talk.since()[0].means("device", which="microphone", state="open")
    assert talk.started_s < talk.listening_s <= talk.warm_s
    assert talk.wait(lambda told: told.kind == "floor", timeout=10.0) is not None
    assert talk.floor == "listening"


def test_a_reply_that_lasts_too_long_is_interrupted_and_then_it_is_calm(talk: TalkHandle) -> None:
    mark = talk.mark
    talk.order("speak", text="Once upon a time")
    talk.expect(lambda told: told.means("floor", floor="speaking"), since=mark, timeout=10.0)
    assert talk.calm(quiet_s=0.05, reply_s=0.1, timeout=30.0)
    assert talk.since(mark)[-1].means("floor", floor="listening")
    assert any(told.means("utterance", interrupted=True) for told in talk.since(mark))


def test_waiting_for_what_does_not_come_ends(talk: TalkHandle) -> None:
    assert talk.wait(lambda told: told.kind == "timing", timeout=0.05) is None
    with pytest.raises(DiscussionError, match=r"within 0.05 s.*talk\.log"):
        talk.expect(lambda told: told.kind == "timing", timeout=0.05)


def test_lags_are_asked_for(talk: TalkHandle) -> None:
    assert talk.lags() == [(1.0, 0.002)]
    assert talk.health() == {"blocks": 7}


@pytest.mark.parametrize(("how", "says"), [("fail", "The cable is out"), ("crash", "The talk ended")])
def test_an_end_of_the_talk_is_told_to_whoever_waits(talk: TalkHandle, how: str, says: str) -> None:
    talk.order(how)
    with pytest.raises(DiscussionError, match=says):
        talk.wait(lambda told: told.kind == "timing", timeout=30.0)


def test_a_child_that_cannot_begin_is_an_error_at_once_and_its_words_are_kept(tmp_path: Path) -> None:
    log = tmp_path / "talk.log"
    script = "import sys; sys.exit('No such device')"
    with (
        pytest.raises(DiscussionError, match="The talk ended"),
        TalkHandle(os.environ, log, command=(sys.executable, "-c", script)),
    ):
        pytest.fail("it was entered")
    assert "No such device" in log.read_text()
