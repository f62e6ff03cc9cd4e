"""A folder of JSON files, one for each thread, that belongs to one process at a time."""

import logging
import os
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from secrets import token_hex
from typing import Any

import filelock

from discussion_helper.errors import SettingError
from discussion_helper.regular_file import NO_FILE, check_replaceable, regular_bytes
from discussion_helper.text.errors import SaveError, StoreBusyError, ThreadCorruptError, ThreadNotFoundError
from discussion_helper.text.threads.base import ThreadInfo, checked_id
from discussion_helper.text.threads.codec import dumped, info_data, info_from, loaded, turn_data, turn_of
from discussion_helper.text.threads.shelf import GoneError, Loaded

__all__ = ["LARGEST_FILE", "LOCK", "FolderShelf"]

LARGEST_FILE = 256 * 1024 * 1024
"""Bytes of one file."""
LOCK = ".lock"
"""The file whose lock the owner of the folder holds; the operating system lets it go when the owner dies."""
_SURVEY_S = 0.05
"""How long one piece of a survey may take; turns wait for no longer than that, and one file."""
_FIELDS = {"id", "created_at", "updated_at", "metadata", "turns"}

_log = logging.getLogger(__name__)


class FolderShelf:
    """A `Shelf`. It knows the heads of the files that it has seen, as nobody else may change them."""

    whole = True

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        # Opened and closed from different worker threads, hence not thread_local.
        self._lock = filelock.FileLock(folder / LOCK, timeout=0, thread_local=False, fallback_to_soft=False)
        self._syncs = False
        self._heads: dict[str, ThreadInfo] = {}
        self._unseen: list[Path] | None = None
        self.problems: dict[str, str] = {}

    # -- open and closed

    def open(self) -> None:
        """See Shelf."""
        try:
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._lock.acquire()
        except filelock.Timeout:
            what = f"{self._folder}: another store has this folder of threads."
            raise StoreBusyError(what, fix="Close it, or use another folder or SqliteThreads.") from None
        except (OSError, NotImplementedError, ValueError) as cause:
            raise self._unusable(cause) from cause
        self._sweep()
        self._syncs = _can_sync(self._folder)

    def close(self) -> None:
        """See Shelf."""
        self._heads.clear()
        self._unseen = None
        self._lock.release()

    def _sweep(self) -> None:
        """Remove what a process left that was killed while it wrote."""
        for left in self._folder.glob(".*.tmp"):
            try:
                left.unlink()
            except OSError as error:
                _log.warning("%s is left over and cannot be removed: %s", left, error)

    def _unusable(self, cause: Exception) -> SaveError:
        what = f"{self._folder}: this folder of threads cannot be used: {_reason(cause)}."
        return SaveError(what, fix="Choose a folder that can be written.")

    # -- reading

    def load(self, thread_id: str) -> Loaded | None:
        """See Shelf."""
        path = self._path(thread_id)
        try:
            if not os.path.lexists(path):
                return None
            found = self._read(path)
        except SettingError as cause:
            raise self._corrupt(path, cause.what) from cause
        if found.info.id != thread_id:
            if found.info.id.lower() == thread_id.lower():  # a file system to which they are one name
                return None
            raise self._corrupt(path, f"id: it holds the thread {found.info.id[:80]!r}.")
        self.problems.pop(path.name, None)
        self._heads[thread_id] = found.info
        return found

    def _read(self, path: Path) -> Loaded:
        data = loaded(_bytes_of(path))
        if not isinstance(data, dict) or not isinstance(data.get("turns"), list):
            raise SettingError("it is no object with a list of turns.")
        if unknown := set(data) - _FIELDS:
            raise SettingError(f"{ascii(', '.join(sorted(unknown))[:80])[1:-1]}: this is unknown here.")
        turns = [turn_of(each, f"turns[{number}]") for number, each in enumerate(data["turns"])]
        return Loaded(info_from(data), turns, [dumped(turn_data(turn)) for turn in turns])

    def _corrupt(self, path: Path, why: str) -> ThreadCorruptError:
        error = ThreadCorruptError(f"{path}: {why}", fix="Repair it, or move it out of the folder.")
        self.problems[path.name] = str(error)
        return error

    def _path(self, thread_id: str) -> Path:
        return self._folder / f"{checked_id(thread_id)}.json"

    # -- writing

    def create(self, info: ThreadInfo) -> bool:
        """See Shelf."""
        path = self._path(info.id)
        if os.path.lexists(path):
            return False
        self._replace(path, info, ())
        return True

    def write(self, info: ThreadInfo, start: int, turns: Sequence[bytes]) -> None:  # noqa: ARG002
        """See Shelf; a file is written as a whole, so `start` is 0."""
        path = self._path(info.id)
        if not os.path.lexists(path):
            raise GoneError(
                f"{path}: the file has gone.", fix="Put it back and get the thread again, or make a new one."
            )
        self._replace(path, info, turns)

    def _replace(self, path: Path, info: ThreadInfo, turns: Sequence[bytes]) -> None:
        data = b'%s,"turns":[\n%s\n]}\n' % (dumped(info_data(info)).removesuffix(b"}"), b",\n".join(turns))
        if len(data) > LARGEST_FILE:
            raise SaveError(f"{path}: it would have more than {LARGEST_FILE} bytes.", fix="Make a new thread.")
        temporary = self._folder / f".{info.id}.{token_hex(8)}.tmp"
        try:
            check_replaceable(path)
            _write_new(temporary, data)
            os.replace(temporary, path)
            self._sync()
        except OSError as cause:
            temporary.unlink(missing_ok=True)
            what = f"{path}: it cannot be written: {_reason(cause)}."
            raise SaveError(what, fix="See that the folder can be written and that there is space.") from cause
        self._heads[info.id] = info

    def delete(self, thread_id: str) -> bool:
        """See Shelf."""
        path = self._path(thread_id)
        try:
            path.unlink()
            self._sync()
        except FileNotFoundError:
            return False
        except OSError as cause:
            raise SaveError(f"{path}: it cannot be deleted: {_reason(cause)}.", fix="See to the folder.") from cause
        self._heads.pop(thread_id, None)
        self.problems.pop(path.name, None)
        return True

    def _sync(self) -> None:
        if self._syncs:
            _sync_folder(self._folder)

    # -- looking around

    def survey(self) -> bool:
        """See Shelf."""
        if self._unseen is None:
            self._unseen = self._files()
        ends = time.monotonic() + _SURVEY_S
        while self._unseen:
            self._look_at(self._unseen.pop())
            if time.monotonic() >= ends:
                break
        return not self._unseen

    def _files(self) -> list[Path]:
        try:
            return sorted(self._folder.glob("*.json"), reverse=True)
        except OSError as cause:
            raise self._unusable(cause) from cause

    def _look_at(self, path: Path) -> None:
        if path.stem in self._heads:
            return
        try:
            self.load(path.stem)
        except ThreadNotFoundError:
            self._corrupt(path, "its name is no thread's.")
        except ThreadCorruptError:
            pass  # it is among the problems

    def infos(self) -> list[ThreadInfo]:
        """See Shelf."""
        return [replace(info, metadata=dict(info.metadata)) for info in self._heads.values()]

    def find(self, key: str, value: str) -> str | None:
        """See Shelf."""
        having = [info for info in self._heads.values() if key in info.metadata and info.metadata[key] == value]
        return min(having, key=lambda info: info.created_at).id if having else None


def _bytes_of(path: Path) -> bytes:
    try:
        data = regular_bytes(path, LARGEST_FILE + 1)
    except OSError as cause:
        if isinstance(cause, IsADirectoryError) or cause.strerror == NO_FILE:
            raise SettingError("it is no file.") from None
        raise SettingError(f"it cannot be read: {_reason(cause)}.") from cause
    if len(data) > LARGEST_FILE:
        raise SettingError(f"it has more than {LARGEST_FILE} bytes.")
    return data


def _write_new(path: Path, data: bytes) -> None:
    """Write a new file that only its owner may read, down to the disk."""
    with open(path, "xb", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def _can_sync(folder: Path) -> bool:
    """Whether the folder itself can be synced, which makes a rename durable; Windows has no such call."""
    try:
        _sync_folder(folder)
    except OSError:
        return False
    return True


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _reason(cause: BaseException) -> Any:
    return getattr(cause, "strerror", None) or cause
