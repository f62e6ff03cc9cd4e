"""Discovery: the language model servers that run on this machine already."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import anyio
import httpx

from discussion_helper.event_loop import start_in
from discussion_helper.responder.base import EndpointChoice

__all__ = ["USUAL_SERVERS", "LocalServer", "find_local_servers"]

USUAL_SERVERS = (
    ("Ollama", "http://127.0.0.1:11434/v1"),
    ("llama.cpp", "http://127.0.0.1:8080/v1"),
    ("LM Studio", "http://127.0.0.1:1234/v1"),
)
"""Name and address: each program's default port, as its documentation gives it."""

_MOST_BYTES = 256 * 1024
_MOST_MODELS = 100
_LONGEST_NAME = 200


@dataclass(frozen=True, slots=True)
class LocalServer:
    """A server that answered, and the models it lists (those for embeddings are left out)."""

    name: str
    base_url: str
    models: tuple[str, ...]

    @property
    def choices(self) -> tuple[EndpointChoice, ...]:
        """What `--llm` can be given; `str()` of one is its text."""
        return tuple(EndpointChoice(model, self.base_url) for model in self.models)


async def find_local_servers(
    servers: Sequence[tuple[str, str]] = USUAL_SERVERS, *, timeout_s: float = 0.3
) -> list[LocalServer]:
    """Ask all at once for their models, never through a proxy; those that give no good answer in time are left out.

    The order is that of `servers`. Takes `timeout_s` at most, and raises nothing for what a server does.
    """
    found: dict[str, LocalServer] = {}
    client = httpx.AsyncClient(trust_env=False, follow_redirects=False, timeout=timeout_s)
    async with client, anyio.create_task_group() as tasks:
        for name, base_url in servers:
            start_in(tasks, _probe, client, name, base_url, timeout_s, found)
    return [found[base_url] for _, base_url in servers if base_url in found]


async def _probe(
    client: httpx.AsyncClient, name: str, base_url: str, timeout_s: float, found: dict[str, LocalServer]
) -> None:
    with anyio.move_on_after(timeout_s):
        try:
            models = _models(await _get(client, f"{base_url}/models"))
        except (httpx.HTTPError, ValueError, RecursionError):  # nobody there, or it speaks of something else
            return
        if models:
            found[base_url] = LocalServer(name, base_url, models)


async def _get(client: httpx.AsyncClient, url: str) -> Any:
    """The JSON at `url`. Raises ValueError if it is long, or none."""
    body = bytearray()
    async with client.stream("GET", url) as response:
        response.raise_for_status()
        async for part in response.aiter_bytes():
            body += part
            if len(body) > _MOST_BYTES:
                raise ValueError("too long for a list of models")
    return json.loads(body)


def _models(answer: Any) -> tuple[str, ...]:
    """The usable names in an answer to GET /models. They go to a terminal, so control characters are refused."""
    entries = answer.get("data") if isinstance(answer, dict) else None
    names = [entry.get("id") for entry in entries if isinstance(entry, dict)] if isinstance(entries, list) else []
    usable = [name for name in names if isinstance(name, str) and name.isprintable() and 0 < len(name) < _LONGEST_NAME]
    return tuple(name for name in usable if "embed" not in name.lower())[:_MOST_MODELS]
