"""The paths of sessions and threads, and where a watcher left off: what is none of these goes into no request."""

import re
from urllib.parse import quote

from discussion_helper.errors import SettingError
from discussion_helper.shown import shown

__all__ = ["LONGEST_ID", "check_cursor", "check_kinds", "session_path", "thread_path"]

LONGEST_ID = 128
"""Characters. The server's own have 22."""
_LONGEST_CURSOR = 200
_MOST_KINDS = 100
"""More than there are."""
_KIND = re.compile(r"[!-+.-~-]{1,64}")
"""No comma, which stands between two of them in the address."""
_ELSEWHERE = re.compile(r"[/\\%?#]")
"""What a path is made of, or what somebody on the way may take for that."""


def session_path(session_id: str, what: str = "") -> str:
    """Raises SettingError for what is no id."""
    return f"/sessions/{_quoted('session_id', session_id)}" + (f"/{what}" if what else "")


def thread_path(thread_id: str) -> str:
    """Raises SettingError for what is no id."""
    return f"/threads/{_quoted('thread_id', thread_id)}"


def check_cursor(name: str, cursor: str) -> None:
    """Raises SettingError for what no event has as its id. `name`: what whoever gave it calls it; "" is none yet."""
    if not isinstance(cursor, str) or len(cursor) > _LONGEST_CURSOR or not _is_word(cursor):
        raise SettingError(f"{name}: {shown(cursor)} is the id of no event.", fix="Use what you were given, or none.")


def check_kinds(kinds: tuple[str, ...]) -> None:
    """Raises SettingError for what is no name, and for more names than there are kinds."""
    for kind in kinds:
        if not isinstance(kind, str) or not _KIND.fullmatch(kind):
            fix = 'Use names, each by itself, or "*" for all.'
            raise SettingError(f"kinds: {shown(kind)} is no kind of event.", fix=fix)
    if len(set(kinds)) > _MOST_KINDS:
        raise SettingError(f"kinds: there are no {len(set(kinds))} kinds of events.", fix='Use "*" for all.')


def _quoted(name: str, told: str) -> str:
    if not isinstance(told, str) or not _is_id(told):
        raise SettingError(f"{name}: {shown(told)} is no id.", fix="Use one that the server gave.")
    return quote(told, safe="")


def _is_id(told: str) -> bool:
    is_name = len(told) <= LONGEST_ID and told.isprintable() and bool(told.strip(". "))
    return is_name and not _ELSEWHERE.search(told)


def _is_word(text: str) -> bool:
    return text.isascii() and text.isprintable() and " " not in text
