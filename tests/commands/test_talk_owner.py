"""The owner of a talk: what the person wants is done, and refusals are told."""

import math
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest

from discussion_helper.app import Talk
from discussion_helper.commands import talk_grants, talk_owner
from discussion_helper.commands.ending import INTERRUPTED
from discussion_helper.commands.talk_face import Face
from discussion_helper.commands.talk_json import Document
from discussion_helper.commands.talk_leaving import Leaving
from discussion_helper.commands.talk_owner import TalkOwner
from discussion_helper.commands.talk_plan import Plan
from discussion_helper.commands.talk_wishes import Interrupt, Mute, Say, Suspend, Wish, Wishes
from discussion_helper.errors import DeviceError, RecogniserError
from discussion_helper.events import Event
from discussion_helper.session import Session
from discussion_helper.settings import Settings
from discussion_helper.testing import EchoResponder, ScriptedListener, SilentVoice
from discussion_helper.types import Message, Utterance

pytestmark = pytest.mark.anyio


class NoResort:
    """Lets a test's process live."""

    def __init__(self) -> None:
        self.calls: list[object] = []

    def arm(self, code: int) -> None:
        self.calls.append(code)

    def disarm(self) -> None:
        self.calls.append("disarmed")


class ScriptedFace:
    """Wishes and ends as `script` says, which maps what is seen to what is done about it: a wish, or an exit code."""

    def __init__(self, script: dict[str, Wish | int]) -> None:
        self._script = script
        self.seen: list[str] = []

    def at(self, wishes: Wishes, end: Callable[[int], None]) -> Face:
        self._wishes, self._end = wishes, end
        return self

    def take(self, event: Event) -> None:
        if event.kind == "floor":
            self._see(event.data["floor"])
        elif event.kind == "device":
            self._see(event.data["state"])
        elif event.kind == "utterance":
            self._see(event.data["text"])

    def tell(self, text: str) -> None:
        self._see(text)

    def note(self, text: str) -> None:
        self._see(text)

    def left_out(self, text: str, why: str) -> None:
        self._see(f"{why}: {text}")

    def _see(self, text: str) -> None:
        self.seen.append(text)
        match self._script.pop(text, None):
            case int(code):
                self._end(code)
            case None:
                pass
            case wish:
                self._wishes.put(wish)

    async def run(self) -> None:
        pass

    async def suspend(self) -> None:
        self._see("suspended")

    def farewell(self) -> list[str]:
        return ["The face is gone."]


class Thinker(EchoResponder):
    """Never comes to an answer."""

    async def reply(self, messages: Sequence[Message]) -> AsyncIterator[str]:
        await anyio.sleep_forever()
        yield ""


class MutableListener(ScriptedListener):
    """Has a microphone that can be muted, but not always opened again."""

    def __init__(self, *, opens: bool = False) -> None:
        self._opens = opens
        self.mutes: list[bool] = []
        super().__init__([], stays_open=True)

    async def mute(self, on: bool) -> None:
        self.mutes.append(on)
        if not on and not self._opens:
            raise DeviceError("The microphone is gone.", fix="Connect it.")
        assert self._reporter is not None
        self._reporter.report("device", which="microphone", state="muted" if on else "open")


def owner_of(
    listener: ScriptedListener, face: ScriptedFace, resort: NoResort, *, thinks: bool = False, **options: Any
) -> TalkOwner:
    @asynccontextmanager
    async def open_fakes(settings: Settings) -> AsyncIterator[Talk]:
        session = Session(
            listener, Thinker() if thinks else EchoResponder(), SilentVoice(30.0 if "x" in face._script else 0.01)
        )
        try:
            yield Talk(session, "a microphone", "a loudspeaker", "an echo", None)
        finally:
            await session.stop()

    return TalkOwner(open_fakes, face.at, Leaving(Document(None)), resort, **options)


def plan() -> Plan:
    return Plan(Settings(), ("A remark.",))


async def test_a_typed_turn_is_answered_and_the_first_end_counts() -> None:
    face, resort = ScriptedFace({"listening": Say("Hello."), "Hello.": 7, "idle": 8}), NoResort()

    assert 7 == await owner_of(ScriptedListener([], stays_open=True), face, resort).hold(plan)
    assert ["A remark.", "Hello."] == [text for text in face.seen if text in ("A remark.", "Hello.")]
    assert [7, "disarmed"] == resort.calls


async def test_a_typed_turn_for_which_there_is_no_room_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    async def wait(session: Session, text: str) -> None:
        await anyio.sleep_forever()

    monkeypatch.setattr(Session, "say", wait)
    monkeypatch.setattr(talk_grants, "SAY_LIMIT_S", 0.01)
    told = "Too many turns wait for an answer; this one was left out: Hello."
    face = ScriptedFace({"listening": Say("Hello."), told: 7})

    assert 7 == await owner_of(ScriptedListener([], stays_open=True), face, NoResort()).hold(plan)


async def test_a_line_of_a_pipe_waits_for_room_as_long_as_it_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    until = list[float]()

    async def wait(session: Session, text: str) -> None:
        until.append(anyio.current_effective_deadline())
        face._see(f"said {text}")

    monkeypatch.setattr(Session, "say", wait)
    face = ScriptedFace({"listening": Say("Hello.", waits=True), "said Hello.": 7})

    assert 7 == await owner_of(ScriptedListener([], stays_open=True), face, NoResort()).hold(plan)
    assert [math.inf] == until


async def test_what_was_typed_and_did_not_get_into_the_talk_is_told_at_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    async def wait(session: Session, text: str) -> None:
        face._wishes.put(Say("Two."))
        face._see("it waits")
        await anyio.sleep_forever()

    monkeypatch.setattr(Session, "say", wait)
    face = ScriptedFace({"listening": Say("One.", waits=True), "it waits": 7})

    assert 7 == await owner_of(ScriptedListener([], stays_open=True), face, NoResort()).hold(plan)
    assert ["Not said: One.", "Not said: Two."] == face.seen[-2:]


async def test_a_typed_turn_that_comes_after_the_end_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    async def refuse(session: Session, text: str) -> None:
        raise RuntimeError("the session is not running")

    monkeypatch.setattr(Session, "say", refuse)
    face = ScriptedFace({"listening": Say("Hello."), "Not said, for the session is not running: Hello.": 7})

    assert 7 == await owner_of(ScriptedListener([], stays_open=True), face, NoResort()).hold(plan)


async def test_an_interruption_cuts_the_answer() -> None:
    face = ScriptedFace({"speaking": Interrupt(), "": INTERRUPTED, "x": 0})
    listener = ScriptedListener(["Hello."], stays_open=True)

    assert INTERRUPTED == await owner_of(listener, face, NoResort()).hold(plan)
    assert ["Hello.", "thinking", "speaking", ""] == face.seen[face.seen.index("Hello.") :][:4]


@pytest.mark.parametrize("floor", ["listening", "thinking"])
async def test_an_interruption_of_nothing_is_told(floor: str) -> None:
    told = "Nothing to interrupt: the agent is not speaking."
    face = ScriptedFace({floor: Interrupt(), told: 0})
    turns = ["Hello."] if floor == "thinking" else []

    assert 0 == await owner_of(ScriptedListener(turns, stays_open=True), face, NoResort(), thinks=True).hold(plan)
    assert told in face.seen


async def test_a_listener_without_a_microphone_refuses_to_be_muted() -> None:
    refusal = "this session's listener has no microphone to mute"
    face = ScriptedFace({"listening": Mute(on=True), refusal: 0})

    assert 0 == await owner_of(ScriptedListener([], stays_open=True), face, NoResort()).hold(plan)
    assert refusal in face.seen


async def test_a_microphone_is_muted_and_its_trouble_is_told() -> None:
    listener = MutableListener()
    trouble = "The microphone is gone. Connect it."
    face = ScriptedFace({"listening": Mute(on=True), "muted": Mute(on=False), trouble: 0})

    assert 0 == await owner_of(listener, face, NoResort()).hold(plan)
    assert ["muted", trouble] == [text for text in face.seen if text in ("muted", trouble)]


@pytest.mark.parametrize("muted", [False, True])
async def test_the_microphone_is_closed_while_the_program_is_stopped(muted: bool) -> None:
    listener, when_stopped = MutableListener(opens=True), list[list[bool]]()

    class Stopping(ScriptedFace):
        async def suspend(self) -> None:
            when_stopped.append(list(listener.mutes))
            await super().suspend()
            self.tell("goes on")

    face = Stopping({"listening": Suspend(muted), "goes on": Say("Hello."), "Hello.": 0})

    assert 0 == await owner_of(listener, face, NoResort()).hold(plan)
    assert [[] if muted else [True]] == when_stopped
    assert ([] if muted else [True, False]) == listener.mutes


async def test_a_talk_without_a_microphone_can_be_stopped_too() -> None:
    face = ScriptedFace({"speaking": Suspend(False), "suspended": 0, "x": 0})

    assert 0 == await owner_of(ScriptedListener(["Hello."], stays_open=True), face, NoResort()).hold(plan)
    assert "suspended" in face.seen


async def test_what_is_suggested_is_told_while_the_talk_goes_on() -> None:
    async def suggest(settings: Settings) -> str:
        return "Try another model."

    face = ScriptedFace({"Try another model.": 0})

    assert 0 == await owner_of(ScriptedListener([], stays_open=True), face, NoResort(), suggest=suggest).hold(plan)


async def test_the_face_leaves_its_lines_behind(capsys: pytest.CaptureFixture[str]) -> None:
    await owner_of(ScriptedListener([]), ScriptedFace({}), NoResort()).hold(plan)

    assert ["The face is gone.", "No answers."] == capsys.readouterr().err.splitlines()[-2:]


async def test_the_closing_line_says_where_the_recording_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = tmp_path / "talk.wav"
    output.write_bytes(b"older")
    recorded = Plan(Settings(inputs=(Path("a.wav"),), output=output))

    class Recording(ScriptedFace):
        def take(self, event: Event) -> None:
            super().take(event)
            if event.kind == "timing":
                output.write_bytes(b"an answer")

    await owner_of(ScriptedListener(["Hello."]), Recording({}), NoResort()).hold(lambda: recorded)

    assert capsys.readouterr().err.splitlines()[-1].endswith(f" s. The recording is {output}.")


async def test_nothing_is_said_of_a_recording_that_the_talk_left_as_it_was(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "old.wav").write_bytes(b"older")
    for name in ("old.wav", "none.wav"):
        settings = Settings(inputs=(Path("a.wav"),), output=tmp_path / name)
        await owner_of(ScriptedListener([]), ScriptedFace({}), NoResort()).hold(partial(Plan, settings))

        assert "No answers." == capsys.readouterr().err.splitlines()[-1]


async def test_nothing_is_said_of_a_recording_that_is_gone_when_the_talk_ends(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "talk.wav"
    output.touch()  # as the loudspeaker makes it, which takes it away again where nothing was played
    settings = Settings(inputs=(Path("a.wav"),), output=output)

    class Failing(ScriptedListener):
        async def utterances(self) -> AsyncIterator[Utterance]:
            output.unlink()
            raise RecogniserError("The recogniser broke.", fix="Mend it.")
            yield

    with pytest.raises(RecogniserError):
        await owner_of(Failing([]), ScriptedFace({}), NoResort()).hold(partial(Plan, settings))
    assert "No answers." == capsys.readouterr().err.splitlines()[-1]


@pytest.mark.parametrize("late", [False, True])
async def test_patience_is_asked_for_where_opening_takes_a_while(
    late: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    said = anyio.Event()

    @asynccontextmanager
    async def refuse(settings: Settings) -> AsyncIterator[Talk]:
        if late:
            await said.wait()
        raise DeviceError("The microphone is gone.", fix="Connect it.")
        yield

    def complain(line: str) -> None:
        said.set()
        print(line)

    monkeypatch.setattr(talk_owner, "complain", complain)
    monkeypatch.setattr(talk_owner, "PATIENCE_S", 0.01 if late else 60.0)
    owner = TalkOwner(refuse, ScriptedFace({}).at, Leaving(Document(None)), NoResort())
    with pytest.raises(DeviceError):
        await owner.hold(plan)
    assert (["Getting ready ..."] if late else []) == capsys.readouterr().out.splitlines()


async def test_an_end_before_the_start_starts_nothing() -> None:
    face, listener = ScriptedFace({"A remark.": 5}), ScriptedListener(["Hello."])

    assert 5 == await owner_of(listener, face, NoResort()).hold(plan)
    assert "listening" not in face.seen
    assert listener.closed
