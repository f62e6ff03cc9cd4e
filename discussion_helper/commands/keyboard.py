"""The keyboard of a live view: what comes at once is read at once, and text of it is one paste."""

from collections.abc import Callable, Collection
from contextlib import AbstractContextManager

from prompt_toolkit.input import Input
from prompt_toolkit.key_binding import KeyPress
from prompt_toolkit.keys import Keys

__all__ = ["ENTERS", "LONG", "READS", "Keyboard"]

READS = 64
"""How often it is read before what came is handed on; a read is of 1024 bytes, and a terminal holds 4096."""
LONG = 16
"""Characters that are handed on one by one; more of them at once are a paste, also where the terminal does not say so.

A key takes 0.1 ms and a copy of the text, which 100,000 of them would take a minute for.
"""
ENTERS = 32
"""Line ends that send something, of those that came at once: nobody types so far ahead. Others are part of the text."""
_ENTER = (Keys.ControlM, Keys.ControlJ)
_SEQUENCE = 8
"""Characters after an Esc that may be a key which prompt_toolkit takes apart."""


class Keyboard(Input):
    """Another keyboard's keys, quickly, and those that are `urgent` before what else has come."""

    def __init__(self, keyboard: Input, urgent: Collection[Keys]) -> None:
        self._keyboard = keyboard
        self._urgent = urgent

    def read_keys(self) -> list[KeyPress]:
        """All that came, or READS times as much as the keyboard gives."""
        came: list[KeyPress] = []
        for _ in range(READS):
            keys = self._keyboard.read_keys()
            came += keys
            if not keys:
                break
        return self._in_order(came)

    def flush_keys(self) -> list[KeyPress]:
        """Those that were the beginning of a sequence."""
        return self._in_order(self._keyboard.flush_keys())

    def _in_order(self, keys: list[KeyPress]) -> list[KeyPress]:
        urgent = [key for key in keys if key.key in self._urgent]
        return [*urgent, *_pasted([key for key in keys if key.key not in self._urgent])]

    # -- as the other

    def fileno(self) -> int:
        """See Input."""
        return self._keyboard.fileno()

    def typeahead_hash(self) -> str:
        """See Input."""
        return self._keyboard.typeahead_hash()

    def flush(self) -> None:
        """See Input."""
        self._keyboard.flush()

    @property
    def closed(self) -> bool:
        """See Input."""
        return self._keyboard.closed

    def raw_mode(self) -> AbstractContextManager[None]:
        """See Input."""
        return self._keyboard.raw_mode()

    def cooked_mode(self) -> AbstractContextManager[None]:
        """See Input."""
        return self._keyboard.cooked_mode()

    def attach(self, input_ready_callback: Callable[[], None]) -> AbstractContextManager[None]:
        """See Input."""
        return self._keyboard.attach(input_ready_callback)

    def detach(self) -> AbstractContextManager[None]:
        """See Input."""
        return self._keyboard.detach()

    def close(self) -> None:
        """See Input."""
        self._keyboard.close()


def _pasted(keys: list[KeyPress]) -> list[KeyPress]:
    """The same keys, with long runs of text as one paste each."""
    handed: list[KeyPress] = []
    run: list[KeyPress] = []
    enters = 0
    for key in keys:
        enters += key.key in _ENTER
        if _is_text(key) or (key.key in _ENTER and enters > ENTERS):
            run.append(key)
        else:
            handed += [*_joined(run, handed), key]
            run = []
    return [*handed, *_joined(run, handed)]


def _is_text(key: KeyPress) -> bool:
    return key.key is Keys.ControlI or (not isinstance(key.key, Keys) and len(key.key) == 1)


def _joined(run: list[KeyPress], before: list[KeyPress]) -> list[KeyPress]:
    apart = _SEQUENCE if before and before[-1].key is Keys.Escape else 0
    if len(run) - apart <= LONG:
        return run
    return [*run[:apart], KeyPress(Keys.BracketedPaste, "".join(key.data for key in run[apart:]))]
