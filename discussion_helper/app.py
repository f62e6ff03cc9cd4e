"""The composition root: from settings to a session on real parts."""

import logging
import math
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import anyio

from discussion_helper.audio.devices import Kind, find_device
from discussion_helper.audio.echo import EchoPath
from discussion_helper.audio.file_devices import FileCapture
from discussion_helper.choices import LLM_MODEL, Choices, choose, describe_llm, model_names
from discussion_helper.errors import DeviceError, ModelMissing, SettingError
from discussion_helper.governor import Budgets
from discussion_helper.listening import hearing_with
from discussion_helper.models import Store, load_manifest
from discussion_helper.parts import Responder, Thread, check_parts
from discussion_helper.recorder.recorder import Recorder, RecordTo
from discussion_helper.recorder.talk_recording import TalkRecording, recording_to
from discussion_helper.recorder.tapped_echo import TappedEcho
from discussion_helper.recorder.trials import settings_for
from discussion_helper.responder.base import EndpointChoice, api_key_for
from discussion_helper.responder.phrases import let_me_see, one_moment
from discussion_helper.responder.prompt import system_prompt
from discussion_helper.session import Session
from discussion_helper.settings import AUTO, Settings
from discussion_helper.stt.base import Recogniser
from discussion_helper.stt.second_opinion import SecondOpinion
from discussion_helper.stt.two_sizes import TwoSizes
from discussion_helper.tts.base import Synthesiser
from discussion_helper.turn.pauses import PauseModel
from discussion_helper.voice.assembly import pauses_of, session_on
from discussion_helper.voice.devices import RATE, Devices, file_devices, sound_devices
from discussion_helper.voice.echo_path import EchoPath as AnyEchoPath
from discussion_helper.voice.engine import AudioEngine
from discussion_helper.voice.governing import Switch, governed
from discussion_helper.voice.health import Health
from discussion_helper.voice.heard_out import heard_out
from discussion_helper.voice.hearing import MUTED_S, Hearing
from discussion_helper.voice.microphone import MicrophoneListener
from discussion_helper.voice.pause_file import PauseFile
from discussion_helper.voice.scoring import Scorer, ScoringThread
from discussion_helper.voice.session_language import language_of

__all__ = ["LLM_MODEL", "Talk", "model_names", "open_talk", "responder_for"]


_log = logging.getLogger(__name__)


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
    recording: TalkRecording | None = None
    """Where all of it is recorded, if anywhere."""
    thread: Thread | None = None
    """Where its turns are kept, if anywhere."""
    heard_out: Callable[[], Awaitable[None]] | None = None
    """Returns once no turn can come any more of what the microphone has delivered so far; None = that is not known."""


@asynccontextmanager
async def open_talk(
    settings: Settings,
    *,
    responder: Responder | None = None,
    thread: Thread | None = None,
    record: RecordTo | None = None,
    devices: Devices | None = None,
) -> AsyncIterator[Talk]:
    """Check every file, model and device, and give a session that is ready to start.

    `responder`: yours answers, and no language model is needed; the session closes it. `thread`: where turns are
    stored. `record`: where everything heard, said and decided is recorded. `devices`: others than those of the
    settings. Models are loaded by the session's warm-up, beside listening. Leaving stops the session and releases
    everything, so wait for its end inside: `await talk.session.wait()`.

    Raises DiscussionError: SettingError names the field, ModelMissing all models that must be pulled.
    """
    if responder is not None:
        check_parts(responder=responder)
    choices = await anyio.to_thread.run_sync(partial(choose, settings, answers=responder is None))
    recogniser, synthesiser = await anyio.to_thread.run_sync(_ears_and_voice, choices, settings)
    if devices is None:
        devices = await anyio.to_thread.run_sync(_devices, settings)
    await anyio.to_thread.run_sync(_try_hearing, settings)
    scorer = await anyio.to_thread.run_sync(_scorer)
    pauses = await anyio.to_thread.run_sync(_pauses, settings)
    models = {"stt": settings.stt, "voice": settings.voice, "llm": _answers(responder, choices, settings)}
    header = settings_for(settings.policy, settings.language, settings.tuning, pauses=pauses, **models)
    async with (
        _kept(pauses, settings),
        recording_to(record, header) as recording,
        _engine(devices, settings, None if recording is None else recording.recorder, scorer, pauses) as engine,
    ):
        spoken = language_of(recogniser, settings.spoken_language or "")
        answering, answers = await anyio.to_thread.run_sync(_answering, responder, choices.llm, settings, spoken)
        session = session_on(
            engine,
            recogniser=recogniser,
            responder=answering,
            synthesiser=synthesiser,
            policy=settings.policy,
            language=settings.language,
            thread=thread,
            is_read=devices.is_read,
            muted_fix=devices.muted_fix,
        )
        session.health = engine.health
        try:
            if recording is not None:
                recording.follow(session)
            heard, played, files = devices.microphone, devices.loudspeaker, devices.files
            async with governed(session, engine.lag, **_switches(recogniser), budgets=_budgets(choices)):
                out = _heard_out(session, devices)
                yield Talk(session, heard, played, answers, files, engine.health, recording, thread, out)
        finally:
            with anyio.CancelScope(shield=True):
                await session.stop()


def _heard_out(session: Session, devices: Devices) -> Callable[[], Awaitable[None]] | None:
    listener = session.discussion.listener
    return partial(heard_out, devices.inbox, listener.rested) if isinstance(listener, MicrophoneListener) else None


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


def _engine(
    devices: Devices,
    settings: Settings,
    recorder: Recorder | None,
    scorer: Scorer | None,
    pauses: PauseModel | None,
) -> AudioEngine:
    path = EchoPath()  # one for the whole session: it knows the room
    echo = path if recorder is None else TappedEcho(path, recorder.echo)
    return AudioEngine(
        inbox=devices.inbox,
        open_capture=devices.open_capture,
        open_playback=devices.open_playback,
        follow=devices.follow,
        driver=devices.drive,
        hearing=lambda rate: _hearing(rate, echo, settings, pauses, devices.muted_s),
        tap=None if recorder is None else recorder.item,
        note_tap=None if recorder is None else recorder.note,
        scorer=scorer,
    )


def _scorer() -> Scorer | None:
    """What judges how complete turns sound; None without its model, which is not needed. Raises ModelCorrupt."""
    from discussion_helper.turn.smart_turn import SMART_TURN_MODEL, SmartTurn

    try:
        folder = Store().path_of(load_manifest().model(SMART_TURN_MODEL))
    except ModelMissing:
        return None
    return ScoringThread(SmartTurn(folder))


def _pauses(settings: Settings) -> PauseModel | None:
    """What is known of the speaker's pauses; of recordings that speak instead nothing was kept. Raises SettingError."""
    if not settings.learn_pauses:
        return None
    file = None if settings.inputs or settings.pause_file is None else PauseFile(settings.pause_file)
    return pauses_of(settings.tuning, () if file is None else file.read())


@asynccontextmanager
async def _kept(pauses: PauseModel | None, settings: Settings) -> AsyncIterator[None]:
    """On leaving, keep what was learned."""
    before = () if pauses is None else pauses.pauses_s
    try:
        yield
    finally:
        if pauses is not None and settings.pause_file is not None and not settings.inputs:
            with anyio.CancelScope(shield=True):
                if pauses.pauses_s != before:
                    await anyio.to_thread.run_sync(_keep, PauseFile(settings.pause_file), pauses.pauses_s)


def _keep(file: PauseFile, pauses_s: tuple[float, ...]) -> None:
    try:
        file.write(pauses_s)
    except SettingError as error:  # the talk is over, and was fine
        _log.warning("%s %s", error.what, error.fix)


def _try_hearing(settings: Settings) -> None:
    """Import and check what hears, which the event loop makes anew whenever the microphone is opened.

    Else it imports onnxruntime there, beside the models that are being loaded: on two busy cores the loop stood still
    for 1.1 s, and the microphone was open 1.5 to 2.5 s after the session's start; now 0.04 to 0.2 s after it (three
    starts each, in turn). Raises ModelMissing and ModelCorrupt.
    """
    _hearing(RATE, EchoPath(), settings)


def _hearing(
    rate: int, echo: AnyEchoPath, settings: Settings, pauses: PauseModel | None = None, muted_s: float = MUTED_S
) -> Hearing:
    about: dict[str, Any] = {"policy": settings.policy, "language": settings.language, "tuning": settings.tuning}
    return hearing_with(rate, echo, **about, interim=True, pauses=pauses, muted_s=muted_s)


def _ears_and_voice(choices: Choices, settings: Settings) -> tuple[Recogniser, Synthesiser]:
    """Make them; their models are loaded by their warm-up."""
    from discussion_helper.stt.whisper import WhisperRecogniser
    from discussion_helper.tts.piper import PiperSynthesiser

    recogniser: Recogniser = WhisperRecogniser(choices.recogniser, language=settings.language, hints=settings.hints)
    if choices.second is not None:
        recogniser = SecondOpinion(recogniser, WhisperRecogniser(choices.second, language=settings.language))
    if choices.smaller is not None:
        recogniser = TwoSizes(recogniser, WhisperRecogniser(choices.smaller, language=settings.language))
    return recogniser, PiperSynthesiser(choices.voice, language=settings.spoken_language)


def _switches(recogniser: Recogniser) -> dict[str, Switch]:
    """What a late machine turns off of it, as `governed` takes it."""
    switches: dict[str, Switch] = {}
    if isinstance(recogniser, TwoSizes):
        switches["larger"] = recogniser.use_full
        recogniser = recogniser.full
    if isinstance(recogniser, SecondOpinion):
        switches["second"] = recogniser.use_second
    return switches


def _budgets(choices: Choices) -> Budgets:
    """A model that answers elsewhere says nothing about this machine."""
    return Budgets() if isinstance(choices.llm, Path) else Budgets(first_token=math.inf)


def _answers(own: Responder | None, choices: Choices, settings: Settings) -> str:
    """What answers, in words."""
    return type(own).__name__ if choices.llm is None else describe_llm(choices.llm, settings)


def _answering(
    own: Responder | None, choice: Path | EndpointChoice | None, settings: Settings, language: Callable[[], str]
) -> tuple[Responder, str]:
    """What answers, and its name."""
    if own is not None or choice is None:
        assert own is not None
        return own, type(own).__name__
    return responder_for(choice, settings, language), describe_llm(choice, settings)


def responder_for(
    choice: Path | EndpointChoice, settings: Settings, language: Callable[[], str] | None = None
) -> Responder:
    """What answers; its model is loaded by its warm-up.

    `language` gives that of the talk when something is to be said in it; None = that of the settings.
    """
    manners = _manners(settings, language or (lambda: settings.spoken_language or ""))
    prompt = system_prompt(settings.spoken_language or "", text=settings.system)
    if isinstance(choice, Path):
        from discussion_helper.responder.embedded import EmbeddedResponder

        return EmbeddedResponder(choice, system=prompt, **manners)
    from discussion_helper.responder.endpoint import EndpointResponder

    key = api_key_for(choice.base_url, os.environ)
    return EndpointResponder(base_url=choice.base_url, api_key=key, model=choice.model, system=prompt, **manners)


def _manners(settings: Settings, language: Callable[[], str]) -> dict[str, Any]:
    """What every responder is told."""
    from discussion_helper.tools.loading import load_tools

    follows = settings.filler.strip().lower() == AUTO
    return {
        "moment": lambda: one_moment(language()),
        "filler": (lambda: let_me_see(language())) if follows else settings.filler,
        "tools": load_tools(settings.tools),
    }
