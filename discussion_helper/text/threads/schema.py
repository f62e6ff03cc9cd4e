"""The tables of the thread database, and the steps by which older ones become these."""

import sqlite3
from collections.abc import Callable
from datetime import UTC, datetime

__all__ = ["MIGRATIONS", "Migration", "migrate"]

Migration = Callable[[sqlite3.Connection], object]


def _threads_and_turns(database: sqlite3.Connection) -> None:
    """A row for each thread, each of its turns and each key of its metadata."""
    database.execute(
        "CREATE TABLE threads (id TEXT PRIMARY KEY, created_at TEXT NOT NULL, updated_at TEXT NOT NULL) WITHOUT ROWID"
    )
    database.execute(
        "CREATE TABLE turns (thread_id TEXT NOT NULL REFERENCES threads (id) ON DELETE CASCADE,"
        " position INTEGER NOT NULL, turn TEXT NOT NULL, PRIMARY KEY (thread_id, position))"
    )
    database.execute(
        "CREATE TABLE metadata (thread_id TEXT NOT NULL REFERENCES threads (id) ON DELETE CASCADE,"
        " key TEXT NOT NULL, value TEXT NOT NULL, PRIMARY KEY (thread_id, key)) WITHOUT ROWID"
    )
    database.execute("CREATE INDEX metadata_by_value ON metadata (key, value)")


MIGRATIONS: dict[str, Migration] = {"001 threads and turns": _threads_and_turns}
"""By name, in their order. One that was released is never changed."""


def migrate(database: sqlite3.Connection) -> list[str]:
    """Apply what is missing, inside the caller's transaction; returns names that a newer version has applied."""
    database.execute("CREATE TABLE IF NOT EXISTS migrations (name TEXT PRIMARY KEY, applied_at TEXT NOT NULL)")
    applied = {name for (name,) in database.execute("SELECT name FROM migrations")}
    for name, step in MIGRATIONS.items():
        if name not in applied:
            step(database)
            database.execute("INSERT INTO migrations VALUES (?, ?)", (name, datetime.now(UTC).isoformat()))
    return sorted(ascii(name)[1:-1] for name in map(str, applied - set(MIGRATIONS)))
