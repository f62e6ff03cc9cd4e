"""A chat through a pipe: one message in, the answer out as it comes."""

from collections.abc import Callable, Iterator
from typing import BinaryIO

import anyio

from discussion_helper.commands.chat_owner import Opener
from discussion_helper.commands.chat_pipe_text import PipeText, json_line
from discussion_helper.commands.chat_request import ChatRequest, going_on, introduction, opened
from discussion_helper.commands.chat_state import EMPTY, says_nothing
from discussion_helper.commands.chat_turns import LONGEST_MESSAGE, PROVENANCE
from discussion_helper.commands.ending import LastResort
from discussion_helper.commands.held import held
from discussion_helper.commands.screen import complain
from discussion_helper.errors import DiscussionError, SettingError
from discussion_helper.event_loop import start_in
from discussion_helper.failures import told
from discussion_helper.subscription import Subscription
from discussion_helper.text.errors import ProcessError
from discussion_helper.text.inputs import EventContext, UserMessageEvent
from discussion_helper.text.outputs import OutputEvent
from discussion_helper.text.stream import Stream

__all__ = ["message_from", "pipe", "to_text"]

_MOST_BYTES = 4 * LONGEST_MESSAGE
_FIX = 'Send one: echo "Hello" | discussion-helper chat --pipe'


def message_from(stream: BinaryIO | None) -> str:
    """All of standard input. Blocks. Raises SettingError for nothing, for too much, and for what is no text."""
    content = b"" if stream is None else stream.read(_MOST_BYTES + 1)
    try:
        text = content[:_MOST_BYTES].decode("utf-8-sig", "ignore" if len(content) > _MOST_BYTES else "strict")
    except UnicodeDecodeError:
        raise SettingError("Standard input is not a text.", fix="Send text in UTF-8.") from None
    if not text.strip():
        raise SettingError("Standard input holds no message.", fix=_FIX)
    if len(text) > LONGEST_MESSAGE or len(content) > _MOST_BYTES:
        raise SettingError(f"The message is longer than {LONGEST_MESSAGE} characters.", fix="Send it in parts.")
    return text.strip().replace("\r\n", "\n")


def to_text(*, wire: bool, details: bool) -> Callable[[OutputEvent], str]:
    """What to print of each event: lines of JSON, or the text, with what was thought and called when `details`."""
    return json_line if wire else PipeText(details=details).feed


async def pipe(
    request: ChatRequest,
    message: str,
    text_of: Callable[[OutputEvent], str],
    write: Callable[[str], object],
    last_resort: LastResort,
    *,
    opener: Opener = opened,
    quiet: bool = False,
) -> int:
    """Process the message once; the exit code. `write` may block. `quiet`: how to go on is not told on stderr.

    Raises DiscussionError after everything was written, and what `write` raises.
    """

    async def work(_: Callable[[int], None]) -> None:
        async with opener(request) as (texts, stream):
            events = stream.subscribe(overflow="block")
            async with events, anyio.create_task_group() as tasks:
                start_in(tasks, _write_all, events, text_of, write)
                await stream.emit(introduction(texts, stream))
                failure = await _failure(stream, message)
                await stream.aclose()  # the events end with it
            if failure is not None:
                raise failure
            for line in _remarks(request, stream, quiet=quiet):
                complain(line)

    return await held(work, last_resort)


def _remarks(request: ChatRequest, stream: Stream, *, quiet: bool) -> Iterator[str]:
    """What there is to say beside the answer."""
    last = stream.thread.state.last
    if last is not None and says_nothing(last):
        yield EMPTY
    if not quiet:
        yield going_on(request, stream.id, pipe=True)


async def _failure(stream: Stream, message: str) -> DiscussionError | None:
    """Process the message; what it failed with."""
    try:
        await stream.process(UserMessageEvent(message, EventContext(PROVENANCE)))
    except ProcessError as error:
        cause = error.reason
        return cause if isinstance(cause, DiscussionError) else DiscussionError(f"The answer failed: {told(cause)}.")
    return None


async def _write_all(
    events: Subscription[OutputEvent], text_of: Callable[[OutputEvent], str], write: Callable[[str], object]
) -> None:
    async for event in events:
        if text := text_of(event):
            await anyio.to_thread.run_sync(write, text, abandon_on_cancel=True)
