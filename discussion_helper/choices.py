"""What the settings choose: models of the manifest, files and endpoints, checked before anything is loaded."""

import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from discussion_helper.errors import ModelError, ModelMissing, SettingError
from discussion_helper.models import Model, Store, load_manifest, missing
from discussion_helper.policy import Policy, wake_word_file
from discussion_helper.regular_file import regular_bytes
from discussion_helper.responder.base import EmbeddedChoice, EndpointChoice, parse_llm
from discussion_helper.settings import AUTO, Settings
from discussion_helper.stt.languages import LANGUAGES

__all__ = [
    "LLM_MODEL",
    "SECOND_MODEL",
    "Choices",
    "check_tools",
    "choose",
    "choose_llm",
    "describe_llm",
    "llm_of",
    "model_named",
    "model_names",
    "recogniser_of",
    "second_of",
    "smaller_of",
    "voice_of",
    "wake_word_of",
]

LLM_MODEL = "SmolLM2-135M"
"""What answers when nothing else was asked for."""
SECOND_MODEL = "base"
"""What the recogniser asks for a second opinion where it is here."""
_KINDS = {
    "stt": ("stt", "recogniser", ""),
    "voice": ("tts", "voice", ", or a Piper voice's FILE.onnx"),
    "wake_word": ("wake", "wake word", ", or a FILE.onnx or FILE.tflite"),
}
_OTHER_MODELS = (".bin", ".onnx", ".pt", ".pth", ".safetensors")
_GGUF_FIX = "Name a model file in the GGUF format: FILE.gguf."
_WAKE_FIX = "Name a network that was trained for openWakeWord: FILE.onnx or FILE.tflite."
_TOOLS_FIX = (
    "Leave --tools out, or name what can call them with --llm: MODEL@URL, or the FILE.gguf of a model whose chat "
    "template knows tools, as Qwen2.5-Instruct."
)
_ONNX_FIX = "Name a Piper voice, FILE.onnx, with its FILE.onnx.json beside it."


@dataclass(frozen=True, slots=True)
class Choices:
    """All that is needed is on this machine. The recogniser's model is a folder, a voice too, or an .onnx file."""

    recogniser: Path
    voice: Path
    llm: Path | EndpointChoice | None
    """None where somebody else answers."""
    second: Path | None = None
    """The recogniser that is asked where the first is unsure; None = nobody is."""
    smaller: Path | None = None
    """The recogniser that takes the place of the first on a machine that is late; None = there is none."""


def choose(settings: Settings, *, answers: bool = True) -> Choices:
    """Blocks while files are hashed that were not before. `answers`: whether a language model is to answer.

    Raises SettingError naming the field, ModelMissing naming all models that must be pulled, and ModelCorrupt.
    """
    stt, voice = recogniser_of(settings), voice_of(settings)
    store, names = Store(), model_names(settings, answers=answers)
    if answers:
        check_tools(settings)
    _check_models(store, names)
    folder = {name: store.path_of(load_manifest().model(name)) for name in names if name != LLM_MODEL}
    llm = choose_llm(settings) if answers else None
    return Choices(
        folder[stt.name],
        voice if isinstance(voice, Path) else folder[voice.name],
        llm,
        second_of(settings, store, beside=isinstance(llm, Path)),
        smaller_of(settings, store),
    )


def second_of(settings: Settings, store: Store, *, beside: bool) -> Path | None:
    """The larger recogniser for a second opinion, if it is whole in the store and is not the first one.

    `beside`: a language model is in the same process. Then there is none: it takes 210 MB, and a talk is to stay below
    900 (at most, in a talk of three recordings: 740 to 766 MB with the default models and 921 with base beside them,
    723 with base and an endpoint). Raises ModelCorrupt.
    """
    model = load_manifest().model(SECOND_MODEL)
    if beside or settings.stt == model.name:
        return None
    try:
        return store.path_of(model)
    except ModelMissing:
        return None


def smaller_of(settings: Settings, store: Store) -> Path | None:
    """The largest of the recognisers that are smaller than the chosen one, know the language and are in the store.

    As tiny.en for base. None for a language that is to be found out: a session that has found it keeps it in its
    recogniser.
    """
    full, language = recogniser_of(settings), settings.language.lower()
    stt = (model for model in load_manifest() if model.kind == "stt" and model.size < full.size)
    fitting = [model for model in stt if language != AUTO and (language == "en" or not model.name.endswith(".en"))]
    for model in sorted(fitting, key=lambda model: -model.size):
        with suppress(ModelError):
            return store.path_of(model)
    return None


def choose_llm(settings: Settings) -> Path | EndpointChoice:
    """What answers, without ears and a voice. Blocks and raises as `choose`."""
    llm = llm_of(settings)
    if llm is not None:
        return llm
    store = Store()
    _check_models(store, [LLM_MODEL])
    return _only_file(store.path_of(load_manifest().model(LLM_MODEL)))


def describe_llm(choice: Path | EndpointChoice, settings: Settings) -> str:
    """What answers, in words."""
    if isinstance(choice, Path):
        return f"{LLM_MODEL if settings.llm.strip() == 'embedded' else choice.name} in this process"
    return f"{choice.model} at {choice.base_url}"


def model_names(settings: Settings, *, answers: bool = True) -> list[str]:
    """The models of the manifest that these settings need. Raises SettingError."""
    stt, voice = recogniser_of(settings), voice_of(settings)
    return [
        stt.name,
        *([voice.name] if isinstance(voice, Model) else []),
        *([LLM_MODEL] if answers and llm_of(settings) is None else []),
        *([] if (word := wake_word_of(settings)) is None else [word.name]),
    ]


def recogniser_of(settings: Settings) -> Model:
    """The recogniser. Raises SettingError."""
    model = _model("stt", settings.stt)
    if settings.language != AUTO and settings.language.lower() not in LANGUAGES:
        fix = "Use a code of ISO 639-1, such as en, de, es, fr or ja."
        raise SettingError(f"language: no recogniser here knows {settings.language!r}.", fix=fix)
    if model.name.endswith(".en") and settings.language != "en":
        fix = "Fetch the multilingual one with `discussion-helper models pull base`, and add --stt base."
        found = "and cannot find out the language" if settings.language == AUTO else f"not {settings.language}"
        raise SettingError(f"language: {model.name} knows English only, {found}.", fix=fix)
    return model


def wake_word_of(settings: Settings) -> Model | None:
    """The model of the wake word, where one is needed to be heard: with a file, that of the usual word, which has the
    networks that work for every word. Raises SettingError naming those that there are.
    """
    policy = settings.policy
    if policy.turn_policy != "wake_word":
        return None
    file = wake_word_file(policy.wake_word)
    if file is None:
        return _model("wake_word", policy.wake_word)
    try:
        empty = not regular_bytes(file, 1)
    except OSError as error:
        what = f"wake_word: {file} cannot be read ({error.strerror})."
        raise SettingError(what, fix=_WAKE_FIX) from error
    if empty:
        raise SettingError(f"wake_word: {file} is empty.", fix=_WAKE_FIX)
    return _model("wake_word", Policy().wake_word)


def voice_of(settings: Settings) -> Model | Path:
    """The voice: one of the manifest, or a file. Raises SettingError."""
    if not settings.voice.lower().endswith(".onnx"):
        return _model("voice", settings.voice)
    from discussion_helper.tts.voice_files import find_voice

    path = Path(os.path.expanduser(settings.voice))  # unlike pathlib's it leaves an unknown user's folder as it is
    _check_file("voice", lambda: find_voice(path), fix=_ONNX_FIX)
    return path


def llm_of(settings: Settings) -> Path | EndpointChoice | None:
    """What answers; None is LLM_MODEL. Raises SettingError."""
    spec = settings.llm.strip()
    if spec != "embedded" and "://" not in spec and _is_other_file(spec):
        raise SettingError(f"llm: {spec} is not a model that can answer.", fix=_GGUF_FIX)
    choice = parse_llm(spec)
    if not isinstance(choice, EmbeddedChoice):
        return choice
    if choice.model_path is not None:
        from discussion_helper.responder.llama import check_model_file

        path = choice.model_path
        _check_file("llm", lambda: check_model_file(path), fix=_GGUF_FIX)
    return choice.model_path


def check_tools(settings: Settings) -> None:
    """Import the tools, if there are any. Raises SettingError where they, or what is to call them, cannot be used.

    A file is refused here whose chat template has no word of tools. What else a template knows llama.cpp finds out when
    it loads the model.
    """
    from discussion_helper.tools.loading import load_tools

    if not load_tools(settings.tools):
        return
    llm = llm_of(settings)
    if llm is None:
        raise SettingError(f"tools: {LLM_MODEL}, which answers unless another is named, calls none.", fix=_TOOLS_FIX)
    if isinstance(llm, Path) and not _may_know_tools(llm):
        raise SettingError(f"tools: the chat template of {llm.name} knows none.", fix=_TOOLS_FIX)


def _may_know_tools(file: Path) -> bool:
    from discussion_helper.responder.gguf import chat_templates_in

    templates = chat_templates_in(file)
    return templates is None or any("tools" in text for text in templates)


def _is_other_file(spec: str) -> bool:
    name = spec.lower()
    exists = not name.endswith(".gguf") and os.path.exists(os.path.expanduser(spec))
    return exists or name.endswith(_OTHER_MODELS)


def model_named(field: str, name: str) -> Model:
    """A model for "stt", "voice" or "wake_word" where no file may be named instead. Raises SettingError naming them."""
    return _model(field, name, files=False)


def _model(field: str, name: str, *, files: bool = True) -> Model:
    """A model of the manifest that fits the field. Raises SettingError naming those that do."""
    kind, noun, other = _KINDS[field]
    manifest = load_manifest()
    fitting = [model.name for model in manifest if model.kind == kind]
    if name not in fitting:
        raise SettingError(
            f"{field}: there is no {noun} {name!r}.", fix=f"Use {' or '.join(fitting)}{other if files else ''}."
        )
    return manifest.model(name)


def _check_file(field: str, look: Callable[[], object], *, fix: str) -> None:
    try:
        look()
    except ModelError as error:  # its fix is for a model of the manifest
        raise SettingError(f"{field}: {error.what}", fix=fix) from error
    except OSError as error:  # a name too long, for example
        raise SettingError(f"{field}: {error.filename} cannot be read ({error.strerror}).", fix=fix) from error


def _check_models(store: Store, names: list[str]) -> None:
    wanted = [model.name for model in missing(store, names)]
    if wanted:
        verb = "are" if len(wanted) > 1 else "is"
        raise ModelMissing(
            f"{_list(wanted)} {verb} not on this machine (looked in {store.path}).",
            fix=f"Run: discussion-helper models pull {' '.join(wanted)}",
        )


def _list(names: list[str]) -> str:
    *most, last = names
    return f"The models {', '.join(most)} and {last}" if most else f"The model {last}"


def _only_file(folder: Path) -> Path:
    files = sorted(folder.glob("*.gguf"))
    if len(files) != 1:
        raise SettingError(f"llm: {folder} holds {len(files)} GGUF files.", fix="Name the file: --llm FILE.gguf.")
    return files[0]
