"""The composition root: from settings to a session on real parts."""

import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import anyio

from discussion_helper.audio.devices import Kind, find_device
from discussion_helper.audio.echo import EchoPath
from discussion_helper.audio.file_devices import FileCapture
from discussion_helper.choices import LLM_MODEL, Choices, choose, model_names
from discussion_helper.errors import DeviceError, SettingError
from discussion_helper.parts import Responder
from discussion_helper.responder.base import EndpointChoice, api_key_for
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
from discussion_helper.voice.health import Health
from discussion_helper.voice.hearing import Hearing
from discussion_helper.voice.microphone import MicrophoneListener
from discussion_helper.voice.speaker import SpeakerVoice

__all__ = ["LLM_MODEL", "Talk", "model_names", "open_talk"]


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
    health: Callable[[], Health] = Health
    """How the audio was doing so far."""


@asynccontextmanager
async def open_talk(settings: Settings) -> AsyncIterator[Talk]:
    """Check every file, model and device, and give a session that is ready to start.

    Models are loaded by the session's warm-up, beside listening. Leaving stops the session and releases everything.
    Raises DiscussionError: SettingError names the field, ModelMissing all models that must be pulled.
    """
    choices = await anyio.to_thread.run_sync(choose, settings)
    recogniser, responder, synthesiser = await anyio.to_thread.run_sync(_parts, choices, settings)
    devices = await anyio.to_thread.run_sync(_devices, settings)
    async with _engine(devices, settings) as engine:
        session = _session(settings, engine, recogniser, responder, synthesiser)
        try:
            answers = _describe(choices.llm, settings)
            yield Talk(session, devices.microphone, devices.loudspeaker, answers, devices.files, engine.health)
        finally:
            with anyio.CancelScope(shield=True):
                await session.stop()


def _devices(settings: Settings) -> Devices:
    if settings.microphone and not settings.inputs:
        _check_device("microphone", settings.microphone, "input")
    if settings.loudspeaker and not settings.output:
        _check_device("loudspeaker", settings.loudspeaker, "output")
    if settings.inputs:
        return file_devices(settings.inputs, settings.output, settings.loudspeaker)
    return sound_devices(settings.microphone, settings.loudspeaker)


def _check_device(field: str, name: str, kind: Kind) -> None:
    try:
        find_device(name, kind)
    except DeviceError as error:
        raise SettingError(f"{field}: {error.what}", fix=error.fix) from error


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


def _parts(choices: Choices, settings: Settings) -> tuple[Recogniser, Responder, Synthesiser]:
    """Make the parts; their models are loaded by their warm-up."""
    from discussion_helper.stt.whisper import WhisperRecogniser
    from discussion_helper.tts.piper import PiperSynthesiser

    recogniser = WhisperRecogniser(choices.recogniser, language=settings.language)
    return recogniser, _responder(choices.llm, settings), PiperSynthesiser(choices.voice, language=settings.language)


def _responder(choice: Path | EndpointChoice, settings: Settings) -> Responder:
    prompt = system_prompt(settings.language, text=settings.system)
    if isinstance(choice, Path):
        from discussion_helper.responder.embedded import EmbeddedResponder

        return EmbeddedResponder(choice, system=prompt)
    from discussion_helper.responder.endpoint import EndpointResponder

    key = api_key_for(choice.base_url, os.environ)
    return EndpointResponder(base_url=choice.base_url, api_key=key, model=choice.model, system=prompt)


def _describe(choice: Path | EndpointChoice, settings: Settings) -> str:
    if isinstance(choice, Path):
        return f"{LLM_MODEL if settings.llm.strip() == 'embedded' else choice.name} in this process"
    return f"{choice.model} at {choice.base_url}"
