"""What the server's answers look like, by name."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any, get_args

from discussion_helper.policy import TurnPolicy
from discussion_helper.text.artifacts import ARTIFACTS
from discussion_helper.text.state import ROLES
from discussion_helper.types import Floor, Speaker
from discussion_helper.web.bodies import Transport
from discussion_helper.web.json_schema import (
    COUNT,
    MOMENT,
    NUMBER,
    SECONDS,
    TEXT,
    WHOLE,
    YES_NO,
    Schema,
    always,
    by_kind,
    either,
    list_of,
    one_of,
    or_null,
    record,
    ref,
    told,
)

__all__ = ["FLOOR", "SPEAKER", "TIMING", "answer_schemas", "artifact_fields"]

FLOOR = one_of([floor.value for floor in Floor])
SPEAKER = one_of(get_args(Speaker))
_STAGES = ("endpoint", "recognise", "think", "speak")
TIMING: Mapping[str, Schema] = {
    "endpoint_s": told(SECONDS, "From the last voiced sample to the decision that the turn is over."),
    "recognise_s": told(SECONDS, "From that to its text."),
    "think_s": told(SECONDS, "From that to the first clause of the reply."),
    "speak_s": told(SECONDS, "From that to its first sample at the loudspeaker."),
    "to_first_audio_s": told(SECONDS, "All of it."),
    "slowest_stage": one_of(_STAGES),
}
"""Of one turn."""

_MEMBERS: Mapping[Any, Schema] = {str: TEXT, int: WHOLE, bool: YES_NO}
_SPOKEN: Mapping[str, Schema] = {
    "utterances": list_of(ref("Utterance")),
    "timings": list_of(ref("Timing")),
    "interruption_rate": told(NUMBER, "Share of the agent's turns that were cut, 0.0 to 1.0."),
}
_RUNNING: Mapping[str, Schema] = {
    "id": TEXT,
    "title": told(TEXT, "The first words that were said, in one line of up to 60 characters; else how the id begins."),
    "running": YES_NO,
    "elapsed_s": SECONDS,
    "floor": told(FLOOR, "Who is to speak."),
    **_SPOKEN,
}
_VOICE: Mapping[str, Schema] = {
    **_RUNNING,
    "kind": always("voice"),
    "turn_policy": told(one_of(get_args(TurnPolicy)), "When what the microphone hears may be a turn."),
    "attention": told(TEXT, 'What the last `attention` event told: "awake", "asleep", "pressed", "released", or "".'),
    "speculation": ref("Speculation"),
    "shed": ref("Shed"),
    "live": ref("Live"),
    "decisions": told(list_of(ref("DecisionEvent")), "The newest ones."),
}
_VOICE_MAY: Mapping[str, Schema] = {
    "transport": told(one_of(get_args(Transport)), "How the session was opened."),
    "thread_id": told(TEXT, "Of the thread that keeps what is said; nothing is kept without it."),
    "microphone": told(TEXT, 'Its state in the last `device` event: "open", "muted", "silent", "lost".'),
    "client": told(one_of(("here", "away")), "Whether a client is at the microphone of a session that is at one."),
    "reason": told(TEXT, 'Once it has ended: "finished", "silence", "stopped", "abandoned" or "failed".'),
    "error": told(TEXT, "What it failed with."),
}
_WRITTEN: Mapping[str, Schema] = {
    **_RUNNING,
    "kind": always("text"),
    "pending": told(COUNT, "Messages that wait."),
    "live": ref("Answering"),
}
_OPENED: Mapping[str, Schema] = {"url": TEXT, "events_url": TEXT}
_DATED: Mapping[str, Schema] = {"id": TEXT, "created_at": MOMENT, "updated_at": MOMENT}
_COUNTED: Mapping[str, Schema] = {"turn_count": COUNT, "first": told(TEXT, "The user's first words.")}


def answer_schemas() -> dict[str, Schema]:
    """All of them."""
    return {**_of_anything(), **_of_sessions(), **_of_turns(), **_of_threads(), **_of_artifacts()}


def _of_anything() -> dict[str, Schema]:
    use = {"ok": YES_NO, "missing": told(list_of(TEXT), "Parts without which it cannot be had.")}
    part = {"part": TEXT, "ok": YES_NO, "found": TEXT, "fix": TEXT}
    return {
        "Problem": record({"error": told(TEXT, "What happened."), "fix": told(TEXT, 'What to do; "" = nothing.')}),
        "Index": record(dict.fromkeys(("health", "sessions", "threads", "openapi", "metrics"), TEXT)),
        "Use": record(use),
        "Health": record(
            {
                "ok": told(YES_NO, "Something can be held here."),
                "uses": record({"voice": ref("Use")}, {"remote": ref("Use"), "text": ref("Use")}),
                "parts": list_of(record(part)),
                "sessions": COUNT,
                "keeps": told(YES_NO, "What is said by voice is kept, unless a session is opened otherwise."),
            }
        ),
        "Ready": record({"ready": TEXT, **use, "fixes": list_of(TEXT)}),
        "AuditEntry": record({"at": MOMENT, "kind": TEXT}, more=TEXT),
        "Rotated": record({"token": TEXT, "link": told(TEXT, "A path with the token.")}),
    }


def _of_sessions() -> dict[str, Schema]:
    tally = {"on": YES_NO, **dict.fromkeys(("begun", "committed", "thrown_away"), COUNT)}
    spent = dict.fromkeys(("generated_s", "synthesised_s", "wasted_s"), SECONDS)
    return {
        "Speculation": record({**tally, **spent, "share": NUMBER}, about="Replies begun before a turn was over."),
        "Shed": record({"now": list_of(TEXT), "times": COUNT}, about="What a machine that is late does without."),
        "VoiceState": record(_VOICE, _VOICE_MAY),
        "TextState": record(_WRITTEN),
        "State": by_kind({"voice": "VoiceState", "text": "TextState"}),
        "OpenedVoice": record({**_OPENED, **_VOICE}, _VOICE_MAY),
        "OpenedText": record({**_OPENED, **_WRITTEN}),
        "Opened": by_kind({"voice": "OpenedVoice", "text": "OpenedText"}),
        "Transcript": record({"id": TEXT, **_SPOKEN}),
        **_of_this_moment(),
    }


def _of_this_moment() -> dict[str, Schema]:
    """What goes on beside the transcript."""
    heard = {"text": TEXT, "stable": told(TEXT, "What of it stays.")}
    spoken = {
        "user": told(or_null(record(heard)), "What the user has said so far of a turn that is not over."),
        "agent": told(TEXT, "The same of the reply."),
        "level": told(or_null(NUMBER), "Of the microphone, in dBFS."),
        "tool": told(TEXT, "The one that runs."),
        "uses": told(list_of(ref("ToolUse")), "Since the agent's last turn."),
        "fault": told(or_null(record({}, more=True)), "What a device last told that is wrong."),
    }
    since = told(or_null(NUMBER), "When the model was asked, while nothing has come.")
    return {
        "Live": record(spoken),
        "Answering": record({"agent": told(TEXT, "What the model has said so far."), "thinking_since_s": since}),
    }


def _of_turns() -> dict[str, Schema]:
    words = {"text": told(TEXT, "Of the agent's what was heard."), "said": told(TEXT, "What was to be said, if more.")}
    spoken = {"interrupted": YES_NO, "started_s": SECONDS, "ended_s": SECONDS}
    use = {**dict.fromkeys(("id", "name", "arguments", "result"), TEXT), "is_error": YES_NO}
    ahead = {"ahead": told(always(True), "The reply was begun before the turn was over.")}
    return {
        "Utterance": record({"speaker": SPEAKER, **words, **spoken}, {"calls": list_of(ref("ToolUse"))}),
        "ToolUse": record(use),
        "Timing": record(TIMING, ahead),
        "Accepted": record({"accepted": always(True)}, {"event_id": told(TEXT, "In the context of what follows.")}),
        "Interrupted": record({"interrupted": YES_NO}),
        "Pressed": record({"pressed": always(True), "interrupted": YES_NO}),
        "Released": record({"pressed": always(False)}),
        "Muted": record({"muted": YES_NO}),
        "Cancelled": record({"cancelled": told(YES_NO, "A turn was running.")}),
    }


def _of_threads() -> dict[str, Schema]:
    marks = {
        "interrupted": told(always(True), "It was cut off."),
        "answered": told(always(False), "It is a question that has no answer."),
    }
    turn = {"role": one_of(ROLES), "at": MOMENT, "artifacts": list_of(ref("Artifact"))}
    return {
        "ThreadHead": record(_DATED, {**_COUNTED, "error": told(TEXT, "Why its turns cannot be read.")}),
        "Thread": record(
            {**_DATED, **_COUNTED, "metadata": record({}, more=TEXT), "turns": list_of(ref("ThreadTurn"))}
        ),
        "ThreadTurn": record(turn, marks),
    }


def artifact_fields(kind: str) -> dict[str, Schema]:
    """The members of an artifact beside its kind; those that say nothing are left out."""
    return {each.name: _MEMBERS.get(each.type, {}) for each in fields(ARTIFACTS[kind])}


def _of_artifacts() -> dict[str, Schema]:
    whole = [kind for kind in ARTIFACTS if not kind.endswith("_delta")]
    return {"Artifact": either(*(record({"kind": always(kind)}, artifact_fields(kind)) for kind in whole))}
