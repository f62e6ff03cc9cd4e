"""The composition root: from settings to a session on real parts."""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import anyio

from discussion_helper.audio.echo import EchoPath
from discussion_helper.audio.file_devices import FileCapture
from discussion_helper.errors import SettingError
from discussion_helper.models import Model, Store, load_manifest
from discussion_helper.parts import Responder
from discussion_helper.responder.base import EmbeddedChoice, api_key_for, parse_llm
from discussion_helper.responder.prompt import system_prompt
from discussion_helper.session import Session
from discussion_helper.settings import Settings
from discussion_helper.stt.base import Recogniser
from discussion_helper.tts.base import Synthesiser
from discussion_helper.turn.activity import ActivityTracker
from discussion_helper.turn.endpointing import SilenceEndpointer
from discussion_helper.turn.turns import TurnSegmenter
from discussion_helper.vad.silero import SileroDetector
from discussion_helper.vad.webrtc import WebRtcDetector
from discussion_helper.voice.barge_in import OnsetRule
from discussion_helper.voice.devices import Devices, file_devices, sound_devices
from discussion_helper.voice.engine import AudioEngine
from discussion_helper.voice.hearing import Hearing
from discussion_helper.voice.microphone import MicrophoneListener
from discussion_helper.voice.speaker import SpeakerVoice

__all__ = ["LLM_MODEL", "Talk", "model_names", "open_talk"]

LLM_MODEL = "SmolLM2-135M"
"""What answers when nothing else was asked for."""
_KINDS = {"stt": "recogniser", "tts": "voice"}


@dataclass(frozen=True, slots=True)
class Talk:
    """A session that is ready to start, and what stands around it."""

    session: Session
    microphone: str
    """Name of the device, or "files"."""
    loudspeaker: str
    """Name of the device, or of the file."""
    responder: str
    """What answers, in words."""
    files: FileCapture | None
    """The microphone when recordings speak as the user: `say(n)` speaks the n-th of `Settings.inputs`."""


def model_names(settings: Settings) -> list[str]:
    """The models of the manifest that these settings need."""
    choice = parse_llm(settings.llm)
    own = isinstance(choice, EmbeddedChoice) and choice.model_path is None
    return [settings.stt, settings.voice, *([LLM_MODEL] if own else [])]


@asynccontextmanager
async def open_talk(settings: Settings) -> AsyncIterator[Talk]:
    """Check every file, model and device, and give a session that is ready to start.

    Models are loaded by the session's warm-up, beside listening. Leaving stops the session and releases everything.
    Raises DiscussionError.
    """
    recogniser, responder, synthesiser = await anyio.to_thread.run_sync(_parts, settings)
    devices = await anyio.to_thread.run_sync(_devices, settings)
    async with _engine(devices, settings) as engine:
        session = _session(settings, engine, recogniser, responder, synthesiser)
        try:
            yield Talk(session, devices.microphone, devices.loudspeaker, _describe(settings), devices.files)
        finally:
            with anyio.CancelScope(shield=True):
                await session.stop()


def _devices(settings: Settings) -> Devices:
    if settings.inputs:
        return file_devices(settings.inputs, settings.output, settings.loudspeaker)
    return sound_devices(settings.microphone, settings.loudspeaker)


def _engine(devices: Devices, settings: Settings) -> AudioEngine:
    echo = EchoPath()  # one for the whole session: it knows the room
    return AudioEngine(
        inbox=devices.inbox,
        open_capture=devices.open_capture,
        open_playback=devices.open_playback,
        hearing=lambda rate: _hearing(rate, echo, settings),
    )


def _hearing(rate: int, echo: EchoPath, settings: Settings) -> Hearing:
    tracker = ActivityTracker(gate=WebRtcDetector(mode=2), judge=SileroDetector())
    onset = OnsetRule(min_speech_s=settings.policy.barge_in_min_speech_s)
    return Hearing(rate, segmenter=TurnSegmenter(tracker, SilenceEndpointer()), echo=echo, onset=onset)


def _session(
    settings: Settings, engine: AudioEngine, recogniser: Recogniser, responder: Responder, synthesiser: Synthesiser
) -> Session:
    voice = SpeakerVoice(
        synthesiser, engine.playback, engine.marks, close=engine.close_loudspeaker, language=settings.language
    )
    engine.on_loudspeaker_lost(voice.fail)
    listener = MicrophoneListener(recogniser, engine, spoken=lambda: list(voice.recent))
    return Session(listener, responder, voice, settings.policy)


def _parts(settings: Settings) -> tuple[Recogniser, Responder, Synthesiser]:
    """Check the files and make the parts; the models themselves are loaded by their warm-up."""
    store = Store()
    stt, voice = _model("stt", settings.stt), _model("voice", settings.voice)
    if settings.stt.endswith(".en") and settings.language != "en":
        fix = "Fetch the multilingual one with `discussion-helper models pull base`, and add --stt base."
        raise SettingError(f"language: {settings.stt} knows English only, not {settings.language}.", fix=fix)
    stt_path, voice_path = store.path_of(stt), store.path_of(voice)
    return _recogniser(stt_path, settings), _responder(settings, store), _synthesiser(voice_path, settings)


def _model(field: str, name: str) -> Model:
    """A model of the manifest that fits the field. Raises SettingError naming those that do."""
    manifest, kind = load_manifest(), {"stt": "stt", "voice": "tts"}[field]
    fitting = [model.name for model in manifest if model.kind == kind]
    if name not in fitting:
        raise SettingError(f"{field}: there is no {_KINDS[kind]} {name!r}.", fix=f"Use {' or '.join(fitting)}.")
    return manifest.model(name)


def _recogniser(path: Path, settings: Settings) -> Recogniser:
    from discussion_helper.stt.whisper import WhisperRecogniser

    return WhisperRecogniser(path, language=settings.language)


def _synthesiser(path: Path, settings: Settings) -> Synthesiser:
    from discussion_helper.tts.piper import PiperSynthesiser

    return PiperSynthesiser(path, language=settings.language)


def _responder(settings: Settings, store: Store) -> Responder:
    choice = parse_llm(settings.llm)
    prompt = system_prompt(settings.language, text=settings.system)
    if isinstance(choice, EmbeddedChoice):
        from discussion_helper.responder.embedded import EmbeddedResponder

        path = choice.model_path or _only_file(store.path_of(load_manifest().model(LLM_MODEL)))
        return EmbeddedResponder(path, system=prompt)
    from discussion_helper.responder.endpoint import EndpointResponder

    key = api_key_for(choice.base_url, os.environ)
    return EndpointResponder(base_url=choice.base_url, api_key=key, model=choice.model, system=prompt)


def _only_file(folder: Path) -> Path:
    files = sorted(folder.glob("*.gguf"))
    if len(files) != 1:
        raise SettingError(f"llm: {folder} holds {len(files)} GGUF files.", fix="Name the file: --llm FILE.gguf.")
    return files[0]


def _describe(settings: Settings) -> str:
    choice = parse_llm(settings.llm)
    if isinstance(choice, EmbeddedChoice):
        return f"{choice.model_path.name if choice.model_path else LLM_MODEL} in this process"
    return f"{choice.model} at {choice.base_url}"
