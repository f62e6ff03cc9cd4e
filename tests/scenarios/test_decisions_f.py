"""F. Every voice is told once, with all that was known of it: recorded people in the simulated room."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import pytest

from discussion_helper.audio.clips import load_clips
from discussion_helper.testing.room import After, Echo, Room, Scene
from discussion_helper.turn.turns import TurnEnded
from discussion_helper.voice.notes import Note, Turn

pytestmark = pytest.mark.anyio

CLIPS = {clip.path.name: clip.kind for clip in load_clips(Path(__file__).parents[2] / "audio")}
PEOPLE = sorted(name for name, kind in CLIPS.items() if kind in ("speech", "backchannel"))
SAMPLE = (
    "ami_dev01_29.12.wav",
    "ami_trn01_03.09.wav",
    "ami_trn04_14.03.wav",
    "mfa_hes.flac",
    "mfa_uhum.flac",
    "mfa_youknow.flac",
    "asterisk_en_agent-incorrect.wav",
    "asterisk_fr_agent-loginok.wav",
    "cmu_arctic_a0009.wav",
    "mfa_whisper.flac",
    "sphinx_cards_002.wav",
    "sphinx_goforward.wav",
)
ENDED = {"rule", "wait_s", "usual_s", "prosody", "complete"}
"""Of a turn that ended by itself."""
SEEN = {"what", "why", "started_s", "ended_s", "voiced_s", "level_dbfs", "over_echo_db"}
READ = {"text", "doubt", "score"}
SAID = {"speech": "tell me of the king", "backchannel": "mm-hm", "": ""}


@dataclass
class Told:
    """What the audio thread cut out, and what was told of it; times are the session's."""

    turns: list[Turn] = field(default_factory=list)
    decisions: list[dict[str, Any]] = field(default_factory=list)
    zero_s: float = 0.0

    def note(self, note: Note) -> None:
        if isinstance(note, Turn) and isinstance(note.event, TurnEnded) and note.event.voiced_s >= 0.1:
            self.turns.append(note)

    def of(self, turn: Turn) -> list[dict[str, Any]]:
        """The decisions about that turn: about a voice at the same time."""
        begin_s, end_s = turn.started_at_s - self.zero_s, turn.voiced_until_s - self.zero_s
        voices = [it for it in self.decisions if it.get("voiced_s", 0.0) >= 0.1]
        return [it for it in voices if it["started_s"] < end_s and begin_s < it["ended_s"]]


async def told_of(clip: Any, parts: Any, name: str, *, says: str, reply: str, half_duplex: bool) -> Told:
    """Somebody says it, over a reply of some seconds or while the agent is silent; then all that was told."""
    answers, ears, voice = parts
    told = Told()
    async with Room(Scene(echo=Echo(gain_db=-20.0, delay_s=0.05)), note_tap=told.note) as room:
        if half_duplex:
            room.engine.go_half_duplex()
        responder = answers([["Fine."]])
        session = room.session(responder=responder, recogniser=ears(says=says), synthesiser=voice())
        async with session.events("decision") as events:
            told.zero_s = anyio.current_time()
            session.start()
            if reply:
                await session.speak(reply)
            when: Any = {"after": After("reply", 1, 1.0)} if reply else {"at_s": 0.5}
            room.say(clip(f"{CLIPS[name]}/{name}"), dbfs=-22.0, **when)
            await room.reached("line_end")
            await room.quiet(3.0)
            data = [(await anext(events)).data for _ in range(len(events))]
            # What has no voice is about a reply, or the loop's word on a turn that the listener has told of.
            told.decisions = [it for it in data if "voiced_s" in it]
    return told


def check_told(told: Told) -> None:
    """Each turn has one decision, or a second one that takes an "ignored" back; each has all its scores."""
    for turn in told.turns:
        found = told.of(turn)
        first, more = [it["what"] for it in found][:1], [it["what"] for it in found][1:]
        assert first, turn
        assert more in ([], ["interruption"], ["turn"]), found
        assert not more or first == ["ignored"], found
    for decision in told.decisions:
        assert SEEN <= set(decision)
        assert set(decision) - SEEN - ENDED - {"ducked_s"} in (set(), READ), decision
        assert ("rule" in decision) is ("wait_s" in decision)
        assert decision["started_s"] <= decision["ended_s"]
        assert -60.0 < decision["level_dbfs"] < 0.0


@pytest.mark.parametrize("speaking", [False, True])
@pytest.mark.parametrize("name", SAMPLE)
async def test_everybody_is_told_once(clip: Any, parts: Any, long_reply: list[str], name: str, speaking: bool) -> None:
    says, reply = SAID[CLIPS[name]], " ".join(long_reply) if speaking else ""
    told = await told_of(clip, parts, name, says=says, reply=reply, half_duplex=False)

    check_told(told)
    assert told.decisions or not told.turns


@pytest.mark.slow
@pytest.mark.parametrize("half_duplex", [False, True])
@pytest.mark.parametrize("understood", [False, True])
@pytest.mark.parametrize("speaking", [False, True])
@pytest.mark.parametrize("name", PEOPLE)
async def test_everybody_is_told_once_in_every_way(
    clip: Any, parts: Any, long_reply: list[str], name: str, speaking: bool, understood: bool, half_duplex: bool
) -> None:
    says, reply = SAID[CLIPS[name] if understood else ""], " ".join(long_reply) if speaking else ""
    check_told(await told_of(clip, parts, name, says=says, reply=reply, half_duplex=half_duplex))
