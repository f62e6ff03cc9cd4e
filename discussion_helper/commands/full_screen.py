"""An application of prompt_toolkit that has the screen until it is cancelled."""

import sys
from asyncio import TimerHandle, get_running_loop
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager

import anyio
from prompt_toolkit.application import Application, run_in_terminal
from prompt_toolkit.application.current import get_app_session, set_app
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.input import Input
from prompt_toolkit.key_binding import KeyBindings
from prompt_toolkit.key_binding.key_processor import KeyPressEvent
from prompt_toolkit.keys import Keys
from prompt_toolkit.layout import Layout, UIContent, UIControl
from prompt_toolkit.layout.controls import GetLinePrefixCallable
from prompt_toolkit.output import Output
from prompt_toolkit.styles import Style

from discussion_helper.clock import now
from discussion_helper.commands.ending import HANGUP
from discussion_helper.commands.keyboard import Keyboard
from discussion_helper.commands.wrap import Line
from discussion_helper.event_loop import start_in

__all__ = ["FRAME_S", "FullScreen", "Rows", "application_of", "on_key"]

FRAME_S = 0.016
"""Least time between two frames."""
_SHARE = 3
"""So many times as long as a frame takes to draw, nothing is drawn after it: keys, and the stream, need time too."""
_ESCAPE_S = 0.05
"""How long the rest of an arrow key's sequence is waited for: it comes at once, also over a network."""
_URGENT = (Keys.ControlC, Keys.ControlQ)
"""The keys that end: they are seen before all else that has come."""


def application_of(
    layout: Layout, keys: KeyBindings, style: Mapping[str, str], *, keyboard: Input | None, output: Output
) -> "Application[None]":
    """An application that fills the screen. `keyboard`: the terminal's unless given."""
    application: Application[None] = Application(
        layout=layout,
        key_bindings=keys,
        style=Style.from_dict(dict(style)),
        full_screen=True,
        input=Keyboard(keyboard or get_app_session().input, _URGENT),
        output=output,
        min_redraw_interval=FRAME_S,
        terminal_size_polling_interval=0.5 if sys.platform == "win32" else None,  # elsewhere there is a signal
    )
    application.ttimeoutlen = _ESCAPE_S
    return application


def on_key(does: Callable[[], object]) -> Callable[[KeyPressEvent], None]:
    """What a key does that needs to know nothing more."""

    def handle(_: KeyPressEvent) -> None:
        does()

    return handle


class FullScreen:
    """Draws when it is asked to, and never otherwise."""

    def __init__(
        self,
        screen: Callable[[], AbstractContextManager[Output]],
        make: Callable[[Output], "Application[None]"],
        end: Callable[[int], None],
    ) -> None:
        """`screen` is entered as long as it is drawn on. `end` is called when the terminal is gone."""
        self._screen = screen
        self._make = make
        self._end = end
        self._closed = False
        self._coming: TimerHandle | None = None
        self._began = self._ended = 0.0
        self._rest_s = FRAME_S
        self.application: Application[None] | None = None

    def draw(self) -> None:
        """Have it drawn soon; how often this is called in between makes no difference."""
        if self.application is None or self._closed or self._coming is not None:
            return
        self._coming = get_running_loop().call_later(max(0.0, self._ended + self._rest_s - now()), self._invalidate)

    async def aside(self, work: Callable[[], None]) -> None:
        """Give the terminal back as it was, do `work`, and draw again; nothing when it is not drawn on."""
        if self.application is not None and not self._closed:
            with set_app(self.application):
                await run_in_terminal(work)

    def _invalidate(self) -> None:
        self._coming = None
        if self.application is not None and not self._closed:
            self.application.invalidate()

    async def run(self) -> None:
        """Have the screen until it is cancelled, which gives the terminal back as it was."""
        try:
            with self._screen() as output:
                self.application = self._make(output)
                self.application.before_render += lambda _: self._note(began=True)
                self.application.after_render += lambda _: self._note(began=False)
                await self._run(self.application)
        except OSError:  # the terminal was closed, which its last flush tells too
            self._end(HANGUP)

    def _note(self, *, began: bool) -> None:
        if began:
            self._began = now()
            return
        self._ended = now()
        self._rest_s = max(FRAME_S, _SHARE * (self._ended - self._began))
        if self.application is not None:  # what keys ask for
            self.application.min_redraw_interval = self._rest_s + self._ended - self._began

    async def _run(self, application: "Application[None]") -> None:
        async with anyio.create_task_group() as tasks:
            start_in(tasks, self._close_when_cancelled)
            with anyio.CancelScope(shield=True):  # it ends by its own exit, which puts the terminal right
                try:
                    await application.run_async(
                        pre_run=self._exit_if_closed, handle_sigint=False, set_exception_handler=False
                    )
                except (EOFError, OSError):  # the terminal was closed
                    self._end(HANGUP)
            tasks.cancel_scope.cancel()

    async def _close_when_cancelled(self) -> None:
        try:
            await anyio.sleep_forever()
        finally:
            self._closed = True
            if self._coming is not None:
                self._coming.cancel()
            self._exit_if_closed()

    def _exit_if_closed(self) -> None:
        future = self.application.future if self.application is not None else None
        if self._closed and future is not None and not future.done():
            future.set_result(None)


class Rows(UIControl):
    """Lines made for the size they are drawn in."""

    def __init__(self, lines: Callable[[int, int], list[Line]], *, fits: bool = False) -> None:
        """`lines` are what to draw in a width and a height. `fits`: as high as there are lines."""
        self._lines = lines
        self._fits = fits

    def create_content(self, width: int, height: int) -> UIContent:
        lines: list[StyleAndTextTuples] = [[*line] for line in self._lines(width, height)]
        return UIContent(lambda number: lines[number], line_count=len(lines), show_cursor=False)

    def preferred_height(
        self,
        width: int,
        max_available_height: int,
        wrap_lines: bool,  # noqa: ARG002 - the signature is prompt_toolkit's
        get_line_prefix: GetLinePrefixCallable | None,  # noqa: ARG002
    ) -> int | None:
        return len(self._lines(width, max_available_height)) if self._fits else None
