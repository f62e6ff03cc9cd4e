"""A sound over a reply: the agent speaks, and something is said into the microphone meanwhile."""

from discussion_helper.audio.analysis import AUDIBLE_DBFS
from discussion_helper.bench.clips import Saying
from discussion_helper.bench.room import Room
from discussion_helper.bench.take import Reply, Take, Taking
from discussion_helper.bench.talk_handle import TalkHandle
from discussion_helper.errors import DiscussionError

__all__ = ["AFTER_S", "AUDIBLE_WITHIN_S", "CALM_S", "OFFSETS_S", "QUIET_S", "resumed", "said_over"]

OFFSETS_S = (1.0, 2.0, 3.5)
"""When the sound begins, from the reply's first audible sample, in turn."""
AFTER_S = 3.0
"""How long is recorded after the sound: a reply that goes on has to do so within 2 s."""
AUDIBLE_WITHIN_S = 10.0
QUIET_S = 1.5
CALM_S = 30.0


def said_over(room: Room, talk: TalkHandle, text: str, saying: Saying, offset_s: float) -> Take:
    """Have the agent say `text`, and say a clip `offset_s` into it. Raises DiscussionError."""
    with room.taking(talk, saying.name) as trial:
        talk.order("speak", text=text)
        begun = _first_audible(trial)
        trial.wait(begun + round(offset_s * trial.recording.rate))
        trial.say(saying)
        trial.wait(len(trial.recording) + round(AFTER_S * trial.recording.rate))
    talk.calm(quiet_s=QUIET_S, reply_s=0.0, timeout=CALM_S)
    return trial.take


def resumed(take: Take, cut: Reply) -> Reply | None:
    """The reply that went on with one that was cut, without a user turn in between."""
    for told in take.told:
        if told.at_s > cut.ended_s and told.means("utterance", speaker="user"):
            return None
        if told.at_s > cut.ended_s and told.means("floor", floor="speaking"):
            return next((reply for reply in take.replies if reply.started_s == told.at_s), None)
    return None


def _first_audible(trial: Taking) -> int:
    heard = trial.recording.wait(
        lambda it: it.first_audible("loudspeaker", dbfs=AUDIBLE_DBFS) is not None, timeout=AUDIBLE_WITHIN_S
    )
    first = trial.recording.first_audible("loudspeaker", dbfs=AUDIBLE_DBFS)
    if not heard or first is None:
        raise DiscussionError(f"The agent was not to be heard within {AUDIBLE_WITHIN_S:g} s of being told to speak.")
    return first
