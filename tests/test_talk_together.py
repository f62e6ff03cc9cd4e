"""All parts of a talk together: what the composition root is given reaches the part that it is for."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import numpy as np
import pytest
import soundfile

from discussion_helper import app
from discussion_helper.commands.talk_files import FOLLOWED, UNDERSTOOD_WITHIN_S, RecordedTurns
from discussion_helper.event import Event
from discussion_helper.governor import SHEDS
from discussion_helper.models import Store, load_manifest
from discussion_helper.parts import Committed
from discussion_helper.recorder.recorder import RecordTo
from discussion_helper.settings import Settings
from discussion_helper.stt.second_opinion import SecondOpinion
from discussion_helper.stt.two_sizes import TwoSizes
from discussion_helper.testing.replay import replayed
from discussion_helper.tuning import Tuning
from discussion_helper.turn.pauses import PauseModel
from discussion_helper.types import Message
from discussion_helper.voice.governing import switches_of
from discussion_helper.voice.notes import Note, ProsodyWanted, Turn

pytestmark = [pytest.mark.anyio, pytest.mark.models]

CLIP = Path(__file__).parents[1] / "audio" / "speech" / "sphinx_goforward.wav"
PRIVATE: Any = app.__dict__


class Clerk:
    """Answers, also ahead of time."""

    async def reply(self, messages: Sequence[Message]) -> AsyncIterator[str]:
        yield f"You said: {messages[-1]['content']}"

    def speculate(self, messages: Sequence[Message], committed: Committed) -> AsyncIterator[str]:
        return self.reply(messages)

    async def aclose(self) -> None: ...


def ends(notes: list[Note]) -> list[str]:
    return [note.event.reason.rule for note in notes if isinstance(note, Turn) and hasattr(note.event, "reason")]


async def test_a_talk_judges_reads_learns_and_answers_ahead_and_a_replay_of_it_does_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Everything real but the language model; what a talk does without would be missing among its events."""
    given: list[dict[str, Any]] = []
    hearing_with = PRIVATE["hearing_with"]

    def spied(*args: Any, **more: Any) -> Any:
        given.append(more)
        return hearing_with(*args, **more)

    monkeypatch.setattr(app, "hearing_with", spied)
    patient = Tuning(endpoint_silence_s=1.0)  # a busy machine is late with the score
    settings = Settings(inputs=(CLIP,), output=tmp_path / "talk.wav", tuning=patient)
    told: list[Event] = []
    async with app.open_talk(settings, responder=Clerk(), record=RecordTo(tmp_path / "talk")) as talk:
        async with talk.session.events("*") as events:
            talk.session.start()
            await talk.session.ready()
            assert talk.files is not None
            talk.files.say(0)
            async for event in events:
                told.append(event)
                if event.kind == "timing":
                    break
        tally = talk.session.state["speculation"]
    of = {kind: [event.data for event in told if event.kind == kind] for kind in ("partial", "decision", "timing")}
    heard = [data for data in of["partial"] if data.get("speaker", "user") == "user"]
    (turn,) = [data for data in of["decision"] if data["what"] == "turn"]

    assert turn["prosody"] > 0.7
    assert "sounds" in turn["rule"]
    assert turn["usual_s"] == 1.0
    assert any(data["stable"] for data in heard)
    assert [True] == [data["ahead"] for data in of["timing"]]
    assert tally["begun"] == tally["committed"] + tally["thrown_away"] > 0
    assert isinstance(given[-1]["pauses"], PauseModel)
    assert given[-1]["interim"]

    notes = replayed(tmp_path / "talk")
    assert [turn["rule"]] == ends(notes)
    assert [note for note in notes if isinstance(note, ProsodyWanted)]


@pytest.mark.parametrize(
    ("stt", "kind", "sheds"), [("tiny.en", SecondOpinion, SHEDS[:3]), ("base", TwoSizes, (*SHEDS[:2], SHEDS[3]))]
)
async def test_a_talk_has_the_recognisers_that_are_here_and_does_without_what_it_can(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stt: str, kind: type[object], sheds: tuple[str, ...]
) -> None:
    """Where no language model takes the room: beside tiny.en the larger one, instead of base the smaller one."""
    assert Store().path_of(load_manifest().model("base"))
    switched: list[tuple[str, ...]] = []
    recognisers: list[object] = []
    governed, session_on = PRIVATE["governed"], PRIVATE["session_on"]

    @asynccontextmanager
    async def spied(session: Any, lag: Any, **more: Any) -> AsyncIterator[None]:
        of_recogniser = {name: more[name] for name in ("second", "larger") if name in more}
        switched.append(tuple(switches_of(session, **of_recogniser)))
        async with governed(session, lag, **more):
            yield

    def made(engine: Any, **parts: Any) -> Any:
        recognisers.append(parts["recogniser"])
        return session_on(engine, **parts)

    monkeypatch.setattr(app, "governed", spied)
    monkeypatch.setattr(app, "session_on", made)
    async with app.open_talk(Settings(inputs=(CLIP,), output=tmp_path / "talk.wav", stt=stt), responder=Clerk()):
        pass

    assert [sheds] == switched
    assert [kind] == [type(recogniser) for recogniser in recognisers]


async def test_what_is_likely_to_be_said_reaches_the_recogniser_and_a_filler_what_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: dict[str, dict[str, Any]] = {}

    def noted(name: str, real: Any) -> Any:
        def make(*args: Any, **more: Any) -> Any:
            made.setdefault(name, more)
            return real(*args, **more)

        return make

    import discussion_helper.responder.endpoint as endpoint
    import discussion_helper.stt.whisper as whisper

    monkeypatch.setattr(whisper, "WhisperRecogniser", noted("ears", whisper.WhisperRecogniser))
    monkeypatch.setattr(endpoint, "EndpointResponder", noted("answers", endpoint.EndpointResponder))
    settings = Settings(
        inputs=(CLIP,),
        output=tmp_path / "talk.wav",
        llm="some@http://127.0.0.1:9/v1",
        hints=("Aachen",),
        filler="Let me see.",
    )
    async with app.open_talk(settings):
        pass

    assert ("Aachen",) == made["ears"]["hints"]
    assert "Let me see." == made["answers"]["filler"]


def _given(text: str, _: object) -> str:
    return text


async def test_one_moment_is_said_in_the_language_that_was_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import discussion_helper.responder.endpoint as endpoint
    from discussion_helper.stt.whisper import WhisperRecogniser

    given: dict[str, Any] = {}
    real = endpoint.EndpointResponder
    monkeypatch.setattr(endpoint, "EndpointResponder", lambda **more: given.update(more) or real(**more))
    settings = Settings(
        inputs=(CLIP,),
        output=tmp_path / "talk.wav",
        llm="some@http://127.0.0.1:9/v1",
        language="auto",
        stt="base",
        filler="auto",
    )
    said = []
    async with app.open_talk(settings):
        for language in ("", "de"):
            monkeypatch.setattr(WhisperRecogniser, "session_language", property(partial(_given, language)))
            said.append((given["moment"](), given["filler"]()))

    assert [("", ""), ("Einen Moment.", "Mal sehen.")] == said


@pytest.mark.parametrize(
    ("dbfs", "after"), [(None, ()), pytest.param(-30.0, (CLIP,), marks=pytest.mark.slow)], ids=["silence", "noise"]
)
async def test_a_recording_in_which_nobody_speaks_is_not_waited_for(
    tmp_path: Path, dbfs: float | None, after: tuple[Path, ...]
) -> None:
    """And the one after it is heard, answered, and waited for."""
    level = 0.0 if dbfs is None else 10.0 ** (dbfs / 20.0)
    nobody, told = tmp_path / "nobody.wav", list[str]()
    soundfile.write(nobody, np.random.default_rng(1).normal(0.0, level, 24_000).astype(np.float32), 48_000)
    settings = Settings(inputs=(nobody, *after), output=tmp_path / "talk.wav")
    async with app.open_talk(settings, responder=Clerk()) as talk:
        assert talk.files is not None
        names, events = [path.name for path in settings.inputs], talk.session.events(*FOLLOWED)
        turns = RecordedTurns(talk.files, names, events, told.append, heard_out=talk.heard_out)
        talk.session.start()
        with anyio.fail_after(UNDERSTOOD_WITHIN_S):
            assert len(after) == await turns.hold()
    assert ["Nothing was understood in nobody.wav."] == told
