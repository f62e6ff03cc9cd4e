"""The owner of a chat on a screen: it opens it, follows it, and leaves nothing of it behind."""

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager, AbstractContextManager

import anyio
from prompt_toolkit.history import History
from prompt_toolkit.input import Input
from prompt_toolkit.output import Output

from discussion_helper.commands.chat_request import ChatRequest, going_on, introduction, opened
from discussion_helper.commands.chat_state import ChatState
from discussion_helper.commands.chat_turns import ChatTurns
from discussion_helper.commands.chat_view import ChatScreen
from discussion_helper.commands.ending import LastResort
from discussion_helper.commands.held import held
from discussion_helper.commands.screen import complain
from discussion_helper.errors import DiscussionError
from discussion_helper.event_loop import start_in
from discussion_helper.settings import Settings
from discussion_helper.text.stream import Stream
from discussion_helper.text_app import Texts

__all__ = ["FOLLOWED", "ChatOwner", "Opener"]

FOLLOWED = 10_000
"""Events held for the screen; it loses pieces of an answer when it is so far behind, and no whole one."""

Opener = Callable[[ChatRequest], AbstractAsyncContextManager[tuple[Texts, Stream]]]


class ChatOwner:
    """Holds one chat. Everything that it needs runs as its tasks."""

    def __init__(
        self,
        screen: Callable[[], AbstractContextManager[Output]],
        history: Callable[[], History],
        last_resort: LastResort,
        *,
        opener: Opener = opened,
        suggest: Callable[[Settings], Awaitable[str]] | None = None,
        keyboard: Input | None = None,
    ) -> None:
        """`history` may block. `suggest` looks for something worth telling beside the chat; "" for nothing."""
        self._screen = screen
        self._history = history
        self._last_resort = last_resort
        self._opener = opener
        self._suggest = suggest
        self._keyboard = keyboard
        self._left: list[str] = []
        """What to say when the screen is gone."""

    async def hold(self, request: ChatRequest) -> int:
        """Hold the chat to its end; the exit code. Raises DiscussionError."""
        try:
            return await held(lambda end: self._hold(request, end), self._last_resort)
        finally:
            for line in self._left:
                complain(line)

    async def _hold(self, request: ChatRequest, end: Callable[[int], None]) -> None:
        history = await anyio.to_thread.run_sync(self._history)
        async with self._opener(request) as (texts, stream):
            state = ChatState.of(stream.thread.state.turns)
            turns = ChatTurns(stream, state)
            face = ChatScreen(state, turns, end, self._screen, history=history, keyboard=self._keyboard)
            events = stream.subscribe(buffer=FOLLOWED)
            await stream.emit(introduction(texts, stream))
            try:
                async with anyio.create_task_group() as tasks:
                    start_in(tasks, face.run)
                    start_in(tasks, self._advise, request.settings, texts, face)
                    async for event in events:
                        face.take(event)
                    tasks.cancel_scope.cancel()
            finally:
                if len(stream.thread.state):
                    self._left.append(going_on(request, stream.id))

    async def _advise(self, settings: Settings, texts: Texts, face: ChatScreen) -> None:
        """What is in the way of an answer is told before one is asked for."""
        await anyio.to_thread.run_sync(
            __import__, "discussion_helper.commands.chat_blocks"
        )  # it takes a while, and the first word should not
        try:
            await texts.warmup()
        except DiscussionError as error:
            face.tell(str(error), problem=True)
        if self._suggest is not None and (text := await self._suggest(settings)):
            face.tell(text)
