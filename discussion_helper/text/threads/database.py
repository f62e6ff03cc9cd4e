"""A database of threads, which several processes may have open."""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from discussion_helper.errors import DiscussionError, SettingError
from discussion_helper.text.errors import SaveError, StoreBusyError, ThreadCorruptError
from discussion_helper.text.threads.base import ThreadInfo
from discussion_helper.text.threads.codec import info_data
from discussion_helper.text.threads.open_file import OpenFile
from discussion_helper.text.threads.rows import is_id, read_info, read_text, read_turns
from discussion_helper.text.threads.schema import migrate
from discussion_helper.text.threads.shelf import GoneError, Loaded, OvertakenError

__all__ = ["BUSY_S", "MEMORY", "DatabaseShelf"]

BUSY_S = 2.0
"""How long one call waits for another process; a stream gives storing a turn 5 s."""
MEMORY = ":memory:"
"""SQLite's name for a database that ends with its connection."""
_HEAD = "SELECT id, created_at, updated_at FROM threads"


class DatabaseShelf:
    """A `Shelf`. One connection; turns are rows whose key says their place, so that nobody overwrites another's."""

    whole = False

    def __init__(self, path: str) -> None:
        self._path = path
        self._connection: sqlite3.Connection | None = None
        self._file: OpenFile | None = None
        self.problems: dict[str, str] = {}

    # -- open and closed

    def open(self) -> None:
        """See Shelf."""
        with self._told():
            if self._path != MEMORY:
                path = Path(self._path)
                path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
                path.touch(mode=0o600)
                self._file = OpenFile(self._path)
            # The calls come from different worker threads, one at a time.
            self._connection = sqlite3.connect(
                self._path, timeout=BUSY_S, isolation_level=None, check_same_thread=False
            )
            self._connection.text_factory = read_text
            self._set_up(self._connection)

    def _set_up(self, database: sqlite3.Connection) -> None:
        if database.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
            database.execute("PRAGMA journal_mode = WAL")
        database.execute("PRAGMA synchronous = FULL")
        database.execute("PRAGMA foreign_keys = ON")
        with self._transaction():
            newer = migrate(database)
        if newer:
            what = f"{self._path}: a newer version of this package made it ({', '.join(newer)[:80]})."
            raise ThreadCorruptError(what, fix="Update the package, or use another file.")

    def close(self) -> None:
        """See Shelf."""
        database, self._connection = self._connection, None
        if database is not None:
            with self._told():
                database.close()

    @property
    def _database(self) -> sqlite3.Connection:
        if self._connection is None:
            raise RuntimeError("the database is not open")
        return self._connection

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        """All of it, or nothing; others write before or after."""
        self._database.execute("BEGIN IMMEDIATE")
        try:
            if self._file is not None:
                self._file.check()
            yield
            self._database.execute("COMMIT")
        except BaseException:
            if self._database.in_transaction:
                self._database.execute("ROLLBACK")
            raise

    # -- errors

    @contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, OSError) as cause:
            raise self._error_of(cause) from cause

    def _error_of(self, cause: sqlite3.Error | OSError) -> DiscussionError:
        code = getattr(cause, "sqlite_errorcode", 0) & 0xFF  # the rest is detail
        if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            what = f"{self._path}: another process kept the thread database for more than {BUSY_S:g} s."
            return StoreBusyError(what, fix="Try again, or stop it.")
        if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR):
            what = f"{self._path}: this is no thread database, or a damaged one ({cause})."
            return ThreadCorruptError(what, fix="Move it away, restore it from a backup, or use another file.")
        if code == sqlite3.SQLITE_FULL:
            return SaveError(f"{self._path}: there is no space for more threads.", fix="Make space on the disk.")
        reason = getattr(cause, "strerror", None) or cause
        return SaveError(f"{self._path}: {reason}.", fix="See that the file and its folder can be written.")

    def _corrupt(self, thread_id: object, why: str) -> ThreadCorruptError:
        named, fix = thread_id, "Delete the thread, or restore the database from a backup."
        if not is_id(thread_id):
            named, fix = ascii(thread_id)[:80], "Restore the database from a backup."
        error = ThreadCorruptError(f"{self._path}: thread {named}: {why}", fix=fix)
        self.problems[str(named)] = str(error)
        return error

    # -- reading

    def load(self, thread_id: str) -> Loaded | None:
        """See Shelf."""
        with self._told():
            self._database.execute("BEGIN")  # head and turns of one moment
            try:
                head = self._database.execute(f"{_HEAD} WHERE id = ?", (thread_id,)).fetchone()
                metadata = self._metadata("WHERE thread_id = ?", thread_id).get(thread_id, {})
                rows = self._database.execute(
                    "SELECT position, CAST(turn AS BLOB) FROM turns WHERE thread_id = ? ORDER BY position", (thread_id,)
                ).fetchall()
            finally:
                self._database.execute("ROLLBACK")
        if head is None:
            return None
        try:
            found = Loaded(read_info(head, metadata), read_turns(rows), [])
        except SettingError as cause:
            raise self._corrupt(thread_id, cause.what) from cause
        self.problems.pop(thread_id, None)
        return found

    def _metadata(self, where: str = "", *values: str) -> dict[str, dict[str, str]]:
        found: dict[str, dict[str, str]] = {}
        for thread_id, key, value in self._database.execute(
            f"SELECT thread_id, key, value FROM metadata {where}", values
        ):
            found.setdefault(thread_id, {})[key] = value
        return found

    # -- writing

    def create(self, info: ThreadInfo) -> bool:
        """See Shelf."""
        data = info_data(info)
        with self._told(), self._transaction():
            row = (data["id"], data["created_at"], data["updated_at"])
            made = self._database.execute("INSERT OR IGNORE INTO threads VALUES (?, ?, ?)", row).rowcount
            if made:
                self._put_metadata(info)
        return bool(made)

    def write(self, info: ThreadInfo, start: int, turns: Sequence[bytes]) -> None:
        """See Shelf."""
        data = info_data(info)
        with self._told(), self._transaction():
            row = (data["updated_at"], info.id)
            if not self._database.execute("UPDATE threads SET updated_at = ? WHERE id = ?", row).rowcount:
                raise GoneError(f"Thread {info.id} was deleted.", fix="Make a new one.")
            self._check_place(info.id, start)
            rows = [(info.id, start + number, turn.decode()) for number, turn in enumerate(turns)]
            self._database.executemany("INSERT INTO turns VALUES (?, ?, ?)", rows)
            self._put_metadata(info)

    def _check_place(self, thread_id: str, start: int) -> None:
        last = self._database.execute("SELECT max(position) FROM turns WHERE thread_id = ?", (thread_id,)).fetchone()[0]
        if (-1 if last is None else last) != start - 1:
            what = f"Thread {thread_id}: another process has written to it."
            raise OvertakenError(what, fix="End one of the two, and open it again: one process at a time may have it.")

    def _put_metadata(self, info: ThreadInfo) -> None:
        if self._metadata("WHERE thread_id = ?", info.id).get(info.id, {}) == info.metadata:
            return
        self._database.execute("DELETE FROM metadata WHERE thread_id = ?", (info.id,))
        rows = [(info.id, key, value) for key, value in info.metadata.items()]
        self._database.executemany("INSERT INTO metadata VALUES (?, ?, ?)", rows)

    def delete(self, thread_id: str) -> bool:
        """See Shelf."""
        with self._told(), self._transaction():
            gone = self._database.execute("DELETE FROM threads WHERE id = ?", (thread_id,)).rowcount
        self.problems.pop(thread_id, None)
        return bool(gone)

    # -- looking around

    def survey(self) -> bool:
        """See Shelf; a query needs none."""
        return True

    def infos(self) -> list[ThreadInfo]:
        """See Shelf."""
        with self._told():
            heads = self._database.execute(_HEAD).fetchall()
            metadata = self._metadata()
        return [info for head in heads if (info := self._listed(head, metadata.get(head[0], {}))) is not None]

    def _listed(self, head: tuple[str, str, str], metadata: dict[str, str]) -> ThreadInfo | None:
        try:
            return read_info(head, metadata)
        except SettingError as cause:
            self._corrupt(head[0], cause.what)
            return None

    def find(self, key: str, value: str) -> str | None:
        """See Shelf."""
        with self._told():
            found = self._database.execute(
                "SELECT id FROM threads JOIN metadata ON thread_id = id WHERE key = ? AND value = ?"
                " ORDER BY created_at",
                (key, value),
            )
            return next((thread_id for (thread_id,) in found if is_id(thread_id)), None)
