"""What chat is asked for, and the stream that is opened for it."""

import shlex
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import anyio

from discussion_helper.commands.chat_turns import PROVENANCE
from discussion_helper.commands.store_file import store_option
from discussion_helper.errors import SettingError
from discussion_helper.settings import Settings
from discussion_helper.text.errors import ThreadNotFoundError
from discussion_helper.text.inputs import EventContext
from discussion_helper.text.outputs import PropertiesEvent
from discussion_helper.text.stream import Stream
from discussion_helper.text_app import Texts, open_texts

__all__ = ["ChatRequest", "going_on", "introduction", "opened"]


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """What to chat with, and which thread goes on: one by its id, the last one, or a new one."""

    settings: Settings
    store: Path | None = None
    thread_id: str = ""
    last: bool = False


@asynccontextmanager
async def opened(request: ChatRequest) -> AsyncIterator[tuple[Texts, Stream]]:
    """The stream that was asked for; a new thread in which nothing was said is forgotten. Raises DiscussionError."""
    async with open_texts(request.settings, store=request.store) as texts:
        stream = await _stream(texts, request)
        try:
            yield texts, stream
        finally:
            with anyio.CancelScope(shield=True):
                await stream.aclose()
                if not len(stream.thread.state):
                    await texts.store.delete(stream.id)


async def _stream(texts: Texts, request: ChatRequest) -> Stream:
    if request.thread_id:
        try:
            return await texts.manager.attach(request.thread_id)
        except ThreadNotFoundError:
            what = f"--thread: there is no thread {request.thread_id[:80]!r}."
            raise SettingError(what, fix=f"See: discussion-helper threads list{store_option(request.store)}") from None
    if not request.last:
        return await texts.manager.create()
    for info in await texts.store.list():
        if len((await texts.store.get(info.id)).state):  # others were left before anything was said
            return await texts.manager.attach(info.id)
    raise SettingError("--last: there is no thread yet.", fix="Leave it out to begin one.")


def going_on(request: ChatRequest, thread_id: str, *, pipe: bool = False) -> str:
    """How to go on with a thread. What the model was told beforehand is kept with it, and need not be said again."""
    words = ["discussion-helper chat", *(["--pipe"] if pipe else []), f"--thread={thread_id}"]  # it may begin with -
    if request.settings.llm != Settings().llm:
        words.append(f"--llm={shlex.quote(request.settings.llm)}")
    return f"Go on with: {' '.join(words)}{store_option(request.store)}"


def introduction(texts: Texts, stream: Stream) -> PropertiesEvent:
    """What is so about this chat."""
    said = {"thread_id": stream.id, "model": texts.answers}
    return PropertiesEvent(said, EventContext(PROVENANCE))
