"""What every store of threads does, in memory, in files and in a database."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import anyio
import pytest

from discussion_helper.errors import SettingError
from discussion_helper.text.artifacts import Image, Reasoning, Text, ToolCall, ToolResult, Usage
from discussion_helper.text.errors import SaveError, ThreadNotFoundError
from discussion_helper.text.state import State, Turn
from discussion_helper.text.threads.base import Thread, ThreadStore
from discussion_helper.text.threads.json_files import JsonThreads
from discussion_helper.text.threads.memory import MemoryThreads
from discussion_helper.text.threads.sqlite import SqliteThreads

pytestmark = pytest.mark.anyio

Open = Callable[[], AbstractAsyncContextManager[ThreadStore]]
DURABLE = ["json", "sqlite"]
BAD_IDS = [
    "",
    "../x",
    "x/../y",
    "../../etc/passwd",
    "short",
    "a" * 65,
    "abcdefgh\0",
    "a\\b\\c\\d\\e",
    "abcdefgh.",
    "äbcdefgh",
]
ALL = (
    Text("Grüße, 世界 \N{GRINNING FACE}\0\u2028"),
    Reasoning("hm"),
    ToolCall("c1", "weather", '{"city": '),
    ToolResult("c1", "rain", {"mm": [1, 2.5, None, True], "": {}}, is_error=True),
    ToolResult("c2", value=0),
    Usage(1, 2, 3),
    Image("data:image/png;base64,AA=="),
)


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    """Real threads take part: loops on real time."""
    return str(request.param)


@pytest.fixture
def kind() -> str:
    """Overridden by the parametrisation."""
    return "memory"


@pytest.fixture
def opened(kind: str, tmp_path: Path) -> Open:
    """Opens a store; always the same one."""
    memory = MemoryThreads()
    makers: dict[str, Callable[[], Any]] = {
        "memory": lambda: memory,
        "json": lambda: JsonThreads(tmp_path / "threads"),
        "sqlite": lambda: SqliteThreads(tmp_path / "deeper" / "threads.db"),
    }
    return makers[kind]


each = pytest.mark.parametrize("kind", ["memory", *DURABLE])
durable = pytest.mark.parametrize("kind", DURABLE)


def said(text: str) -> Turn:
    return Turn("user", (Text(text),))


def files_in(folder: Path) -> dict[Path, int]:
    """And when each was changed."""
    return {path: path.stat().st_mtime_ns for path in folder.rglob("*")}


def texts_of(thread: Thread) -> list[str]:
    return [turn.text for turn in thread.state.turns]


@each
async def test_a_thread_comes_back_equal_from_a_new_store(opened: Open) -> None:
    turns = [Turn("system"), Turn("user", ALL, interrupted=True), Turn("tool", ALL[3:4]), Turn("assistant", ALL)]
    async with opened() as store:
        made = await store.create(metadata={"who": "Ann\0", "": "ü"})
        for turn in turns:
            await store.append(made, turn)
    async with opened() as store:
        thread = await store.get(made.id)
        assert turns == list(thread.state.turns)
        kinds = [[type(each) for each in turn.artifacts] for turn in thread.state.turns]
        assert [[type(each) for each in turn.artifacts] for turn in turns] == kinds
        assert [turn.at for turn in turns] == [turn.at for turn in thread.state.turns]
        assert {"who": "Ann\0", "": "ü"} == thread.metadata
        assert (made.created_at, made.updated_at) == (thread.created_at, thread.updated_at)


@each
async def test_a_new_thread_is_stored_at_once_and_empty(opened: Open) -> None:
    async with opened() as store:
        made = await store.create()
    async with opened() as store:
        thread = await store.get(made.id)
        assert (0, {}) == (len(thread.state), thread.metadata)


@each
async def test_an_id_can_be_asked_for_once(opened: Open) -> None:
    async with opened() as store:
        for wanted in ("a-wish_Of", "x" * 64):
            assert wanted == (await store.create(thread_id=wanted)).id
            with pytest.raises(SettingError, match="taken"):
                await store.create(thread_id=wanted)
    async with opened() as store:
        with pytest.raises(SettingError, match="taken"):
            await store.create(thread_id="a-wish_Of")


@each
async def test_of_concurrent_wishes_for_an_id_one_is_granted(opened: Open) -> None:
    granted: list[Thread] = []

    async def wish(store: ThreadStore) -> None:
        with suppress(SettingError):
            granted.append(await store.create(thread_id="wanted_by_all"))

    async with opened() as store, anyio.create_task_group() as tasks:
        for _ in range(10):
            tasks.start_soon(wish, store)
    assert 1 == len(granted)


@each
@pytest.mark.parametrize("bad", BAD_IDS)
async def test_a_bad_id_is_no_thread(opened: Open, bad: str, tmp_path: Path) -> None:
    async with opened() as store:
        before = files_in(tmp_path)
        with pytest.raises(ThreadNotFoundError):
            await store.get(bad)
        with pytest.raises(SettingError, match="thread_id"):
            await store.create(thread_id=bad)
        assert not await store.delete(bad)
        assert before == files_in(tmp_path)


@each
async def test_an_unknown_id_is_not_found(opened: Open) -> None:
    async with opened() as store:
        with pytest.raises(ThreadNotFoundError, match="never_was"):
            await store.get("never_was")
        assert not await store.delete("never_was")


@each
async def test_whoever_holds_a_thread_holds_the_same_one(opened: Open) -> None:
    async with opened() as store:
        made = await store.create(metadata={"k": "v"})
        got: list[Thread] = []

        async def get() -> None:
            got.append(await store.get(made.id))

        async with anyio.create_task_group() as tasks:
            for _ in range(20):
                tasks.start_soon(get)
        assert all(thread is made for thread in got)
        assert 20 == len(got)
        assert made is await store.find("k", "v")


@durable
async def test_concurrent_loads_give_one_thread(opened: Open) -> None:
    async with opened() as store:
        thread_id = (await store.create()).id
    async with opened() as store:
        got: list[Thread] = []

        async def get() -> None:
            got.append(await store.get(thread_id))

        async with anyio.create_task_group() as tasks:
            for _ in range(20):
                tasks.start_soon(get)
        assert 1 == len(set(map(id, got)))


@each
async def test_find_takes_the_oldest_with_that_very_value(opened: Open) -> None:
    async with opened() as store:
        await store.create()
        old = await store.create(metadata={"slack": "C1", "empty": ""})
        new = await store.create(metadata={"slack": "C1"})
        assert old is await store.find("slack", "C1")
        assert old is await store.find("empty", "")
        for key, value in (("slack", ""), ("missing", ""), ("missing", "None"), ("slack", "c1"), ("%", "%")):
            assert await store.find(key, value) is None
        for nothing in (None, 1, "\ud800"):
            assert await store.find("missing", nothing) is None  # type: ignore[arg-type]
        await store.delete(old.id)
        assert new is await store.find("slack", "C1")


@each
async def test_metadata_counts_once_it_is_saved(opened: Open) -> None:
    async with opened() as store:
        thread = await store.create(metadata={"a": "1", "b": "2"})
        thread.metadata = {"b": "3"}
        assert await store.find("b", "3") is None
        await store.save(thread)
        assert thread is await store.find("b", "3")
        assert await store.find("a", "1") is None
    async with opened() as store:
        assert {"b": "3"} == (await store.get(thread.id)).metadata


@each
@pytest.mark.parametrize("bad", [{"k": 1}, {1: "v"}, {"k": None}, {"k": "x" * 70_000}, {"k": "\ud800"}, ["k"]])
async def test_metadata_is_texts(opened: Open, bad: Any) -> None:
    async with opened() as store:
        with pytest.raises(SettingError, match="metadata"):
            await store.create(metadata=bad)
        assert [] == await store.list()
        thread = await store.create()
        thread.metadata = bad
        with pytest.raises(SaveError, match="metadata"):
            await store.save(thread)


@each
async def test_the_newest_change_is_listed_first(opened: Open) -> None:
    async with opened() as store:
        threads = [await store.create(metadata={"n": str(n)}) for n in range(3)]
        await store.append(threads[0], said("hi"))
        assert ["0", "2", "1"] == [info.metadata["n"] for info in await store.list()]
        updated = threads[0].updated_at
        for info in await store.list():
            info.metadata["n"] = "somebody wrote here"
    async with opened() as store:
        infos = await store.list()
        assert ["0", "2", "1"] == [info.metadata["n"] for info in infos]
        assert (threads[0].id, updated) == (infos[0].id, infos[0].updated_at)
        assert threads[0].created_at < updated <= datetime.now(UTC)


@each
async def test_a_deleted_thread_is_gone_and_stays_gone(opened: Open) -> None:
    async with opened() as store:
        kept, thread = await store.create(), await store.create(metadata={"k": "v"})
        await store.append(thread, said("hi"))
        assert await store.delete(thread.id)
        assert not await store.delete(thread.id)
        with pytest.raises(SaveError):
            await store.append(thread, said("again"))
        thread.metadata["x"] = "y"
        with pytest.raises(SaveError):
            await store.save(thread)
        assert ["hi"] == texts_of(thread)
        assert await store.find("k", "v") is None
        with pytest.raises(ThreadNotFoundError):
            await store.get(thread.id)
        again = await store.create(thread_id=thread.id)
        assert 0 == len(again.state)
    async with opened() as store:
        assert {kept.id, thread.id} == {info.id for info in await store.list()}
        assert 0 == len((await store.get(thread.id)).state)


@each
async def test_saving_makes_durable_what_is_in_memory_alone(opened: Open) -> None:
    async with opened() as store:
        thread = await store.create()
        await store.append(thread, said("1"))
        thread.state.append(said("2"))
        await store.save(thread)
        thread.state.append(said("3"))
        await store.append(thread, said("4"))
    async with opened() as store:
        assert ["1", "2", "3", "4"] == texts_of(await store.get(thread.id))


@each
async def test_saving_what_did_not_change_changes_nothing(opened: Open, tmp_path: Path) -> None:
    async with opened() as store:
        thread = await store.create(metadata={"k": "v"})
        await store.append(thread, said("hi"))
        before = thread.updated_at, files_in(tmp_path)
        await store.save(thread)
        assert before == (thread.updated_at, files_in(tmp_path))
        thread.state.append(said("more"))
        await store.save(thread)
        assert before[0] < thread.updated_at


@each
async def test_ten_thousand_turns(opened: Open) -> None:
    async with opened() as store:
        thread = await store.create()
        for number in range(10_000):
            thread.state.append(said(f"number {number}"))
        await store.save(thread)
        await store.append(thread, said("number 10000"))
    async with opened() as store:
        assert [f"number {number}" for number in range(10_001)] == texts_of(await store.get(thread.id))


@each
async def test_turns_of_fifty_tasks_have_one_order_in_memory_and_stored(opened: Open) -> None:
    async with opened() as store:
        thread = await store.create()

        async def speak(number: int) -> None:
            await store.append(thread, said(f"{number} a"))
            await store.append(thread, said(f"{number} b"))

        async with anyio.create_task_group() as tasks:
            for number in range(50):
                tasks.start_soon(speak, number)
        spoken = texts_of(thread)
        assert 100 == len(set(spoken)) == len(spoken)
        for number in range(50):
            assert spoken.index(f"{number} a") < spoken.index(f"{number} b")
    async with opened() as store:
        assert spoken == texts_of(await store.get(thread.id))


@each
async def test_a_thread_of_another_store_is_refused(opened: Open) -> None:
    async with opened() as store:
        with pytest.raises(SaveError):
            await store.append(Thread("somewhere_else", State()), said("hi"))


@durable
async def test_a_store_that_is_not_open_says_so(opened: Open) -> None:
    store: Any = opened()
    for call in (store.create, store.list, lambda: store.get("some_thread"), lambda: store.find("k", "v")):
        with pytest.raises(RuntimeError, match="async with"):
            await call()
    async with store:
        thread = await store.create()
        with pytest.raises(RuntimeError, match="is open"):
            await store.__aenter__()
    with pytest.raises(RuntimeError, match="async with"):
        await store.append(thread, said("hi"))
    await store.aclose()
    async with store:
        assert 0 == len((await store.get(thread.id)).state)


@durable
@pytest.mark.parametrize("value", [{1, 2}, (1,), float("nan"), {1: 2}, 10**2000, object()])
async def test_a_turn_that_json_would_change_is_refused_whole(opened: Open, value: object) -> None:
    async with opened() as store:
        thread = await store.create()
        with pytest.raises(SaveError, match=r"turns\[0\].artifacts\[1\].value") as caught:
            await store.append(thread, Turn("tool", (Text("well"), ToolResult("c", value=value))))
        assert isinstance(caught.value.__cause__, SettingError)
        assert 0 == len(thread.state)
        await store.append(thread, said("next"))
    async with opened() as store:
        assert ["next"] == texts_of(await store.get(thread.id))
