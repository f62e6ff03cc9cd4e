"""The live view of a talk in a terminal, on prompt_toolkit, in the talk's own event loop."""

from collections.abc import Callable
from contextlib import AbstractContextManager

from prompt_toolkit.application import Application
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.filters import Condition
from prompt_toolkit.input import Input
from prompt_toolkit.key_binding import KeyBindings
from prompt_toolkit.layout import BufferControl, HSplit, Layout, Window
from prompt_toolkit.output import Output

from discussion_helper.commands.ending import INTERRUPTED
from discussion_helper.commands.full_screen import FullScreen, Rows, application_of, on_key
from discussion_helper.commands.held_key import HeldKey
from discussion_helper.commands.screen import can_suspend, columns, stop_job
from discussion_helper.commands.talk_lines import STYLE, Transcript, header, keys, left_lines, problem_lines
from discussion_helper.commands.talk_state import TalkState
from discussion_helper.commands.talk_wishes import Interrupt, Mute, Press, Say, Suspend, Wish, Wishes
from discussion_helper.commands.typed_text import TypedText
from discussion_helper.commands.wrap import Line
from discussion_helper.events import Event
from discussion_helper.types import Floor

__all__ = ["LONGEST_TURN", "TerminalFace"]

LONGEST_TURN = 4000
"""Characters of a typed turn; some minutes of speech."""


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
        self._keyboard = keyboard
        self._state = TalkState()
        self._transcript = Transcript(self._state)
        self._typed = TypedText(LONGEST_TURN, self._tell_too_long, accept=self._say, multiline=False)
        self._key = HeldKey(lambda down: self._ask(Press(down)))
        self._screen = FullScreen(screen, self._make_application, end)

    @property
    def application(self) -> "Application[None] | None":
        """What draws, once it runs."""
        return self._screen.application

    # -- shown

    def take(self, event: Event) -> None:
        """Follow one event."""
        if event.kind == "attention" and event.data["state"] == "released":
            self._key.reset()
        if self._state.take(event):
            self._screen.draw()

    def tell(self, text: str) -> None:
        """Add a remark to the transcript."""
        self._state.remark(text)
        self._screen.draw()

    def note(self, text: str) -> None:
        """Say something that goes when something else happens."""
        self._state.note = text
        self._screen.draw()

    def left_out(self, text: str, why: str) -> None:
        """Tell why a typed turn is not answered; it waits no more. Once: the end of the talk tells it too."""
        if self._state.waits_no_more(text):
            self.tell(f"{why}: {text}")

    async def suspend(self) -> None:
        """Give the terminal back and stop this process and those it was started by; draw again when it goes on."""
        await self._screen.aside(self._stop_job)

    def farewell(self) -> list[str]:
        """The transcript, which goes with the screen otherwise."""
        width = columns()
        return [line for entry in self._state.entries for line in left_lines(entry, width)]

    async def run(self) -> None:
        """Have the screen until it is cancelled, which gives the terminal back as it was."""
        await self._screen.run()

    def _make_application(self, output: Output) -> "Application[None]":
        return application_of(self._layout(), self._keys(), STYLE, keyboard=self._keyboard, output=output)

    # -- the layout

    def _layout(self) -> Layout:
        bar = Window(Rows(lambda width, _: [header(self._state, width)]), height=1, style="class:bar")
        transcript = Window(Rows(self._transcript.visible))
        problems = Window(Rows(self._problems, fits=True), dont_extend_height=True)
        typing = Window(BufferControl(self._typed), height=1, get_line_prefix=lambda *_: [("class:you", " > ")])
        bottom = Window(Rows(lambda width, _: [self._bottom(width)]), height=1)
        return Layout(HSplit([bar, transcript, problems, typing, bottom]), focused_element=typing)

    def _problems(self, width: int, height: int) -> list[Line]:
        return problem_lines(self._state, width)[:height]

    def _bottom(self, width: int) -> Line:
        speaking = self._state.floor is Floor.SPEAKING
        return keys(width, below=self._transcript.below, speaking=speaking, pushes=self._pushes())

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
            keys.add(name, eager=True)(on_key(does))
        for name, works in (("c-@", self._pushes), (" ", self._talks), ("enter", self._talks)):
            keys.add(name, eager=True, filter=Condition(works))(on_key(self._key.strike))
        return keys

    def _pushes(self) -> bool:
        """A key has to be pressed for something to be heard."""
        return self._state.attention in ("pressed", "released")

    def _talks(self) -> bool:
        """That key is Space, or Enter: nothing is typed."""
        return self._pushes() and not self._typed.text

    def _say(self, typed: Buffer) -> bool:
        """Whether the text stays in the line."""
        text = " ".join(typed.text.split())
        if not text:
            return False
        if not self._ask(Say(text)):
            return True
        self._state.waiting.append(text)
        self._transcript.below = 0  # where it is to be seen
        return False

    def _tell_too_long(self) -> None:
        self.note(f"A typed turn holds {LONGEST_TURN} characters: what came after them was left out.")

    def _ask(self, wish: Wish) -> bool:
        taken = self._wishes.put(wish)
        if not taken and self.application is not None:
            self.application.output.bell()
        return taken
