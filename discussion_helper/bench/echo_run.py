"""Echo: the microphone hears the loudspeaker, and the agent must neither interrupt nor answer itself."""

from dataclasses import dataclass

import numpy as np

from discussion_helper.audio.frames import Samples
from discussion_helper.bench.barge_in_run import reply_span
from discussion_helper.bench.progress import Progress
from discussion_helper.bench.room import Room
from discussion_helper.bench.take import Take
from discussion_helper.bench.talk_handle import TalkHandle
from discussion_helper.bench.texts import TEXTS

__all__ = ["AFTER_S", "DELAY_S", "GAIN_DB", "REPLY_LIMIT_S", "START_LIMIT_S", "EchoRow", "echo_row", "run_echo"]

GAIN_DB = -10.0
DELAY_S = 0.1
START_LIMIT_S = 20.0
REPLY_LIMIT_S = 60.0
AFTER_S = 2.5
"""What comes of an echo comes within this: the end of a turn, and its recognition."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EchoRow:
    """One long reply, heard by the microphone."""

    reply: int
    seconds: float
    """From its first audible sample to its last one."""
    echo_db: float
    """Level of the microphone against the loudspeaker, as recorded."""
    interrupted: bool
    interruptions: int
    user_turns: int
    understood: str
    ignored: int
    """Turns that were heard and recognised as no turn of the user."""


def run_echo(room: Room, talk: TalkHandle, count: int, progress: Progress) -> list[EchoRow]:
    """Have the agent say `count` long texts into the echo. Raises DiscussionError."""
    rows: list[EchoRow] = []
    with room.devices.echo(gain_db=GAIN_DB, delay_s=DELAY_S):
        for number, text in enumerate(TEXTS[:count], 1):
            rows.append(echo_row(_spoken(room, talk, text), number))
            row = rows[-1]
            fate = f"{row.interruptions} interruptions, {row.user_turns} user turns"
            progress.step("echo", number, count, f"{row.seconds:.1f} s: {fate}")
    return rows


def _spoken(room: Room, talk: TalkHandle, text: str) -> Take:
    with room.taking(talk, "echo") as trial:
        mark = talk.mark
        talk.order("speak", text=text)
        talk.expect(lambda told: told.means("floor", floor="speaking"), since=mark, timeout=START_LIMIT_S)
        talk.wait(lambda told: told.means("utterance", speaker="agent"), since=mark, timeout=REPLY_LIMIT_S)
        talk.calm(quiet_s=AFTER_S, reply_s=REPLY_LIMIT_S, timeout=REPLY_LIMIT_S)
    return trial.take


def echo_row(take: Take, number: int) -> EchoRow:
    """Measure one take."""
    span = reply_span(take, take.replies[0])
    heard = take.all_told("utterance", speaker="user")
    return EchoRow(
        reply=number,
        seconds=round(len(span) / take.rate, 1),
        echo_db=round(_power_db(take.microphone) - _power_db(take.loudspeaker), 1),
        interrupted=take.replies[0].interrupted,
        interruptions=len(take.all_told("interruption", by="onset")),
        user_turns=len(heard),
        understood=take.user_text,
        ignored=len(take.all_told("decision", what="ignored")),
    )


def _power_db(samples: Samples) -> float:
    return float(10.0 * np.log10(np.mean(np.square(samples.astype(np.float64))) + 1e-12)) if len(samples) else -120.0
