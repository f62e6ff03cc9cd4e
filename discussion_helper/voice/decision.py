"""The `decision` event: what a voice at the microphone was taken for, and why.

There is one for each voice of 0.1 s or more, also for those that are ignored, and one for each sound that turned the
agent down. One that goes on, turns the agent down again and is ignored again has no other. One that was ignored over
the agent and then interrupts after all, or goes on over the next reply, or proves to be an answer, has a second; so has
a turn without barge-in that the talk itself ignores as an "echo", for the agent alone was heard at the time. A voice
without barge-in of which the canceller left no turn has one without words ("barge-in is off"). Its data:

* `what`: "turn", "interruption" (one that cuts the agent off), "ignored" or "half duplex" (the third turn in a row of
  the agent's own words, after which only a loud voice is heard over it), and `why`.
* `started_s`, `ended_s`: first and last voice on the session's clock; `voiced_s`: seconds of voice between them. A
  voice that goes on is told as far as it was heard when it was decided.
* `level_dbfs`: of the loudest 10 ms of the microphone in it; `over_echo_db`: the same above what was to be expected if
  nobody spoke, echo and noise.
* `ducked_s`, where the agent was turned down for it: how long, before it was decided.
* `text`, `doubt` and `score`, where words were read: those, how unsure of them the recogniser is (`doubt.py`), and the
  share of them that the agent had just said (`echo_text.py`).
* `rule`, `wait_s`, `usual_s`, `prosody` and `complete`, of a turn that ended by itself: by which rule, after how many
  seconds without voice it was due, after how many its speaker usually has finished by what was learned, how complete it
  sounded, and how complete its text was, from 0.0 to 1.0 where that is known.
* `fix`, where something should be done about it.

Other `decision` events, of the talk itself, have `what` and `why` alone: "resumed", for one.
"""

from collections.abc import Callable
from typing import Any

from discussion_helper.stt.base import Recognised
from discussion_helper.turn.evidence import Reason
from discussion_helper.turn.turns import TurnEnded
from discussion_helper.voice.notes import Decided, Turn

__all__ = ["of_turn", "of_verdict"]


def of_verdict(note: Decided, of: Callable[[float], float]) -> dict[str, Any]:
    """About a voice over the agent; `of` turns a time of the notes into one of the session's."""
    return {
        **_seen(note, of, voiced_s=note.voiced_s),
        "ducked_s": round(note.ducked_s, 3),
        **_read(note.text, note.doubt, note.score),
        "what": note.what,
        "why": note.why,
    }


def of_turn(note: Turn, result: Recognised, of: Callable[[float], float], *, score: float) -> dict[str, Any]:
    """About a turn that has ended, and that was not decided about before: without `what` and `why`."""
    return {
        **_seen(note, of, voiced_s=getattr(note.event, "voiced_s", 0.0)),
        **_read(result.text, result.no_speech_probability - result.average_logprob, score),
        **(_ended(note.event.reason) if isinstance(note.event, TurnEnded) else {}),
    }


def _ended(reason: Reason) -> dict[str, Any]:
    if not reason.rule:
        return {}
    known = {"prosody": reason.prosody, "complete": reason.complete}
    scores = {name: round(score, 2) for name, score in known.items() if score >= 0.0}
    waits = {"wait_s": round(reason.wait_s, 3), "usual_s": round(reason.usual_s, 3)}
    return {"rule": reason.rule, **waits, **scores}


def _seen(note: Decided | Turn, of: Callable[[float], float], *, voiced_s: float) -> dict[str, Any]:
    return {
        "started_s": round(of(note.started_at_s), 3),
        "ended_s": round(of(note.voiced_until_s), 3),
        "voiced_s": round(voiced_s, 3),
        "level_dbfs": round(note.level_dbfs, 1),
        "over_echo_db": round(note.over_echo_db, 1),
    }


def _read(text: str, doubt: float, score: float) -> dict[str, Any]:
    return {"text": text, "doubt": round(doubt, 2), "score": round(score, 2)} if text else {}
