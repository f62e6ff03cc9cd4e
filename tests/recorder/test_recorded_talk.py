"""Whole talks, recorded while they are held, and replayed."""

from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import anyio
import pytest

from discussion_helper.audio.echo import EchoPath
from discussion_helper.audio.files import load
from discussion_helper.listening import hearing_with
from discussion_helper.recorder.differences import differences
from discussion_helper.recorder.entries import Header, Taken, Told
from discussion_helper.recorder.recorder import Recorder, RecordTo
from discussion_helper.recorder.replay import Outcome, Replay
from discussion_helper.recorder.take import takes_in
from discussion_helper.recorder.tapped_echo import TappedEcho
from discussion_helper.recorder.trials import heeded_by, settings_for, tried
from discussion_helper.testing.room import After, CutSynthesiser, Echo, Room, Scene, Unplugged, run_in_room
from discussion_helper.types import Message, Policy
from discussion_helper.voice.deciding import Words

SPEECH = Path(__file__).parents[2] / "audio" / "speech"
LONG = "This is a long answer that goes on for quite some time, so that there is something to be interrupted at all."
FIRST, SECOND = "asterisk_en_agent-incorrect.wav", "asterisk_en_vm-newpassword.wav"


class Answers:
    async def reply(self, messages: Sequence[Message]) -> AsyncIterator[str]:
        yield LONG

    async def aclose(self) -> None: ...


def held(folder: Path) -> Recorder:
    """The reply is interrupted, the microphone comes back at another rate, and somebody speaks again."""
    recorder = Recorder(
        RecordTo(folder),
        Header(started_utc_s=1_800_000_000.0, zero_s=0.0, package="0.1.0", settings=settings_for(Policy(), "en")),
        clock=lambda: 0.0,
    )
    scene = Scene(echo=Echo(gain_db=-15.0, delay_s=0.08), troubles=[Unplugged("microphone", 14.0, 1.0, rate=44_100)])
    room = Room(
        scene,
        echo_path=lambda: TappedEcho(EchoPath(), recorder.echo),
        tap=recorder.item,
        note_tap=recorder.note,
    )

    async def talk(room: Room) -> None:
        voice = load(SPEECH / "asterisk_en_confbridge-rest-list-vol-in.wav", 48_000).samples
        session = room.session(
            responder=Answers(), recogniser=room.recogniser(), synthesiser=CutSynthesiser(voice=voice)
        )
        events = session.events("*")
        session.start()
        room.say(load(SPEECH / FIRST), at_s=0.5, text="your login was not right")
        room.say(load(SPEECH / SECOND), after=After("reply", 1, 1.5), text="please give your new password", dbfs=-20.0)
        room.say(load(SPEECH / FIRST), at_s=24.0, text="your login was not right")
        await anyio.sleep(30.0)
        await session.stop()
        async for event in events:
            recorder.event(event)

    run_in_room(talk, room)
    recorder.close()
    return recorder


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("room") / "talk"
    assert "" == held(folder).trouble
    return folder


def run(folder: Path, *wishes: str) -> Outcome:
    (take,) = takes_in(folder)
    heeded = tried(heeded_by(take.header), wishes)

    def hearing(rate: int, echo: Any) -> Any:
        return hearing_with(rate, echo, policy=heeded.policy, language=heeded.language, tuning=heeded.tuning)

    return Replay(take, hearing, EchoPath()).run()


def test_a_whole_talk_decides_byte_for_byte_as_it_did(folder: Path) -> None:
    entries = list(takes_in(folder)[0].entries())
    outcome = run(folder)
    decided = [heard.text for heard in outcome.replayed if heard.kind == "Decided"]

    assert outcome.same
    assert [] == outcome.failures
    assert outcome.echo_differs_s is None
    assert "decided: interruption, words" in decided
    assert {True, False} == {it.item.final for it in entries if isinstance(it, Taken) and isinstance(it.item, Words)}
    assert {"floor", "utterance", "decision", "device", "ended"} <= {
        it.event["kind"] for it in entries if isinstance(it, Told)
    }


def test_words_of_the_talk_serve_settings_that_ask_for_nearly_the_same(folder: Path) -> None:
    outcome = run(folder, "barge_in_stop_words=please")
    rows = [row for row in differences(outcome, exact=False) if row.recorded and row.recorded.kind == "Decided"]

    assert "decided: interruption, words" == rows[0].recorded.text  # type: ignore[union-attr]
    assert "decided: interruption, a stop word" == rows[0].replayed.text  # type: ignore[union-attr]
    assert 0 == outcome.unknown_words


def test_no_barge_in_leaves_the_agent_alone(folder: Path) -> None:
    outcome = run(folder, "allow_barge_in=false")

    assert any(heard.kind == "Ducked" for heard in outcome.recorded)
    assert not any(heard.kind in ("Ducked", "Decided") for heard in outcome.replayed)
