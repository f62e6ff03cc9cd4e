"""How the parts of a voice session are put together, whatever devices and models they stand on."""

from collections.abc import Callable, Iterable, Mapping

from discussion_helper.audio.devices import muted_fix
from discussion_helper.parts import Responder, Thread
from discussion_helper.policy import wake_word_file
from discussion_helper.session import Session
from discussion_helper.stt.base import Recogniser
from discussion_helper.tts.base import Synthesiser
from discussion_helper.tuning import Tuning
from discussion_helper.turn.activity import ActivityTracker, Hysteresis
from discussion_helper.turn.attention import Attention
from discussion_helper.turn.endpointing import Endpointer
from discussion_helper.turn.pauses import FLOOR_S, PauseBounds, PauseModel
from discussion_helper.turn.policy_endpointer import Patience, PolicyEndpointer
from discussion_helper.turn.push_to_talk import HeldEndpointer, PushToTalk
from discussion_helper.turn.turns import TurnSegmenter
from discussion_helper.turn.wake import WakeWord
from discussion_helper.types import Policy
from discussion_helper.vad.base import Detector
from discussion_helper.voice.attentive import AttentiveListener, KeyListener
from discussion_helper.voice.barge_in import OnsetRule
from discussion_helper.voice.deciding import Decider
from discussion_helper.voice.ducking import DuckRule
from discussion_helper.voice.echo_path import EchoPath
from discussion_helper.voice.engine import AudioEngine
from discussion_helper.voice.finishing import Finishing
from discussion_helper.voice.hearing import MUTED_S, Hearing
from discussion_helper.voice.interim import InterimPace
from discussion_helper.voice.lexicon import Lexicon
from discussion_helper.voice.microphone import MicrophoneListener
from discussion_helper.voice.not_understood import apologies_of
from discussion_helper.voice.overheard import Overheard
from discussion_helper.voice.overlap import Overlap
from discussion_helper.voice.speaker import SpeakerVoice

__all__ = ["QUIET_PREROLL_S", "hearing_of", "overheard_of", "overlap_of", "pauses_of", "session_on"]

QUIET_PREROLL_S = 0.5
"""Before a turn, where the agent was not heard in that time; else it is 0.3 s, or the end of its echo would be read.
Of 17 English clips as recorded and 3 to 20 dB softer (85 onsets, tiny.en) the first word is there 82 times with 0.3 s,
82 with 0.4 and 83 with 0.5; one of those that are left is no turn at all."""
_HEARS: Mapping[str, type[MicrophoneListener]] = {
    "open": MicrophoneListener,
    "push_to_talk": KeyListener,
    "wake_word": AttentiveListener,
}


def overlap_of(
    policy: Policy, *, language: str | None, gate: Detector, clean_gate: Detector, tuning: Tuning | None = None
) -> Overlap | None:
    """What becomes of the agent while the user speaks, if anything; the two gates are nobody else's.

    Nothing where a key or a word says who has the floor.
    """
    if policy.turn_policy != "open" or not policy.allow_barge_in or not policy.barge_in_resume_after_s:
        return None
    decider = Decider(
        _lexicon(policy, language),
        min_speech_s=policy.barge_in_min_speech_s,
        min_words=policy.barge_in_min_words,
        resume_after_s=policy.barge_in_resume_after_s,
    )
    rule = DuckRule(over_db=(tuning or Tuning()).duck_over_db)
    return Overlap(decider, gate=gate, clean_gate=clean_gate, rule=rule)


def overheard_of(
    policy: Policy, *, gate: Detector, clean_gate: Detector, tuning: Tuning | None = None
) -> Overheard | None:
    """What tells of voices over an agent that may not be interrupted, if it may not; the gates are nobody else's."""
    if policy.turn_policy != "open" or policy.allow_barge_in:
        return None
    rule = DuckRule(over_db=(tuning or Tuning()).duck_over_db)
    return Overheard(gate=gate, clean_gate=clean_gate, rule=rule)


def _lexicon(policy: Policy, language: str | None) -> Lexicon:
    return Lexicon(language, backchannels=policy.barge_in_backchannels, stop_words=policy.barge_in_stop_words)


def hearing_of(
    rate: int,
    *,
    gate: Detector,
    judge: Detector,
    echo: EchoPath,
    policy: Policy,
    overlap: Overlap | None = None,
    overheard: Overheard | None = None,
    tuning: Tuning | None = None,
    interim: bool = False,
    wake: tuple[Detector, Detector] | None = None,
    language: str | None = None,
    pauses: PauseModel | None = None,
    muted_s: float = MUTED_S,
) -> Hearing:
    """What listens to a microphone of `rate` hertz; `echo` is one for the whole session: it knows the room.

    `interim`: whether it asks for the words of a turn that goes on. `wake`: with a wake word, the detector of it for
    the microphone and the one for what the agent says; ValueError without. `language`: of the texts that say whether a
    turn is over. `pauses`: what was learned of the speaker, one for the whole session too; None = nothing is.
    `muted_s`: how long exact zeros are no fault.
    """
    tuning = tuning or Tuning()
    hysteresis = Hysteresis(on=tuning.vad_threshold, off=tuning.vad_release)
    tracker = ActivityTracker(gate=gate, judge=judge, hysteresis=hysteresis)
    onset = OnsetRule(min_speech_s=policy.barge_in_min_speech_s)
    pace = InterimPace(tuning.interim_every_s) if interim and tuning.interim_every_s else None
    segmenter = TurnSegmenter(tracker, _endpointer_of(policy, tuning, pauses), quiet_preroll_s=QUIET_PREROLL_S)
    return Hearing(
        rate,
        segmenter=segmenter,
        echo=echo,
        onset=onset,
        overlap=overlap,
        overheard=overheard,
        interim=pace,
        attention=_attention_of(policy, segmenter, tuning, wake),
        finishing=Finishing(segmenter, language=language, pauses=pauses),
        muted_s=muted_s,
    )


def pauses_of(tuning: Tuning, pauses_s: Iterable[float] = ()) -> PauseModel:
    """What is known of a speaker's pauses: those remembered, within the bounds of the tuning."""
    usual_s, longest_s = tuning.endpoint_silence_s, max(tuning.endpoint_silence_s, tuning.endpoint_longest_s)
    return PauseModel(pauses_s, bounds=PauseBounds(usual_s, min(usual_s, FLOOR_S), longest_s))


def _endpointer_of(policy: Policy, tuning: Tuning, pauses: PauseModel | None) -> Endpointer:
    if policy.turn_policy == "push_to_talk":
        return HeldEndpointer(early_s=tuning.endpoint_early_s, max_turn_s=tuning.endpoint_max_turn_s)
    longest_s = max(tuning.endpoint_sure_s, tuning.endpoint_longest_s)
    return PolicyEndpointer(
        silence_s=tuning.endpoint_silence_s,
        early_s=tuning.endpoint_early_s,
        max_turn_s=tuning.endpoint_max_turn_s,
        patient=tuning.endpoint_patient,
        pauses=pauses,
        patience=Patience(sure_s=tuning.endpoint_sure_s, longest_s=longest_s),
    )


def _attention_of(
    policy: Policy, segmenter: TurnSegmenter, tuning: Tuning, wake: tuple[Detector, Detector] | None
) -> Attention | None:
    if policy.turn_policy == "push_to_talk":
        return PushToTalk(segmenter, max_turn_s=tuning.endpoint_max_turn_s)
    if policy.turn_policy == "open":
        return None
    if wake is None:
        raise ValueError("a wake word needs its detectors")
    file = wake_word_file(policy.wake_word)
    word = policy.wake_word if file is None else file.stem
    threshold, follow_up_s = tuning.wake_threshold, policy.follow_up_s
    return WakeWord(segmenter, *wake, word=word, threshold=threshold, follow_up_s=follow_up_s)


def session_on(
    engine: AudioEngine,
    *,
    recogniser: Recogniser,
    responder: Responder,
    synthesiser: Synthesiser,
    policy: Policy,
    language: str,
    thread: Thread | None = None,
    is_read: Callable[[], bool] = lambda: False,
    muted_fix: Callable[[], str] = muted_fix,
) -> Session:
    """A session that hears and speaks through an entered engine. `is_read`: as `SpeakerVoice` takes it.

    `muted_fix`: what helps where the microphone gives nothing but zeros.
    """
    engine.playback.set_ramp(policy.barge_in_ramp_s)
    voice = SpeakerVoice(
        synthesiser,
        engine.playback,
        engine.marks,
        close=engine.close_loudspeaker,
        language=language,
        is_read=is_read,
        cut=engine.cut,
    )
    engine.on_loudspeaker_lost(voice.fail)
    only_stops = _lexicon(policy, language).only_stops
    listener = _HEARS[policy.turn_policy](
        recogniser, engine, spoken=voice.spoken.between, only_stops=only_stops, muted_fix=muted_fix
    )
    apologies = apologies_of(recogniser, language)
    return Session(listener, responder, voice, policy, thread=thread, apologies=apologies)
