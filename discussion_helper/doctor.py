"""Whether each part can run on this machine, and the fix if not."""

import importlib
import os
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from discussion_helper.audio.spinning import READING_SPINS, brief_spins
from discussion_helper.choices import LLM_MODEL, llm_of, model_names, recogniser_of, voice_of
from discussion_helper.errors import DiscussionError, ModelError
from discussion_helper.models import Model, Store, load_manifest, missing
from discussion_helper.responder.base import EndpointChoice
from discussion_helper.responder.llama import load_library
from discussion_helper.settings import Settings
from discussion_helper.telemetry import no_telemetry

__all__ = ["REINSTALL", "REMOTE", "TEXT", "VOICE", "Finding", "examine", "verdict"]

REINSTALL = "Install the package again from the checkout or the wheel file: pip install --force-reinstall FILE."

VOICE = "voice"
REMOTE = "remote"
TEXT = "text"
"""What parts are needed for: talks, those at a client's devices, and conversations in writing."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One part: can it run here, what was found, and the fix if it cannot."""

    part: str
    ok: bool
    found: str
    fix: str = ""
    uses: tuple[str, ...] = (VOICE,)
    """What cannot be held without it."""


def examine(settings: Settings) -> list[Finding]:
    """Look at every part that a talk with these settings needs. Blocks for a second or two; opens no device."""
    return [
        _check("python", _python, VOICE, REMOTE, TEXT),
        _check("microphone", lambda: _device(settings.microphone, "input"), VOICE),
        _check("loudspeaker", lambda: _device(settings.loudspeaker, "output"), VOICE),
        _check("echo canceller", lambda: _module("pywebrtc_audio")),
        _check("voice activity", lambda: _module("webrtcvad")),
        _check("voice judge", lambda: _judge(settings)),
        _check("end of turns", _prosody),
        _check("recogniser", lambda: f"{_module('faster_whisper')}, {_model(recogniser_of(settings))}"),
        _check("language model", lambda: _llm(settings), VOICE, REMOTE, TEXT),
        _check("voice", lambda: f"{_module('piper')}, {_voice(settings)}"),
        _check("disk", lambda: _disk(settings)),
    ]


def verdict(findings: Sequence[Finding], settings: Settings) -> tuple[bool, str]:
    """Whether a talk can be held here, and a line that says how. Only devices that nobody named can be done without."""
    wrong = [finding.part for finding in findings if not finding.ok]
    named = {"microphone": settings.microphone, "loudspeaker": settings.loudspeaker}
    if not wrong:
        return True, "You can talk here: discussion-helper talk"
    if all(part in named and not named[part] for part in wrong):
        return True, f"You can talk with recordings: discussion-helper talk --input FILE (no {', no '.join(wrong)})"
    return False, f"You cannot talk here before this is put right: {', '.join(wrong)}."


def _check(part: str, look: Callable[[], str], *uses: str) -> Finding:
    """What was found; without `uses` all talks need it."""
    needed = uses or (VOICE, REMOTE)
    try:
        return Finding(part, True, look(), uses=needed)
    except DiscussionError as problem:
        return Finding(part, False, problem.what, problem.fix, needed)
    except (ImportError, OSError) as problem:
        return Finding(part, False, f"{type(problem).__name__}: {problem}", REINSTALL, needed)


def _python() -> str:
    return f"{sys.version.split()[0]} on {sys.platform}, {os.cpu_count()} cores"


def _device(name: str | None, kind: str) -> str:
    from discussion_helper.audio.devices import find_device

    device = find_device(name, "input" if kind == "input" else "output")
    return f"{device.label}, {device.rate} Hz"


def _module(name: str) -> str:
    no_telemetry()
    with brief_spins(READING_SPINS):  # as a talk loads it: the speed is measured with what is loaded here
        importlib.import_module(name)
    return name


def _judge(settings: Settings) -> str:
    from discussion_helper.listening import judge_for

    judge_for(settings.tuning)
    return "Silero"


def _prosody() -> str:
    """A talk does without its model, but not with a damaged one. Raises ModelCorrupt."""
    from discussion_helper.turn.smart_turn import SMART_TURN_MODEL, SmartTurn

    model = load_manifest().model(SMART_TURN_MODEL)
    if Store().state(model) in ("missing", "incomplete"):
        pull = f"discussion-helper models pull {model.name}"
        return f"told by silence, words and pauses; by the sound, too, with the model {model.name}: {pull}"
    SmartTurn(Store().path_of(model))
    return f"told by silence, words, pauses and sound, model {model.name}"


def _model(model: Model) -> str:
    Store().path_of(model)
    return f"model {model.name}"


def _voice(settings: Settings) -> str:
    voice = voice_of(settings)
    return str(voice) if isinstance(voice, Path) else _model(voice)


def _llm(settings: Settings) -> str:
    choice = llm_of(settings)
    if isinstance(choice, EndpointChoice):
        return _endpoint(choice.base_url, choice.model)
    found = _model(load_manifest().model(LLM_MODEL)) if choice is None else str(choice)
    return f"{load_library().__name__}, {found}"  # loaded as a talk does: whoever is first decides for all


def _endpoint(base_url: str, model: str) -> str:
    import anyio

    from discussion_helper.responder.base import api_key_for
    from discussion_helper.responder.endpoint import EndpointResponder

    async def ask() -> None:
        responder = EndpointResponder(base_url=base_url, api_key=api_key_for(base_url, os.environ), model=model)
        try:
            await responder.warmup()
        finally:
            await responder.aclose()

    anyio.run(ask)
    return f"{model} answers at {base_url}"


def _disk(settings: Settings) -> str:
    import shutil

    folder = Store().path
    existing = next(parent for parent in [folder, *folder.parents] if os.path.lexists(parent))
    try:
        with tempfile.TemporaryFile(dir=existing):  # the rights alone do not say it: a disk may be read-only, or full
            pass
    except OSError as error:
        if _all_there(settings):
            return f"{folder} cannot be written, and need not be: the models are there"
        fix = "Set DISCUSSION_HELPER_MODELS to a folder that can be written."
        raise ModelError(f"{folder} cannot be written ({error.strerror}).", fix=fix) from error
    return f"{shutil.disk_usage(existing).free / 1e9:.1f} GB free for models in {folder}"


def _all_there(settings: Settings) -> bool:
    try:
        return not missing(Store(), model_names(settings))
    except DiscussionError:
        return False
