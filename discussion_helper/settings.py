"""The settings of a talk."""

from dataclasses import dataclass, field
from pathlib import Path
from types import UnionType

from discussion_helper.errors import SettingError
from discussion_helper.policy import Policy
from discussion_helper.shown import shown
from discussion_helper.tuning import Tuning

__all__ = ["AUTO", "Settings"]

AUTO = "auto"
"""Instead of a language."""


@dataclass(frozen=True, slots=True)
class Settings:
    """Frozen; made once from the command line or by a program, and passed to the composition root.

    Raises SettingError naming the field.
    """

    language: str = "en"
    """ISO 639-1 code of the conversation's language; "auto" = what the user speaks, which the recogniser finds out."""
    stt: str = "tiny.en"
    """Name of the recogniser's model in the manifest."""
    hints: tuple[str, ...] = ()
    """Names and words that are likely to be said, as they are to be spelt."""
    voice: str = "joe-medium"
    """Name of the voice's model in the manifest, or a Piper voice's FILE.onnx."""
    llm: str = "embedded"
    """What answers; its syntax is that of `responder.base.parse_llm`."""
    system: str = ""
    """What the language model is told beside how to speak."""
    tools: str = ""
    """MODULE:NAME of the tools that the language model may call; that module is imported. "" = none."""
    filler: str = ""
    """What is said when an answer takes longer than a second to begin; "auto" = "Let me see." in the conversation's
    language, "" = nothing."""
    microphone: str | None = None
    """Part of the microphone's name and host API; None = the default."""
    loudspeaker: str | None = None
    """Part of the loudspeaker's name and host API; None = the default."""
    inputs: tuple[Path, ...] = ()
    """Recordings that speak as the user, one turn a file, instead of a microphone."""
    output: Path | None = None
    """WAV file that is written instead of playing to a loudspeaker."""
    learn_pauses: bool = True
    """Whether a talk learns how long the user pauses in a turn, and waits accordingly."""
    pause_file: Path | None = None
    """Where that is kept between talks; None = nowhere."""
    policy: Policy = field(default_factory=Policy)
    tuning: Tuning = field(default_factory=Tuning)
    """Numbers of what hears; which of them is better a replay shows."""

    @property
    def spoken_language(self) -> str | None:
        """The language that is spoken to the user; None = the voice's, whatever it is."""
        return None if self.language == AUTO else self.language

    def __post_init__(self) -> None:
        for name in ("language", "stt", "voice", "llm", "system", "tools", "filler"):
            self._check_type(name, str, "text")
        for name in ("system", "filler"):
            if _holds_no_text(getattr(self, name)):
                raise SettingError(f"{name}: it is no text.", fix="Write it in UTF-8.")
        for name in ("microphone", "loudspeaker"):
            self._check_type(name, str | None, "text")
        self._check_type("output", Path | None, "a path")
        self._check_type("pause_file", Path | None, "a path")
        self._check_type("learn_pauses", bool, "true or false")
        self._check_type("policy", Policy, "a Policy")
        self._check_type("tuning", Tuning, "a Tuning")
        if not isinstance(self.inputs, tuple) or not all(isinstance(path, Path) for path in self.inputs):
            raise SettingError(f"inputs: {shown(self.inputs)} is not a tuple of paths.", fix="Use (Path(...), ...).")
        if not _is_language(self.language):
            what = f"language: {shown(self.language)} is not a language code."
            raise SettingError(what, fix="Use two letters, such as en or de, or auto.")
        if not isinstance(self.hints, tuple) or not all(isinstance(hint, str) for hint in self.hints):
            raise SettingError(f"hints: {shown(self.hints)} is not a tuple of texts.", fix='Use ("Aachen", "Piper").')
        for name in ("stt", "voice", "llm"):
            if not getattr(self, name).strip():
                raise SettingError(f"{name}: it is empty.", fix="Leave it out for the default.")
        if self.output is not None and not self.inputs:
            raise SettingError("output: it needs recordings as input.", fix="Name them with --input.")
        if self.output is not None and any(_same_file(self.output, path) for path in self.inputs):
            raise SettingError("output: it is one of the recordings, which would be lost.", fix="Name another file.")

    def _check_type(self, name: str, wanted: type | UnionType, words: str) -> None:
        value = getattr(self, name)
        if not isinstance(value, wanted):
            raise SettingError(f"{name}: {shown(value)} is not {words}.", fix=f"Use {words}.")


def _holds_no_text(value: str) -> bool:
    """It has half of a character, as the command line makes of bytes that are none; nobody could be sent it."""
    return any("\ud800" <= each <= "\udfff" for each in value)


def _is_language(text: str) -> bool:
    return text == AUTO or (text.isascii() and text.isalpha() and len(text) in (2, 3))


def _same_file(one: Path, other: Path) -> bool:
    """False also where one cannot be looked at: whoever opens it says why."""
    try:
        return one.samefile(other)
    except (OSError, ValueError):
        return False
