"""What responders share: the messages of a request, the clauses of a reply, and the meaning of `--llm`."""

import ipaddress
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult, urlsplit, urlunsplit

from discussion_helper.clock import now
from discussion_helper.errors import SettingError
from discussion_helper.responder.clauses import ClauseSplitter
from discussion_helper.types import Message

__all__ = [
    "PAUSE_S",
    "ChatMessage",
    "Clauses",
    "EmbeddedChoice",
    "EndpointChoice",
    "api_key_for",
    "checked_base_url",
    "is_loopback",
    "parse_llm",
    "with_system",
]

ChatMessage = Mapping[str, Any]
"""One message of a request: `role` ("system" and "tool" too), `content`, and `tool_calls` or `tool_call_id`."""

_SPEC = re.compile(r"(?P<model>.*)@(?P<url>https?://.*)", re.IGNORECASE | re.DOTALL)
_SYNTAX = "Write `embedded`, a FILE.gguf, or MODEL@URL, for example llama3.2@http://127.0.0.1:11434/v1."


@dataclass(frozen=True, slots=True)
class EmbeddedChoice:
    """A model in this process: the file, or None for the default model."""

    model_path: Path | None = None

    def __str__(self) -> str:
        return "embedded" if self.model_path is None else str(self.model_path)


@dataclass(frozen=True, slots=True)
class EndpointChoice:
    """A model behind an OpenAI-compatible endpoint. `str()` is what `--llm` takes."""

    model: str
    base_url: str

    def __str__(self) -> str:
        return f"{self.model}@{self.base_url}"


def parse_llm(spec: str) -> EmbeddedChoice | EndpointChoice:
    """What `--llm` names: `embedded` (also ""), a file ending in `.gguf`, or `MODEL@URL`.

    A URL without a path means its `/v1`. The text never holds a key: that comes from the environment
    (`api_key_for`). Raises SettingError, which does not repeat the text, since a key may be in it by mistake.
    """
    spec = spec.strip()
    if spec in ("", "embedded"):
        return EmbeddedChoice()
    endpoint = _SPEC.fullmatch(spec)
    if endpoint and endpoint["model"].strip():
        return EndpointChoice(endpoint["model"].strip(), checked_base_url(endpoint["url"], field="llm"))
    if endpoint or spec.lower().startswith(("http://", "https://")):
        raise SettingError("llm names an address but no model.", fix=_SYNTAX)
    if spec.lower().endswith(".gguf"):
        return EmbeddedChoice(Path(spec).expanduser())
    raise SettingError("llm names neither a model file nor an endpoint.", fix=_SYNTAX)


def checked_base_url(url: str, *, field: str = "base_url") -> str:
    """`url` as the client needs it: http or https, a host, `/v1` where there is no path, no slash at the end.

    Raises SettingError that names `field`; what stands in the URL is not repeated, since a password may be in it.
    """
    fix = "Give http:// or https://, a host, and the path before /chat/completions: http://127.0.0.1:11434/v1."
    try:
        parts = urlsplit(url.strip())
        port = parts.port
    except ValueError:
        raise SettingError(f"{field} is not a valid URL.", fix=fix) from None
    if problem := _problem(url.strip(), parts, port):
        raise SettingError(f"{field} {problem}.", fix=fix)
    path = parts.path.rstrip("/").removesuffix("/chat/completions") or "/v1"
    return urlunsplit((parts.scheme.lower(), parts.netloc, path, "", ""))


def _problem(url: str, parts: SplitResult, port: int | None) -> str:
    if parts.scheme.lower() not in ("http", "https"):
        return "is not an http or https URL"
    if not parts.hostname or port == 0 or not url.isprintable() or " " in url:
        return "is not a valid URL"
    if "@" in parts.netloc:
        return "holds a user name or password; the key belongs in the environment variable OPENAI_API_KEY"
    if parts.query or parts.fragment:
        return "holds a query or fragment"
    return ""


def is_loopback(base_url: str) -> bool:
    """Whether the host is this machine, going by the address alone."""
    host = urlsplit(base_url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def api_key_for(base_url: str, environ: Mapping[str, str]) -> str | None:
    """The key to show at `base_url`: OPENAI_API_KEY, but never in clear text to another machine."""
    key = environ.get("OPENAI_API_KEY", "").strip()
    return key if key and (base_url.startswith("https://") or is_loopback(base_url)) else None


def with_system(system: str, messages: Sequence[Message]) -> list[ChatMessage]:
    """The whole request: `system` ("" = none), then the turns; turns of one speaker in a row become one message,

    because many models' templates accept only turns that alternate. Raises ValueError for a turn that is none.
    """
    request: list[ChatMessage] = [{"role": "system", "content": system}] if system else []
    for message in messages:
        role, content = message.get("role"), message.get("content")
        if role not in ("user", "assistant") or not isinstance(content, str):
            raise ValueError(f"a message needs a role, user or assistant, and a text; got the role {role!r}")
        if not content and message.get("calls"):
            continue
        content = content.encode("utf-8", "replace").decode()  # half an emoji cannot be sent, nor what comes after it
        if request and request[-1]["role"] == role:
            content = f"{request.pop()['content']}\n{content}"
        request.append({"role": role, "content": content})
    return request


PAUSE_S = 0.15
"""A stream that gives nothing for so long pauses: what is a sentence as it stands is spoken. With 0.1 s to synthesise
it and a loudspeaker's 0.02 s, a lone "Done." is heard within 0.3 s."""
_STEPS = 2
"""A pause is at least so many times as long as the pieces usually take to come: a slow model does not pause."""


class Clauses:
    """A model's speakable text as it streams in, clauses out; of no more than `max_chars` characters."""

    def __init__(self, *, max_chars: int) -> None:
        self._splitter = ClauseSplitter()
        self._room = max_chars
        self._fed_at: float | None = None
        self._step_s: float | None = None  # what the pieces usually take
        self.empty = True
        """No clause has come out yet."""

    @property
    def full(self) -> bool:
        """`max_chars` characters have been taken; what comes after is ignored."""
        return self._room <= 0

    def feed(self, text: str) -> list[str]:
        """Take the next piece; the clauses it completes."""
        self._note_step()
        taken = text[: max(self._room, 0)]
        self._room -= len(text)
        return self._given(self._splitter.feed(taken))

    @property
    def waiting(self) -> bool:
        """A clause may be complete: what comes next tells, or that nothing comes for `pause_s`."""
        return self._splitter.waiting

    @property
    def pause_s(self) -> float:
        """How long nothing must come."""
        return max(PAUSE_S, _STEPS * (self._step_s or 0.0))

    def paused(self) -> list[str]:
        """Nothing came for `pause_s`: the clause that may be spoken as it stands."""
        return self._given(self._splitter.paused())

    def flush(self) -> list[str]:
        """The text has ended: what is left of it."""
        return self._given(self._splitter.flush())

    def _note_step(self) -> None:
        at, before, usual = now(), self._fed_at, self._step_s
        if before is not None:
            self._step_s = at - before if usual is None else usual + (at - before - usual) / 4
        self._fed_at = at

    def _given(self, items: list[str]) -> list[str]:
        self.empty = self.empty and not items
        return items
