"""How a talk listens: which detectors hear a microphone, for those who hold a talk and those who replay one."""

from discussion_helper.models import Store, load_manifest
from discussion_helper.tuning import Tuning
from discussion_helper.turn.pauses import PauseModel
from discussion_helper.types import Policy
from discussion_helper.vad.silero import SileroDetector
from discussion_helper.vad.wake_word import WakeWordDetector
from discussion_helper.vad.webrtc import WebRtcDetector
from discussion_helper.voice.assembly import hearing_of, overlap_of
from discussion_helper.voice.hearing import EchoPath, Hearing

__all__ = ["hearing_with"]


def hearing_with(
    rate: int,
    echo: EchoPath,
    *,
    policy: Policy,
    language: str | None,
    tuning: Tuning | None = None,
    interim: bool = False,
    pauses: PauseModel | None = None,
) -> Hearing:
    """What hears a microphone of `rate` hertz in a real talk; `echo` is one for the whole session.

    `interim`: whether it asks for the words of a turn that goes on, for them to be seen; they decide nothing.
    `pauses`: what was learned of the speaker, one for the whole session; None = nothing is.
    Raises ModelMissing or ModelCorrupt for the neural detector or a wake word, ModelError where LiteRT is missing
    for it.
    """
    overlap = overlap_of(
        policy,
        language=language,
        gate=WebRtcDetector(mode=2),
        clean_gate=WebRtcDetector(mode=3),
        tuning=tuning,
    )
    gate, judge = WebRtcDetector(mode=2), SileroDetector()
    wake = None
    if policy.turn_policy == "wake_word":
        folder = Store().path_of(load_manifest().model(policy.wake_word))
        wake = WakeWordDetector(folder), WakeWordDetector(folder)
    return hearing_of(
        rate,
        gate=gate,
        judge=judge,
        echo=echo,
        policy=policy,
        overlap=overlap,
        tuning=tuning,
        interim=interim,
        wake=wake,
        language=language,
        pauses=pauses,
    )
