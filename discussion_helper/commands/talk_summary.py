"""A talk in a line: at its beginning, and at its end."""

import statistics
from typing import TYPE_CHECKING, Any

from discussion_helper.session import Session

if TYPE_CHECKING:
    from discussion_helper.app import Talk
    from discussion_helper.recorder.talk_recording import TalkRecording

__all__ = ["introduction", "summary"]


def introduction(talk: "Talk") -> str:
    where = f"Microphone: {talk.microphone}. Loudspeaker: {talk.loudspeaker}. Answers come from {talk.responder}."
    return where if talk.recording is None else f"{where} {_recorded(talk.recording)}"


def _recorded(recording: "TalkRecording") -> str:
    kept = f"its last {recording.to.minutes:g} minutes are kept"
    return f"All that is heard and said is recorded in {recording.to.folder}; {kept}."


def summary(session: Session) -> str:
    """The talk in one line."""
    state = session.state
    waits = [timing["to_first_audio_s"] for timing in state["timings"]]
    if not waits:
        return "No answers."
    answers = [turn for turn in state["utterances"] if turn["speaker"] == "agent"]
    cut = sum(turn["interrupted"] for turn in answers)
    counts = f"Answers: {len(answers)}, interrupted: {cut}, median wait {statistics.median(waits):.2f} s."
    counts += _begun_ahead(state["speculation"])
    times = state["shed"]["times"]
    often = "once" if times == 1 else f"{times} times"
    return f"{counts} The machine was too slow, and the talk went on without something: {often}." if times else counts


def _begun_ahead(tally: dict[str, Any]) -> str:
    if not tally["begun"]:
        return ""
    return f" Begun early: {tally['begun']}, kept: {tally['committed']}, {tally['wasted_s']:.1f} s of work for nothing."
