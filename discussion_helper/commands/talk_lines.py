"""The picture of a talk as lines of styled text, for any size of terminal."""

from collections.abc import Sequence
from itertools import islice

from discussion_helper.commands.talk_state import LEVELS, Entry, Remark, TalkState, Turn, Wait
from discussion_helper.commands.wrap import Line, cells, printable, shortened, wrap
from discussion_helper.types import Floor

__all__ = ["STYLE", "Transcript", "entry_lines", "header", "keys", "left_lines", "live_lines", "problem_lines"]

STYLE = {
    "bar": "reverse",
    "listening": "ansigreen bold",
    "thinking": "ansiyellow bold",
    "speaking": "ansicyan bold",
    "you": "bold",
    "agent": "ansicyan bold",
    "unheard": "dim",
    "faint": "dim",
    "problem": "ansired bold",
    "loud": "ansired",
}
"""What the style classes look like, for prompt_toolkit. Nothing is told by colour alone."""

_NARROW = 60
"""Columns below which labels are shortened."""
_LABEL = 7
"""Columns of a speaker's name; texts are indented by that much."""
_WAITING = 3
"""Typed turns that are shown while they wait; the others are counted."""
_FLOORS = {
    Floor.IDLE: ("faint", "○ idle"),
    Floor.LISTENING: ("listening", "● listening"),
    Floor.THINKING: ("thinking", "◌ thinking"),
    Floor.SPEAKING: ("speaking", "▶ speaking"),
}
_KEY_UP, _KEY_DOWN = ("faint", "○ space to talk"), ("listening", "● space is down")
_INTERRUPT = (("Esc", "interrupt"),)
_PUSH = (("Space", "talk"),)
_KEYS = (("^T", "mute"), ("PgUp/PgDn", "scroll"), ("^Q", "quit"))


def header(state: TalkState, width: int) -> Line:
    """Who has the floor on the left, the microphone's level on the right, in exactly `width` columns."""
    style, floor = _attention(state) if state.floor is Floor.LISTENING else _FLOORS[state.floor]
    left: Line = [(f"class:{style}", f" {floor}")]
    right = _meter(state, short=width < _NARROW)
    between = width - cells(left) - cells(right)
    if between < 1:
        return [(f"class:{style}", shortened(f" {floor}", width))]
    return [*left, ("", " " * between), *right]


def _attention(state: TalkState) -> tuple[str, str]:
    """Whether it listens while it has nothing else to do."""
    match state.attention:
        case "asleep":
            return "faint", f"○ asleep: say {printable(state.word)}"
        case "released":
            return _KEY_UP
        case "pressed":
            return _KEY_DOWN
    return _FLOORS[Floor.LISTENING]


def _meter(state: TalkState, *, short: bool) -> Line:
    name = "mic " if short else "microphone "
    if state.muted:
        return [("class:problem", f"{name}muted ")]
    steps = LEVELS // 2 if short else LEVELS
    full = -(-state.level * steps // LEVELS)
    loud = "class:loud" if state.level >= LEVELS - 1 else ""
    return [("", name), (loud, "█" * full), ("class:faint", "░" * (steps - full)), ("", " ")]


def keys(width: int, *, below: int = 0, speaking: bool = False, pushes: bool = False) -> Line:
    """The line at the bottom: how far it is scrolled up, or the keys that do something now; `pushes`: one to talk."""
    if below:
        return [("class:faint", shortened(f" {below} more lines below: PgDn", width))]
    line: Line = []
    for key, does in (_PUSH if pushes else ()) + (_INTERRUPT if speaking else ()) + _KEYS:
        item: Line = [("class:you", f" {key}"), ("class:faint", f" {does} ")]
        if cells(line) + cells(item) <= width:
            line += item
    return line


def problem_lines(state: TalkState, width: int) -> list[Line]:
    """What is wrong with the devices, and the fixes."""
    return [
        line
        for problem in state.problems.values()
        for line in wrap([("class:problem", printable(f"! {problem}"))], width, indent=2)
    ]


def entry_lines(entry: Entry, width: int) -> list[Line]:
    """One entry of the transcript. What was not heard is dimmed, and in brackets that say so."""
    match entry:
        case Turn(speaker="agent"):
            return _turn_lines("agent", entry, width)
        case Turn():
            return _turn_lines("you", entry, width)
        case Wait():
            text = str(entry)
        case Remark():
            text = printable(entry.text)
    return wrap([("class:faint", " " * _LABEL + text)], width, indent=_LABEL)


def left_lines(entry: Entry, width: int) -> list[str]:
    """The same without styles."""
    return ["".join(text for _, text in line) for line in entry_lines(entry, width)]


def _turn_lines(who: str, turn: Turn, width: int) -> list[Line]:
    text = printable(turn.text)
    line: Line = [(f"class:{who}", f" {who} ".ljust(_LABEL)), ("", text)]
    if turn.mark:
        line.append(("class:unheard", f"{' ' if text else ''}{printable(turn.mark)}"))
    return wrap(line, width, indent=_LABEL)


def live_lines(state: TalkState, width: int) -> list[Line]:
    """The turns that are under way and what happened last, below the transcript."""
    lines: list[Line] = []
    if state.floor is Floor.SPEAKING:
        said: Line = [("class:agent", " agent ".ljust(_LABEL)), ("class:faint", printable(state.saying) or "…")]
        lines += wrap(said, width, indent=_LABEL)
    if state.partial:
        heard: Line = [("class:you", " you ".ljust(_LABEL)), ("class:faint", f"{printable(state.partial)} …")]
        lines += wrap(heard, width, indent=_LABEL)
    lines += [_faint(call, width) for call in state.calls.values()]
    lines += _waiting_lines(state.waiting, width)
    if state.note:
        lines += wrap([("class:faint", " " * _LABEL + printable(state.note))], width, indent=_LABEL)
    return lines


def _waiting_lines(waiting: Sequence[str], width: int) -> list[Line]:
    texts = list(waiting[:_WAITING])
    if more := len(waiting) - len(texts):
        texts.append(f"{more} more")
    return [_faint(f"waiting: {text}", width) for text in texts]


def _faint(text: str, width: int) -> Line:
    return [("class:faint", shortened(" " * _LABEL + printable(text), width))]


class Transcript:
    """The wrapped entries of a state. Only new ones are wrapped, and all of them at a new width.

    `scroll` moves the view; at the bottom it follows what comes, elsewhere it stays where it is.
    """

    def __init__(self, state: TalkState) -> None:
        self._state = state
        self._width = 0
        self._wrapped = 0
        self._lines: list[Line] = []
        self._page = 1
        self.below = 0
        """Lines below the view."""

    def visible(self, width: int, height: int) -> list[Line]:
        """The lines of the view; the newest stand at the bottom of it."""
        grown = self._wrap_new(width)
        self._page = max(1, height - 1)
        if self.below:
            self.below += grown
        self.below = max(0, min(self.below, len(self._lines) - height))
        end = len(self._lines) - self.below
        lines = self._lines[max(0, end - height) : end]
        live = [] if self.below else live_lines(self._state, width)
        return [*lines, *live][max(0, len(lines) + len(live) - height) :]

    def _wrap_new(self, width: int) -> int:
        """How many lines came below those that were there before."""
        if width != self._width:
            self._width, self._wrapped, self._lines = width, 0, []
        before = len(self._lines)
        for entry in islice(self._state.entries, self._wrapped, None):
            self._lines += entry_lines(entry, width)
        self._wrapped = len(self._state.entries)
        return len(self._lines) - before if before else 0

    def scroll(self, pages: float) -> None:
        """Up by so many pages; down when negative."""
        self.below = max(0, self.below + round(pages * self._page))
