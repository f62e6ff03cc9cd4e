"""The screen of a chat: the transcript, what waits, and what is being typed."""

from collections.abc import Callable
from contextlib import AbstractContextManager

from prompt_toolkit.application import Application
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.history import History
from prompt_toolkit.input import Input
from prompt_toolkit.key_binding import KeyBindings
from prompt_toolkit.key_binding.key_processor import KeyPressEvent
from prompt_toolkit.layout import BufferControl, Dimension, HSplit, Layout, Window
from prompt_toolkit.output import Output

from discussion_helper.commands.chat_lines import STYLE, Transcript, header, keys, waiting_lines
from discussion_helper.commands.chat_state import ChatState
from discussion_helper.commands.chat_turns import ChatTurns
from discussion_helper.commands.ending import INTERRUPTED
from discussion_helper.commands.full_screen import FullScreen, Rows, application_of, on_key
from discussion_helper.commands.screen import can_suspend
from discussion_helper.commands.typed_text import TypedText
from discussion_helper.text.outputs import ErrorEvent, LifecycleEvent, OutputEvent

__all__ = ["LONGEST_TYPED", "ChatScreen"]

_ESC_ENTER_S = 0.3
"""How long an Esc waits for the Enter that makes a new line of it."""
LONGEST_TYPED = 50_000
"""Characters of a message that is typed here: its lines are laid out anew for each frame, in 30 ms for so many."""
_TYPED_LINES = 6
_SHIFT_ENTER = "\x1b[27;2;13~"
"""What xterm sends for it when it tells modified keys; prompt_toolkit takes it for Enter."""
_SHIFT_ENTER_KITTY = ("escape", *"[13;2u")
"""The same from terminals that follow kitty, which prompt_toolkit takes apart."""


class ChatScreen:
    """Draws when something looks different, and never otherwise."""

    def __init__(
        self,
        state: ChatState,
        turns: ChatTurns,
        end: Callable[[int], None],
        screen: Callable[[], AbstractContextManager[Output]],
        *,
        history: History,
        keyboard: Input | None = None,
    ) -> None:
        """`end` ends the chat with an exit code. `screen` is entered as long as it is drawn on."""
        self._state = state
        self._turns = turns
        self._end = end
        self._keyboard = keyboard
        self._transcript = Transcript(state)
        self._typed = TypedText(LONGEST_TYPED, self._tell_too_long, accept=self._send, multiline=True, history=history)
        self._screen = FullScreen(screen, self._make_application, end)
        self._rings = False
        """The end of what runs is worth a bell."""

    @property
    def application(self) -> "Application[None] | None":
        """What draws, once it runs."""
        return self._screen.application

    def take(self, event: OutputEvent) -> None:
        """Follow one event; the bell rings when an answer is over, unless it was cancelled."""
        if self._state.take(event):
            self._screen.draw()
        match event:
            case LifecycleEvent("done"):
                if self._rings and self._screen.application is not None:
                    self._screen.application.output.bell()
                self._rings = False
            case LifecycleEvent(phase):
                self._rings = phase != "cancelled"
            case ErrorEvent():
                self._rings = True

    def tell(self, text: str, *, problem: bool = False) -> None:
        """Add a remark to the transcript."""
        self._state.remark(text, problem=problem)
        self._screen.draw()

    async def run(self) -> None:
        """Have the screen until it is cancelled."""
        await self._screen.run()

    def _make_application(self, output: Output) -> "Application[None]":
        made = application_of(self._layout(), self._keys(), STYLE, keyboard=self._keyboard, output=output)
        made.timeoutlen = _ESC_ENTER_S
        return made

    # -- the layout

    def _layout(self) -> Layout:
        bar = Window(Rows(lambda width, _: [header(self._state, width)]), height=1, style="class:bar")
        transcript = Window(Rows(self._transcript.visible))
        waiting = Window(
            Rows(lambda width, height: waiting_lines(self._state, width)[:height], fits=True),
            dont_extend_height=True,
        )
        typing = Window(
            BufferControl(self._typed),
            height=Dimension(min=1, max=_TYPED_LINES),
            dont_extend_height=True,
            wrap_lines=True,
            get_line_prefix=_prompt,
        )
        bottom = Window(Rows(lambda width, _: [keys(width, below=self._transcript.below)]), height=1)
        return Layout(HSplit([bar, transcript, waiting, typing, bottom]), focused_element=typing)

    # -- the keys

    def _keys(self) -> KeyBindings:
        keys = KeyBindings()
        for name, does in (
            ("c-c", lambda: self._end(INTERRUPTED)),
            ("c-q", lambda: self._end(0)),
            ("c-o", self._transcript.toggle),
            ("c-j", lambda: self._typed.newline(copy_margin=False)),
            ("pageup", lambda: self._transcript.scroll(1)),
            ("pagedown", lambda: self._transcript.scroll(-1)),
        ):
            keys.add(name, eager=True)(on_key(does))
        for sequence in (("escape", "enter"), _SHIFT_ENTER_KITTY):
            keys.add(*sequence)(on_key(lambda: self._typed.newline(copy_margin=False)))
        keys.add("escape")(on_key(self._turns.escape))
        keys.add("enter")(self._enter)
        keys.add("c-d")(on_key(lambda: self._typed.delete() if self._typed.text else self._end(0)))
        keys.add("c-z", eager=True)(_suspend)
        return keys

    def _enter(self, event: KeyPressEvent) -> None:
        if event.data == _SHIFT_ENTER:
            self._typed.newline(copy_margin=False)
        elif self._typed.text.strip():
            self._typed.validate_and_handle()

    def _send(self, typed: Buffer) -> bool:
        """Whether the text stays where it was typed."""
        self._transcript.below = 0
        self._state.note = ""
        return not self._turns.send(typed.text.strip())

    def _tell_too_long(self) -> None:
        self._state.note = (
            f"A message here holds {LONGEST_TYPED} characters, and the rest was left out: chat --pipe takes more."
        )
        self._screen.draw()


def _prompt(line: int, wrapped: int) -> StyleAndTextTuples:
    return [("class:you", " > " if line == wrapped == 0 else "   ")]


def _suspend(event: KeyPressEvent) -> None:
    if can_suspend():
        event.app.suspend_to_background()
