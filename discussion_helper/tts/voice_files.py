"""Voice files: where a Piper voice is on disk, and what its description says."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from discussion_helper.errors import ModelCorrupt, ModelMissing, SettingError
from discussion_helper.models import Store, load_manifest

__all__ = ["VoiceFiles", "find_voice"]

_ANOTHER = "Name a Piper voice, FILE.onnx, with its FILE.onnx.json beside it."


@dataclass(frozen=True, slots=True)
class VoiceFiles:
    """A voice on disk: the network's path, its parsed description, and what to do when they are no good."""

    model: Path
    description: Mapping[str, Any]
    fix: str

    @property
    def name(self) -> str:
        """The voice's name, "en_US-joe-medium"."""
        return self.model.name.removesuffix(".onnx")

    @property
    def rate(self) -> int:
        """Hertz of what it makes."""
        return int(self.description["audio"]["sample_rate"])

    @property
    def language(self) -> str:
        """What it speaks, "en-us"."""
        return str(self.description["espeak"]["voice"])

    @property
    def speakers(self) -> int:
        """How many voices are in it."""
        return int(self.description.get("num_speakers", 1))

    @property
    def scales(self) -> tuple[float, float, float]:
        """How much the voice varies, how long it takes, and how much the lengths vary; Piper's defaults if untold."""
        told = self.description.get("inference", {})
        return (
            float(told.get("noise_scale", 0.667)),
            float(told.get("length_scale", 1)),
            float(told.get("noise_w", 0.8)),
        )


def find_voice(path: Path) -> VoiceFiles:
    """The voice at `path`: an .onnx file with its .onnx.json beside it, or a folder that holds one.

    Raises ModelMissing when either is not there, ModelCorrupt when the description is none, SettingError when the
    folder holds several.
    """
    model = _model(path)
    fix = _fix(model.parent)
    description = model.with_name(f"{model.name}.json")
    for file in (model, description):
        if not file.is_file():
            raise ModelMissing(f"The voice {file} is not on this machine.", fix=fix)
    return _checked(VoiceFiles(model, _parse(description, fix), fix), description)


def _model(path: Path) -> Path:
    if path.suffix == ".onnx":
        return path
    found = sorted(path.glob("*.onnx"))
    if not found:
        raise ModelMissing(f"There is no Piper voice (.onnx) in {path}.", fix=_fix(path))
    if len(found) > 1:
        names = ", ".join(file.name for file in found)
        raise SettingError(f"{path} holds several voices ({names}).", fix="Name one of these files.")
    return found[0]


def _fix(folder: Path) -> str:
    """Only what the store keeps can be pulled."""
    store = Store()
    kept = next((model for model in load_manifest() if store.folder(model) == folder.absolute()), None)
    return f"Run: discussion-helper models pull {kept.name}" if kept else _ANOTHER


def _parse(description: Path, fix: str) -> Mapping[str, Any]:
    try:
        parsed = json.loads(description.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise ModelCorrupt(
            f"{description} cannot be read as a voice's description ({_line(error)}).", fix=fix
        ) from error
    if not isinstance(parsed, dict):
        raise ModelCorrupt(f"{description} is not a voice's description.", fix=fix)
    return parsed


def _checked(voice: VoiceFiles, description: Path) -> VoiceFiles:
    try:
        rate, language, _, _ = voice.rate, voice.language, voice.speakers, voice.scales
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise ModelCorrupt(
            f"{description} lacks a field or has a wrong one ({_line(error)}).", fix=voice.fix
        ) from error
    if not (8_000 <= rate <= 96_000 and language):
        raise ModelCorrupt(f"{description} names no usable sample rate and language.", fix=voice.fix)
    kind = voice.description.get("phoneme_type", "espeak")
    if kind not in {"espeak", "text"}:
        raise SettingError(
            f"The voice {voice.name} needs the phonemiser {kind}.", fix="Choose a voice that uses espeak."
        )
    return voice


def _line(error: Exception) -> str:
    return str(error).splitlines()[0] if str(error) else type(error).__name__
