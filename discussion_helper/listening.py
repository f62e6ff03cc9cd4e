"""How a talk listens: which detectors hear a microphone, for those who hold a talk and those who replay one."""

from contextlib import suppress
from pathlib import Path

from discussion_helper.errors import ModelCorrupt, ModelError, ModelMissing, SettingError
from discussion_helper.models import Store, load_manifest
from discussion_helper.policy import wake_word_file
from discussion_helper.tuning import Tuning
from discussion_helper.turn.pauses import PauseModel
from discussion_helper.types import Policy
from discussion_helper.vad.base import Detector
from discussion_helper.vad.silero import SileroDetector
from discussion_helper.vad.wake_word import WakeWordDetector, check_wake_word
from discussion_helper.vad.webrtc import WebRtcDetector
from discussion_helper.voice.assembly import hearing_of, overheard_of, overlap_of
from discussion_helper.voice.echo_path import EchoPath
from discussion_helper.voice.hearing import MUTED_S, Hearing

__all__ = ["check_wake_of", "hearing_with", "judge_for"]


def hearing_with(
    rate: int,
    echo: EchoPath,
    *,
    policy: Policy,
    language: str | None,
    tuning: Tuning | None = None,
    interim: bool = False,
    pauses: PauseModel | None = None,
    muted_s: float = MUTED_S,
) -> Hearing:
    """What hears a microphone of `rate` hertz in a real talk; `echo` is one for the whole session.

    `interim`: whether it asks for the words of a turn that goes on, for them to be seen; they decide nothing.
    `pauses`: what was learned of the speaker, one for the whole session; None = nothing is.
    `muted_s`: how long exact zeros are no fault.
    Raises ModelMissing or ModelCorrupt for the neural detector or a wake word, SettingError for a wake word's file of
    one's own, ModelError where LiteRT is missing for it, or as `judge_for`.
    """
    eager: dict[str, Detector] = {"gate": WebRtcDetector(mode=2), "clean_gate": WebRtcDetector(mode=3)}
    gate, judge = WebRtcDetector(mode=2), judge_for(tuning or Tuning())
    wake = _wake_of(policy) if policy.turn_policy == "wake_word" else None
    return hearing_of(
        rate,
        gate=gate,
        judge=judge,
        echo=echo,
        policy=policy,
        overlap=overlap_of(policy, language=language, tuning=tuning, **eager),
        overheard=overheard_of(policy, tuning=tuning, **eager),
        tuning=tuning,
        interim=interim,
        wake=wake,
        language=language,
        pauses=pauses,
        muted_s=muted_s,
    )


def _wake_of(policy: Policy) -> tuple[WakeWordDetector, WakeWordDetector]:
    """Of the microphone, and of what the agent says; with a file the usual word's model has the other networks."""
    own = wake_word_file(policy.wake_word)
    folder = _folder_of(policy.wake_word if own is None else Policy().wake_word)
    try:
        return WakeWordDetector(folder, own=own), WakeWordDetector(folder, own=own)
    except ModelCorrupt as error:
        if own is None:
            raise
        raise SettingError(f"wake_word: {error.what}", fix=error.fix) from error


def check_wake_of(policy: Policy) -> None:
    """See whether a wake word that is a file of one's own can be heard for, as far as the other networks are here.

    Raises SettingError where it cannot, and ModelError where LiteRT is missing for it.
    """
    own = wake_word_file(policy.wake_word)
    if policy.turn_policy != "wake_word" or own is None:
        return
    try:
        check_wake_word(own)
    except ModelCorrupt as error:
        raise SettingError(f"wake_word: {error.what}", fix=error.fix) from error
    with suppress(ModelMissing, ModelCorrupt):  # of the usual word, which can be fetched
        _wake_of(policy)


def _folder_of(name: str) -> Path:
    return Store().path_of(load_manifest().model(name))


def judge_for(tuning: Tuning) -> SileroDetector:
    """The neural detector, for thresholds that fit it.

    Raises ModelMissing or ModelCorrupt, and ModelError where the file is not the one that the usual thresholds were
    chosen with, unless others are wanted: from one version to the next all probabilities have moved (issue 685 of
    snakers4/silero-vad).
    """
    judge, usual = SileroDetector(), Tuning()
    chosen = (tuning.vad_threshold, tuning.vad_release) != (usual.vad_threshold, usual.vad_release)
    if not judge.tuned and not chosen:
        what = "The voice detector is not the version that vad.threshold and vad.release were chosen with."
        fix = "Run: pip install faster-whisper==1.2.1, or set vad.threshold in the settings file to what fits this one."
        raise ModelError(what, fix=fix)
    return judge
