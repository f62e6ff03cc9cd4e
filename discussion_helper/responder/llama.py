"""A language model in this process: llama.cpp, loaded from one file."""

import importlib
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from discussion_helper.audio.spinning import brief_spins
from discussion_helper.errors import ModelCorrupt, ModelMissing, ResponderError, SettingError
from discussion_helper.regular_file import regular_bytes
from discussion_helper.responder.chat_template import ChatTemplate, template_of

__all__ = ["BATCH", "Aside", "ContextFull", "Llama", "Piece", "Take", "check_model_file", "load_library"]

BATCH = 16
"""Tokens read between two looks at the stop flag: 64 ms at the 250 tokens a second that two cores read. llama.cpp's
own 2048 would go on for seconds. Between 16 and 128 the speed was the same, within the spread (measured)."""
_REUSE = 16
"""Shortest run of tokens that is moved within the cache instead of being read again when old turns were left out:
the first token after a cut then took 76 ms instead of 3.3 s, with 521 tokens kept (measured)."""

_STREAMED = {
    "stream": True,
    "stream_options": {"include_usage": True},
    "return_progress": True,
    "cache_prompt": True,
}
_FIX = "If `discussion-helper models pull` fetched it, run that again; else name another file."
_TEMPLATE_FIX = "See whether it loads with the model's own, None; then give a Jinja text that makes a prompt of a chat."


@dataclass(frozen=True, slots=True)
class Aside:
    """What a model gives beside text."""

    thought: str = ""
    calls: tuple[Mapping[str, Any], ...] = ()
    """Pieces of calls of tools, in the form in which OpenAI's interface streams them."""


Piece = str | Aside
"""A piece of text, or what stands beside it; "" says nothing."""
Take = Callable[[Any], bool]
"""Takes a Piece, which is text alone from a model that neither thinks nor is offered tools; True stops the model."""


class ContextFull(Exception):
    """The request has more tokens than the context holds."""

    def __init__(self, tokens: int) -> None:
        super().__init__(tokens)
        self.tokens = tokens


def check_model_file(path: Path) -> None:
    """Raises ModelMissing where there is no file, ModelCorrupt where it is not a GGUF file."""
    try:
        magic = regular_bytes(path, 4)
    except OSError as error:
        raise ModelMissing(f"The language model {path} cannot be read ({error.strerror}).", fix=_FIX) from error
    if magic != b"GGUF":
        raise ModelCorrupt(f"The language model {path} is not a GGUF file.", fix=_FIX)


def load_library() -> ModuleType:
    """Import llama.cpp, whose threads then take no core from each other."""
    with brief_spins():
        return importlib.import_module("xllamacpp")


class Llama:
    """Blocking: to be made, used and dropped off the event loop, by one thread at a time. Dropping it frees it.

    One slot, so the conversation so far stays in its cache and only what is new is read. llama.cpp also opens a
    port on the loopback for itself, which cannot be turned off: it is locked with a key that nobody knows, and its
    page and its view of the conversation are switched off.
    """

    def __init__(self, path: Path, *, threads: int, context: int, template: str | None = None) -> None:
        """Load `path`. `template`: a chat template instead of the model's own.

        Raises ModelMissing, ModelCorrupt, and SettingError where it does not load with such a template.
        """
        check_model_file(path)
        xllamacpp: Any = load_library()
        parameters = _parameters(xllamacpp, path, threads=threads, context=context)
        self._key = secrets.token_urlsafe(32)
        parameters.api_keys = [self._key]
        parameters.chat_template = template or ""
        try:
            self._server = xllamacpp.Server(parameters)
        except (RuntimeError, ValueError) as error:
            if template is not None:
                what = f"chat_template: llama.cpp cannot load {path} with it."
                raise SettingError(what, fix=_TEMPLATE_FIX) from error
            raise ModelCorrupt(f"llama.cpp cannot load the language model {path}.", fix=_FIX) from error
        self._template: ChatTemplate | None = None
        self.usage: tuple[int, int] | None = None
        """Tokens of the prompt and of the reply of the last completion; None if it was stopped."""
        # Its loop begins a moment later, and a server that is dropped before that never ends: see it at work first.
        self._server.handle_completions({"prompt": "a", "n_predict": 0}, lambda _: False)

    @property
    def template(self) -> ChatTemplate:
        """What its chat template can do. Raises ResponderError."""
        if self._template is None:
            self._template = template_of(self._server.listening_address, self._key)
        return self._template

    def chat(self, request: Mapping[str, Any], take: Take) -> str:
        """Stream one completion into `take`, which is also called with "" while the prompt is read; True stops.

        Returns why it ended: "stop", "length", "tool_calls", or "" when `take` stopped it. Raises ContextFull before
        the first piece, ResponderError, and what `take` raises.
        """
        stream = _Stream(take)
        body = {**request, **_STREAMED}
        try:
            self._server.handle_chat_completions(body, stream.on_event)
        except (RuntimeError, ValueError) as error:  # the model's chat template refused the messages
            raise ResponderError(f"The language model cannot take this conversation ({_line(error)}).") from error
        self.usage = stream.usage
        return stream.outcome()


class _Stream:
    """The callback of one completion. An exception in it would vanish in llama.cpp, so it is kept."""

    def __init__(self, take: Take) -> None:
        self._take = take
        self._finish = ""
        self._failure: BaseException | None = None
        self.usage: tuple[int, int] | None = None

    def on_event(self, event: Any) -> bool:
        try:
            return self._read(event)
        except BaseException as error:  # raised again by outcome()
            self._failure = error
            return True

    def _read(self, event: dict[str, Any]) -> bool:
        if "error" in event:
            raise _failure(event["error"])
        if not event["choices"]:
            usage = event.get("usage") or {}
            self.usage = usage.get("prompt_tokens", 0), usage.get("completion_tokens", 0)
            return False
        choice = event["choices"][0]
        self._finish = choice.get("finish_reason") or self._finish
        delta = choice["delta"]
        aside = Aside(delta.get("reasoning_content") or "", tuple(delta.get("tool_calls") or ()))
        stopped = self._take(delta.get("content") or "")
        return self._take(aside) or stopped if aside.thought or aside.calls else stopped

    def outcome(self) -> str:
        if self._failure is not None:
            raise self._failure
        return self._finish


def _failure(error: dict[str, Any]) -> Exception:
    if error.get("type") == "exceed_context_size_error":
        return ContextFull(int(error["n_prompt_tokens"]))
    return ResponderError(f"The language model failed ({_line(error.get('message'))}).")


def _line(problem: object) -> str:
    return " ".join(str(problem).split())[:200]


def _parameters(xllamacpp: Any, path: Path, *, threads: int, context: int) -> Any:
    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(path)
    parameters.n_ctx = context
    parameters.n_batch = parameters.n_ubatch = BATCH
    parameters.n_parallel = 1
    parameters.n_cache_reuse = _REUSE
    parameters.cache_ram_mib = 0  # else up to 8 GB of old conversations
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = threads
    parameters.fit_params = False  # else the vocabulary is loaded twice, and loading holds the interpreter's lock
    parameters.warmup = False  # reading the system prompt does it
    parameters.verbosity = -1  # prints nothing: stdout and stderr belong to the program
    parameters.cors_origins = ""
    parameters.endpoint_slots = False
    parameters.ui = False
    parameters.n_threads_http = 1
    return parameters
