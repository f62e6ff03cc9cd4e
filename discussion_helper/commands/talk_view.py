"""The live view of a talk in a terminal, on prompt_toolkit, in the talk's own event loop."""

import sys
from collections.abc import Callable
from contextlib import AbstractContextManager

import anyio
from prompt_toolkit.application import Application, run_in_terminal
from prompt_toolkit.application.current import set_app
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.input import Input
from prompt_toolkit.key_binding import KeyBindings
from prompt_toolkit.key_binding.key_processor import KeyPressEvent
from prompt_toolkit.layout import BufferControl, HSplit, Layout, UIContent, UIControl, Window
from prompt_toolkit.layout.controls import GetLinePrefixCallable
from prompt_toolkit.output import Output
from prompt_toolkit.styles import Style

from discussion_helper.commands.ending import HANGUP, INTERRUPTED
from discussion_helper.commands.screen import can_suspend, columns, stop_job
from discussion_helper.commands.talk_lines import STYLE, Transcript, header, keys, left_lines, problem_lines
from discussion_helper.commands.talk_state import TalkState
from discussion_helper.commands.talk_wishes import Interrupt, Mute, Say, Suspend, Wish, Wishes
from discussion_helper.commands.wrap import Line
from discussion_helper.events import Event
from discussion_helper.types import Floor

__all__ = ["TerminalFace"]

_ESCAPE_S = 0.05
"""How long a lone Esc is waited on: the rest of an arrow key's sequence comes at once, also over a network."""
_LONGEST_TURN = 4000
"""Characters of a typed turn; some minutes of speech."""

_Lines = Callable[[int, int], list[Line]]
"""What to draw in a width and a height."""


class TerminalFace:
    """Draws when something looks different, and never otherwise. Keys become wishes."""

    def __init__(
        self,
        wishes: Wishes,
        end: Callable[[int], None],
        screen: Callable[[], AbstractContextManager[Output]],
        *,
        keyboard: Input | None = None,
        stop_job: Callable[[], None] = stop_job,
    ) -> None:
        """`end` ends the talk with an exit code. `screen` is entered as long as it is drawn on.

        `stop_job` stops the process, with the terminal as it was, and returns when it goes on.
        """
        self._stop_job = stop_job
        self._wishes = wishes
        self._end = end
        self._screen = screen
        self._keyboard = keyboard
        self._state = TalkState()
        self._transcript = Transcript(self._state)
        self._typed = Buffer(multiline=False, accept_handler=self._say)
        self._application: Application[None] | None = None
        self._closed = False

    # -- shown

    def take(self, event: Event) -> None:
        """Follow one event."""
        if self._state.take(event):
            self._draw()

    def tell(self, text: str) -> None:
        """Add a remark to the transcript."""
        self._state.remark(text)
        self._draw()

    def note(self, text: str) -> None:
        """Say something that goes when something else happens."""
        self._state.note = text
        self._draw()

    def left_out(self, text: str, why: str) -> None:
        """Tell why a typed turn is not answered; it waits no more."""
        self._state.waits_no_more(text)
        self.tell(f"{why}: {text}")

    async def suspend(self) -> None:
        """Give the terminal back and stop this process and those it was started by; draw again when it goes on."""
        if self._application is not None and not self._closed:
            with set_app(self._application):
                await run_in_terminal(self._stop_job)

    def farewell(self) -> list[str]:
        """The transcript, which goes with the screen otherwise."""
        width = columns()
        return [line for entry in self._state.entries for line in left_lines(entry, width)]

    def _draw(self) -> None:
        if self._application is not None:
            self._application.invalidate()

    async def run(self) -> None:
        """Have the screen until it is cancelled, which gives the terminal back as it was."""
        try:
            await self._show()
        except OSError:  # the terminal was closed, which its last flush tells too
            self._end(HANGUP)

    async def _show(self) -> None:
        with self._screen() as output:
            self._application = self._make_application(output)
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._close_when_cancelled)
                with anyio.CancelScope(shield=True):  # it ends by its own exit, which puts the terminal right
                    await self._run_application(self._application)
                tasks.cancel_scope.cancel()

    async def _run_application(self, application: "Application[None]") -> None:
        try:
            await application.run_async(
                pre_run=self._exit_if_closed, handle_sigint=False, set_exception_handler=False
            )
        except (EOFError, OSError):  # the terminal was closed
            self._end(HANGUP)

    async def _close_when_cancelled(self) -> None:
        try:
            await anyio.sleep_forever()
        finally:
            self._closed = True
            self._exit_if_closed()

    def _exit_if_closed(self) -> None:
        future = self._application.future if self._application is not None else None
        if self._closed and future is not None and not future.done():
            future.set_result(None)

    def _make_application(self, output: Output) -> "Application[None]":
        application: Application[None] = Application(
            layout=self._layout(),
            key_bindings=self._keys(),
            style=Style.from_dict(STYLE),
            full_screen=True,
            input=self._keyboard,
            output=output,
            terminal_size_polling_interval=0.5 if sys.platform == "win32" else None,  # elsewhere there is a signal
        )
        application.ttimeoutlen = _ESCAPE_S
        return application

    # -- the layout

    def _layout(self) -> Layout:
        bar = Window(_Rows(lambda width, _: [header(self._state, width)]), height=1, style="class:bar")
        transcript = Window(_Rows(self._transcript.visible))
        problems = Window(_Rows(self._problems, fits=True), dont_extend_height=True)
        typing = Window(BufferControl(self._typed), height=1, get_line_prefix=lambda *_: [("class:you", " > ")])
        bottom = Window(_Rows(lambda width, _: [self._bottom(width)]), height=1)
        return Layout(HSplit([bar, transcript, problems, typing, bottom]), focused_element=typing)

    def _problems(self, width: int, height: int) -> list[Line]:
        return problem_lines(self._state, width)[:height]

    def _bottom(self, width: int) -> Line:
        return keys(width, below=self._transcript.below, speaking=self._state.floor is Floor.SPEAKING)

    # -- the keys

    def _keys(self) -> KeyBindings:
        keys = KeyBindings()
        for name, does in (
            ("escape", lambda: self._ask(Interrupt())),
            ("c-x", lambda: self._ask(Interrupt())),
            ("c-t", lambda: self._ask(Mute(not self._state.muted))),
            ("c-c", lambda: self._end(INTERRUPTED)),
            ("c-q", lambda: self._end(0)),
            ("c-z", lambda: self._ask(Suspend(self._state.muted)) if can_suspend() else None),
            ("pageup", lambda: self._transcript.scroll(1)),
            ("pagedown", lambda: self._transcript.scroll(-1)),
        ):
            keys.add(name, eager=True)(_on_key(does))
        return keys

    def _say(self, typed: Buffer) -> bool:
        """Whether the text stays in the line."""
        text = " ".join(typed.text.split())[:_LONGEST_TURN]
        if not text:
            return False
        if not self._ask(Say(text)):
            return True
        self._state.waiting.append(text)
        self._transcript.below = 0  # where it is to be seen
        return False

    def _ask(self, wish: Wish) -> bool:
        taken = self._wishes.put(wish)
        if not taken and self._application is not None:
            self._application.output.bell()
        return taken


def _on_key(does: Callable[[], object]) -> Callable[[KeyPressEvent], None]:
    def handle(_: KeyPressEvent) -> None:
        does()

    return handle


class _Rows(UIControl):
    """Lines made for the size they are drawn in."""

    def __init__(self, lines: _Lines, *, fits: bool = False) -> None:
        """`fits`: as high as there are lines."""
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
