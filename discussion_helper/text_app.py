"""The composition root of text streams: from settings to a manager on a real store and a real model."""

import os
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import anyio

from discussion_helper.choices import choose_llm, describe_llm
from discussion_helper.errors import SettingError
from discussion_helper.responder.base import EndpointChoice, api_key_for
from discussion_helper.settings import Settings
from discussion_helper.text.manager import Manager
from discussion_helper.text.providers.base import Provider
from discussion_helper.text.step import Step
from discussion_helper.text.threads.base import Thread, ThreadStore, is_storable
from discussion_helper.text.threads.sqlite import SqliteThreads
from discussion_helper.text.tools import Tool, Tools
from discussion_helper.text.transforms import KEPT_SYSTEM, answered_only, system_prompt

__all__ = ["SYSTEM", "Texts", "check_system", "data_folder", "open_texts", "provider_for", "step_for"]

SYSTEM = "You are a helpful AI assistant."
"""What the model is told when nothing else was asked for."""


@dataclass(frozen=True, slots=True)
class Texts:
    """Streams can be opened, and what stands behind them."""

    manager: Manager
    store: ThreadStore
    answers: str
    """What answers, in words."""
    warmup: Callable[[], Awaitable[None]]
    """Make the first answer come sooner, or tell what is in its way. Raises DiscussionError."""


def data_folder() -> Path:
    """The platform's folder for a user's data, made for this user alone. Raises SettingError."""
    import platformdirs

    folder = Path(platformdirs.user_data_dir("discussion_helper", appauthor=False))
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        folder.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        what = f"The folder {folder} cannot be made ({error.strerror})."
        raise SettingError(what, fix="Name a file for the threads with --store.") from error
    return folder


def check_system(system: str) -> None:
    """Raises SettingError for a system prompt that no thread could keep."""
    if not is_storable(system):
        raise SettingError("system: it is too long, or no text.", fix="Use up to 65536 characters.")


@asynccontextmanager
async def open_texts(settings: Settings, *, store: Path | None = None) -> AsyncIterator[Texts]:
    """Check the model, open the store (None = the user's own), and release everything in the end.

    `settings.system` becomes that of every thread that is opened, and is kept with it; "" leaves a thread with the
    one it has. Raises DiscussionError: SettingError names the field, ModelMissing the model that must be pulled.
    """
    check_system(settings.system)
    choice = await anyio.to_thread.run_sync(choose_llm, settings)
    path = store or await anyio.to_thread.run_sync(data_folder) / "threads.sqlite"
    provider, warmup = await anyio.to_thread.run_sync(_provider, choice)
    try:
        async with (
            SqliteThreads(path) as threads,
            Manager(threads, provider, lambda thread: step_for(thread, settings.system)) as manager,
        ):
            yield Texts(manager, threads, describe_llm(choice, settings), warmup)
    finally:
        with anyio.CancelScope(shield=True):
            await provider.aclose()


def provider_for(settings: Settings, *, chat_template: str | None = None) -> Provider:
    """What answers texts. Blocks while files are hashed that were not before.

    `chat_template`: for a model in this process, in the place of its own, as CHATML_TOOLS. Raises SettingError,
    ModelError.
    """
    return _provider(choose_llm(settings), chat_template)[0]


def _provider(
    choice: Path | EndpointChoice, chat_template: str | None = None
) -> tuple[Provider, Callable[[], Awaitable[None]]]:
    if isinstance(choice, Path):
        from discussion_helper.text.providers.embedded import EmbeddedProvider

        embedded = EmbeddedProvider(choice, chat_template=chat_template)
        return embedded, embedded.warmup
    from discussion_helper.text.providers.openai_compatible import EndpointProvider

    if chat_template is not None:
        raise SettingError("chat_template: an endpoint has its own.", fix="Leave it out, or name a GGUF file as llm.")

    key = api_key_for(choice.base_url, os.environ)
    endpoint = EndpointProvider(choice.model, choice.base_url, api_key=key)
    return endpoint, endpoint.warmup


def step_for(thread: Thread, system: str, tools: Sequence[Tool] = (), *, usual: str = "") -> Step:
    """The system prompt stands before the turns of each call, and in no turn of the thread. `tools`: for the model.

    `system` becomes the thread's own, "" leaves it the one it has; `usual`: for one that has none, and not kept.
    Of questions without an answer the model gets the newest one alone.
    """
    if system:
        thread.metadata[KEPT_SYSTEM] = system
    told = thread.metadata.get(KEPT_SYSTEM) or usual or SYSTEM
    offered = [Tools(*tools)] if tools else []
    return Step(transforms=[answered_only, system_prompt(told)], handlers=offered, invoke_options=offered)
