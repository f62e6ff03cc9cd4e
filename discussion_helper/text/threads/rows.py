"""What the rows of a thread database hold, checked: others may have written them."""

from collections.abc import Sequence
from typing import cast

from discussion_helper.errors import SettingError
from discussion_helper.text.errors import ThreadNotFoundError
from discussion_helper.text.state import Turn
from discussion_helper.text.threads.base import ThreadInfo, checked_id
from discussion_helper.text.threads.codec import info_from, loaded, turn_of

__all__ = ["is_id", "read_info", "read_text", "read_turns"]


def read_text(stored: bytes) -> str:
    """What is no UTF-8 becomes surrogates, which the checks of what was read refuse in the one thread that has them.

    The module's own way would refuse every row that the query gives.
    """
    return stored.decode("utf-8", "surrogateescape")


def is_id(thread_id: object) -> bool:
    """Whether a thread may have it."""
    try:
        return bool(checked_id(cast(str, thread_id)))
    except ThreadNotFoundError:
        return False


def read_info(head: tuple[str, str, str], metadata: dict[str, str]) -> ThreadInfo:
    """Of id, time of creation and of the last change. Raises SettingError."""
    try:
        return info_from(
            {"id": checked_id(head[0]), "created_at": head[1], "updated_at": head[2], "metadata": metadata}
        )
    except ThreadNotFoundError:
        raise SettingError("id: it is no thread's.") from None


def read_turns(rows: Sequence[tuple[int, bytes]]) -> list[Turn]:
    """Of all the places of one thread, in order. Raises SettingError, which names the turn."""
    turns = []
    for number, (position, turn) in enumerate(rows):
        if position != number:
            raise SettingError(f"turns[{number}]: it is missing.")
        try:
            turns.append(turn_of(loaded(turn), f"turns[{number}]"))
        except SettingError as cause:
            named = cause.what if cause.what.startswith("turns[") else f"turns[{number}]: {cause.what}"
            raise SettingError(named) from cause
    return turns
