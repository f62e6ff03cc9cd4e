"""Threads in SQLite: the file, its versions, and what may be wrong with it."""

import sqlite3
import stat
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from discussion_helper.errors import SettingError
from discussion_helper.text.artifacts import Text
from discussion_helper.text.errors import SaveError, StoreBusyError, ThreadCorruptError, ThreadNotFoundError
from discussion_helper.text.state import Turn
from discussion_helper.text.threads import database as database_module
from discussion_helper.text.threads import schema
from discussion_helper.text.threads.database import DatabaseShelf
from discussion_helper.text.threads.document import entries_of
from discussion_helper.text.threads.durable import DurableThreads
from discussion_helper.text.threads.sqlite import SqliteThreads

pytestmark = pytest.mark.anyio


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    """Real threads take part: loops on real time."""
    return str(request.param)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where the database is."""
    return tmp_path / "threads.db"


def said(text: str) -> Turn:
    return Turn("user", (Text(text),))


def change(path: Path, *statements: str) -> None:
    with closing(sqlite3.connect(path)) as database, database:
        for statement in statements:
            database.execute(statement)


async def stored_thread(path: Path, *texts: str) -> str:
    async with SqliteThreads(path) as store:
        thread = await store.create(thread_id="my_thread", metadata={"k": "v"})
        for text in texts:
            await store.append(thread, said(text))
    return "my_thread"


async def test_every_commit_is_synced_to_a_log(path: Path) -> None:
    shelf = DatabaseShelf(str(path))
    async with DurableThreads(shelf) as store:
        thread = await store.create()
        assert shelf._connection is not None
        assert ("wal", 2) == (
            shelf._connection.execute("PRAGMA journal_mode").fetchone()[0],
            shelf._connection.execute("PRAGMA synchronous").fetchone()[0],
        )
        await store.append(thread, said("hi"))
        assert path.with_name("threads.db-wal").exists()
    assert not path.with_name("threads.db-wal").exists()
    if sys.platform != "win32":
        assert 0o600 == stat.S_IMODE(path.stat().st_mode)  # noqa: ASYNC240


async def test_a_database_in_memory_ends_with_its_store() -> None:
    async with SqliteThreads(":memory:") as store:
        thread = await store.create()
        await store.append(thread, said("hi"))
        assert [thread.id] == [info.id for info in await store.list()]
        thread_id = thread.id
        del thread
        assert ["hi"] == [turn.text for turn in (await store.get(thread_id)).state.turns]
    async with SqliteThreads(":memory:") as store:
        assert [] == await store.list()


async def test_what_is_no_database_is_named_and_left_as_it_is(path: Path) -> None:
    path.write_bytes(b"Dear diary, " * 1000)  # noqa: ASYNC240
    with pytest.raises(ThreadCorruptError, match=r"threads.db: this is no thread database.*Move it away"):
        await SqliteThreads(path).__aenter__()
    assert b"Dear diary, " * 1000 == path.read_bytes()  # noqa: ASYNC240


async def test_the_database_of_something_else_is_refused(path: Path) -> None:
    change(path, "CREATE TABLE threads (colour TEXT)")
    with pytest.raises(ThreadCorruptError, match="no thread database"):
        await SqliteThreads(path).__aenter__()


async def test_a_damaged_database_is_an_error_with_a_fix(path: Path) -> None:
    thread_id = await stored_thread(path, *("x" * 500 for _ in range(100)))
    data = bytearray(path.read_bytes())  # noqa: ASYNC240
    data[4096:] = b"\x5a" * (len(data) - 4096)
    path.write_bytes(data)  # noqa: ASYNC240
    with pytest.raises(ThreadCorruptError, match="restore it from a backup"):
        async with SqliteThreads(path) as store:
            await store.get(thread_id)


ROWS: list[tuple[str, str]] = [
    ("UPDATE turns SET turn = replace(turn, 'text', 'hologram') WHERE position = 1", "'hologram' cannot be stored"),
    ("UPDATE turns SET turn = '{' WHERE position = 1", "turns[1]: it is no JSON"),
    ("UPDATE turns SET turn = x'ff' WHERE position = 1", "turns[1]: it is no JSON"),
    ("DELETE FROM turns WHERE position = 1", "turns[1]: it is missing"),
    ("UPDATE threads SET created_at = 'once' WHERE id = 'my_thread'", "created_at: 'once' is no time"),
]


@pytest.mark.parametrize(("statement", "says"), ROWS)
async def test_a_corrupt_thread_is_named_and_its_neighbours_load(path: Path, statement: str, says: str) -> None:
    thread_id = await stored_thread(path, "0", "1", "2")
    change(path, statement)
    async with SqliteThreads(path) as store:
        good = await store.create()
        with pytest.raises(ThreadCorruptError, match="Delete the thread") as caught:
            await store.get(thread_id)
        assert thread_id in str(caught.value)
        assert says in str(caught.value)
        assert says in store.problems[thread_id]
        assert good.id in [info.id for info in await store.list()]
        assert await store.delete(thread_id)
        assert {} == store.problems


NO_TEXT = "CAST(X'ff41ff41ff41ff41' AS TEXT)"  # as long as an id
HEADS = [
    f"UPDATE threads SET updated_at = {NO_TEXT} WHERE id = 'my_thread'",
    f"UPDATE threads SET created_at = {NO_TEXT} WHERE id = 'my_thread'",
    "UPDATE threads SET created_at = X'ff' WHERE id = 'my_thread'",
    "UPDATE threads SET created_at = 9223372036854775807 WHERE id = 'my_thread'",
    "UPDATE threads SET updated_at = '0001-01-01T00:00:00+14:00' WHERE id = 'my_thread'",
    f"UPDATE metadata SET value = {NO_TEXT} WHERE thread_id = 'my_thread'",
    "UPDATE metadata SET value = X'ff' WHERE thread_id = 'my_thread'",
    f"UPDATE metadata SET key = {NO_TEXT} WHERE thread_id = 'my_thread'",
]
IDS = [
    f"UPDATE threads SET id = {NO_TEXT} WHERE id = 'my_thread'",
    "UPDATE threads SET id = X'ff41ff41ff41ff41' WHERE id = 'my_thread'",
    "UPDATE threads SET id = 'my' || char(27) || '[2Jthread' WHERE id = 'my_thread'",
    "UPDATE threads SET id = 5 WHERE id = 'my_thread'",
]


@pytest.mark.parametrize("statement", [*HEADS, *IDS])
async def test_a_row_that_cannot_be_read_hides_no_other_thread(
    path: Path, statement: str, caplog: pytest.LogCaptureFixture
) -> None:
    thread_id = await stored_thread(path, "0")
    async with SqliteThreads(path) as store:
        good = (await store.create(metadata={"k": "v"})).id
    change(path, "PRAGMA foreign_keys = OFF", statement)
    async with SqliteThreads(path) as store:
        assert [good] == [info.id for info in await store.list()]
        [(name, problem)] = store.problems.items()
        assert [problem] == caplog.messages
        assert (name + problem).isprintable()
        with pytest.raises(ThreadCorruptError if statement in HEADS else ThreadNotFoundError):
            await store.get(thread_id)
        assert good == (await store.get(good)).id
        assert [good] == [entry["id"] for entry in await entries_of(store)]
        if statement in HEADS:
            assert thread_id in problem
            assert await store.delete(thread_id)
            assert {} == store.problems


@pytest.mark.parametrize("statement", IDS)
async def test_a_thread_without_a_usable_id_is_not_found_before_another(path: Path, statement: str) -> None:
    await stored_thread(path, "0")
    async with SqliteThreads(path) as store:
        good = (await store.create(metadata={"k": "v"})).id
    new = statement.partition(" = ")[2].partition(" WHERE")[0]
    change(path, statement, f"UPDATE metadata SET thread_id = {new} WHERE thread_id = 'my_thread'")
    async with SqliteThreads(path) as store:
        found = await store.find("k", "v")
        assert found is not None
        assert good == found.id


async def test_a_thread_in_memory_puts_its_metadata_right_again(path: Path) -> None:
    async with SqliteThreads(path) as store:
        thread = await store.create(metadata={"k": "v"})
        change(path, f"UPDATE metadata SET value = {NO_TEXT}")
        await store.append(thread, said("0"))
        assert [{"k": "v"}] == [info.metadata for info in await store.list()]


async def test_a_full_disk_loses_nothing_that_was_stored(path: Path) -> None:
    shelf = DatabaseShelf(str(path))
    async with DurableThreads(shelf) as store:
        thread = await store.create()
        await store.append(thread, said("1"))
        assert shelf._connection is not None
        shelf._connection.execute("PRAGMA max_page_count = 1")
        with pytest.raises(SaveError, match="no space") as caught:
            await store.append(thread, said("x" * 1_000_000))
        assert "disk" in caught.value.fix
        assert ["1"] == [turn.text for turn in thread.state.turns]
        shelf._connection.execute("PRAGMA max_page_count = 100000")
        await store.append(thread, said("2"))
    async with SqliteThreads(path) as store:
        assert ["1", "2"] == [turn.text for turn in (await store.get(thread.id)).state.turns]


async def test_of_several_turns_all_are_stored_or_none(path: Path) -> None:
    thread_id = await stored_thread(path, "0")
    change(
        path,
        "CREATE TRIGGER stop BEFORE INSERT ON turns WHEN NEW.position = 2 BEGIN SELECT RAISE(ABORT, 'stopped'); END",
    )
    async with SqliteThreads(path) as store:
        thread = await store.get(thread_id)
        updated = thread.updated_at
        thread.state.append(said("1"))
        thread.state.append(said("2"))
        thread.metadata["k"] = "changed"
        with pytest.raises(SaveError, match="stopped"):
            await store.save(thread)
    async with SqliteThreads(path) as store:
        again = await store.get(thread_id)
        assert (["0"], {"k": "v"}, updated) == (
            [turn.text for turn in again.state.turns],
            again.metadata,
            again.updated_at,
        )
    change(path, "DROP TRIGGER stop")
    async with SqliteThreads(path) as store:
        again = await store.get(thread_id)
        await store.append(again, said("1"))
        assert ["0", "1"] == [turn.text for turn in again.state.turns]


async def test_a_path_that_cannot_be_is_an_error_in_one_line(tmp_path: Path) -> None:
    tmp_path.joinpath("file").write_text("", encoding="utf-8")
    tmp_path.joinpath("folder").mkdir()
    for bad in (tmp_path / "file" / "threads.db", tmp_path / "folder"):
        with pytest.raises(SaveError) as caught:
            await SqliteThreads(bad).__aenter__()
        assert str(bad) in str(caught.value)
        assert caught.value.fix
    for bad_name in ("", "a\0b"):
        with pytest.raises(SettingError, match="path"):
            SqliteThreads(bad_name)


async def test_a_database_that_cannot_be_written_says_so(path: Path) -> None:
    await stored_thread(path)
    shelf = DatabaseShelf(str(path))
    async with DurableThreads(shelf) as store:
        thread = await store.get("my_thread")
        assert shelf._connection is not None
        shelf._connection.execute("PRAGMA query_only = ON")
        with pytest.raises(SaveError, match="can be written"):
            await store.append(thread, said("hi"))
        assert 0 == len(thread.state)


async def test_waiting_for_another_process_has_an_end(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database_module, "BUSY_S", 0.05)
    async with SqliteThreads(path) as store:
        thread = await store.create()
        with closing(sqlite3.connect(path, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            with pytest.raises(StoreBusyError, match="another process") as caught:
                await store.append(thread, said("1"))
            assert "Try again" in caught.value.fix
            assert 0 == len(thread.state)
            assert thread is await store.get(thread.id)
            other.execute("ROLLBACK")
        await store.append(thread, said("2"))
    async with SqliteThreads(path) as store:
        assert ["2"] == [turn.text for turn in (await store.get(thread.id)).state.turns]


async def test_a_thread_that_another_process_deleted_is_gone(path: Path) -> None:
    thread_id = await stored_thread(path, "1")
    async with SqliteThreads(path) as store:
        thread = await store.get(thread_id)
        async with SqliteThreads(path) as other:
            assert await other.delete(thread_id)
        with pytest.raises(SaveError, match="was deleted"):
            await store.append(thread, said("2"))
        del thread
        with pytest.raises(ThreadNotFoundError):
            await store.get(thread_id)


@pytest.mark.skipif(sys.platform == "win32", reason="a file that is open cannot be deleted there")
async def test_nothing_is_acknowledged_that_goes_to_a_file_which_is_not_there_any_more(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(path.parent)
    async with SqliteThreads(path.name) as store:
        thread = await store.create()
        monkeypatch.chdir("/")
        await store.append(thread, said("1"))
        path.rename(path.with_name("moved.db"))  # noqa: ASYNC240
        for _ in ("deleted", "replaced"):
            with pytest.raises(SaveError, match=r"threads.db: the file was deleted or replaced.*Put it back"):
                await store.append(thread, said("lost"))
            with pytest.raises(SaveError, match="deleted or replaced"):
                await store.create()
            path.touch()  # noqa: ASYNC240
        assert ["1"] == [turn.text for turn in thread.state.turns]
        path.with_name("moved.db").replace(path)
        await store.append(thread, said("2"))
    async with SqliteThreads(path) as store:
        assert ["1", "2"] == [turn.text for turn in (await store.get(thread.id)).state.turns]


async def test_migrations_are_applied_once_and_in_order(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    thread_id = await stored_thread(path, "1")
    applied: list[str] = []
    later: Callable[[sqlite3.Connection], object] = lambda database: applied.append("002 later")  # noqa: E731
    monkeypatch.setattr(schema, "MIGRATIONS", {**schema.MIGRATIONS, "002 later": later})
    for _ in range(2):
        async with SqliteThreads(path) as store:
            assert 1 == len((await store.get(thread_id)).state)
    assert ["002 later"] == applied


async def test_a_migration_that_fails_leaves_nothing(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    thread_id = await stored_thread(path, "1")

    def later(database: sqlite3.Connection) -> None:
        database.execute("DROP TABLE turns")
        raise sqlite3.OperationalError("no")

    with monkeypatch.context() as patched:
        patched.setattr(schema, "MIGRATIONS", {**schema.MIGRATIONS, "002 later": later})
        with pytest.raises(SaveError):
            await SqliteThreads(path).__aenter__()
    async with SqliteThreads(path) as store:
        assert 1 == len((await store.get(thread_id)).state)


@pytest.mark.parametrize("more", ["", f", ({NO_TEXT}, '')", ", (X'ff', ''), (5, '')"])
async def test_the_database_of_a_newer_version_is_left_alone(path: Path, more: str) -> None:
    await stored_thread(path, "1")
    change(path, f"INSERT INTO migrations VALUES ('999 the future', ''){more}")
    with pytest.raises(ThreadCorruptError, match=r"newer version.*999 the future.*Update"):
        await SqliteThreads(path).__aenter__()
