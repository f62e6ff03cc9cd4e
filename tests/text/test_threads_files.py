"""Threads as JSON files: what is in the folder, and what may be wrong with it."""

import errno
import json
import logging
import os
import stat
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import anyio
import pytest

from discussion_helper.text.artifacts import Text
from discussion_helper.text.errors import SaveError, ThreadCorruptError, ThreadNotFoundError
from discussion_helper.text.state import Turn
from discussion_helper.text.threads import folder as folder_module
from discussion_helper.text.threads.base import ThreadInfo
from discussion_helper.text.threads.durable import DurableThreads
from discussion_helper.text.threads.folder import FolderShelf
from discussion_helper.text.threads.json_files import JsonThreads
from discussion_helper.text.threads.shelf import Loaded

pytestmark = pytest.mark.anyio

NOW = "2026-01-02T03:04:05+00:00"


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    """Real threads take part: loops on real time."""
    return str(request.param)


def said(text: str) -> Turn:
    return Turn("user", (Text(text),), at=datetime(2026, 1, 2, tzinfo=UTC))


def names_in(folder: Path) -> list[str]:
    return sorted(file.name for file in folder.iterdir())


def file_of(thread_id: str, **changes: Any) -> str:
    data = {"id": thread_id, "created_at": NOW, "updated_at": NOW, "metadata": {}, "turns": []}
    return json.dumps({key: value for key, value in {**data, **changes}.items() if value is not ...})


async def test_a_thread_is_a_readable_file_of_its_owner(tmp_path: Path) -> None:
    folder = tmp_path / "a" / "b"
    async with JsonThreads(folder) as store:
        thread = await store.create(thread_id="my_thread", metadata={"who": "Ann"})
        assert [".lock", "my_thread.json"] == names_in(folder)
        await store.append(thread, said("Grüße"))
        await store.append(thread, said("two"))
    assert [".lock", "my_thread.json"] == names_in(folder) or ["my_thread.json"] == names_in(folder)
    text = (folder / "my_thread.json").read_text(encoding="utf-8")
    turn = {"role": "user", "at": "2026-01-02T00:00:00+00:00"}
    artifacts = [[{"kind": "text", "data": {"content": content}}] for content in ("Grüße", "two")]
    assert {
        "id": "my_thread",
        "created_at": thread.created_at.isoformat(),
        "updated_at": thread.updated_at.isoformat(),
        "metadata": {"who": "Ann"},
        "turns": [turn | {"artifacts": each} for each in artifacts],
    } == json.loads(text)
    assert "Grüße" in text
    assert 4 == text.count("\n")  # a line for each turn
    if sys.platform != "win32":
        assert 0o600 == stat.S_IMODE((folder / "my_thread.json").stat().st_mode)
        assert 0o700 == stat.S_IMODE(folder.stat().st_mode)


CORRUPT: list[tuple[str, str, str]] = [
    ("cut_short.json", '{"id": "cut_short", "turns": [', "no JSON"),
    ("is_empty_.json", "", "no JSON"),
    ("is_a_list.json", "[]", "no object with a list of turns"),
    ("other_id.json", file_of("another_id"), "it holds the thread 'another_id'"),
    ("no_id_here.json", file_of("", id=...), "id: None is not a text"),
    ("no_times_.json", file_of("no_times_", created_at=...), "created_at: None is no time"),
    ("bad_turns.json", file_of("bad_turns", turns={}), "no object with a list of turns"),
    ("bad_meta_.json", file_of("bad_meta_", metadata={"k": 1}), "metadata"),
    ("has_more_.json", file_of("has_more_", mood="good"), "mood: this is unknown here"),
    ("a_delta__.json", '{"kind": "text_delta", "data": {"content": "h"}}', "a text_delta is only a piece"),
    ("new_kind_.json", '{"kind": "hologram", "data": {}}', "turns[0].artifacts[0]: artifacts of the kind 'hologram'"),
]


@pytest.mark.parametrize(("name", "content", "says"), CORRUPT)
async def test_a_corrupt_file_is_named_and_its_neighbours_load(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, name: str, content: str, says: str
) -> None:
    stem = name.removesuffix(".json")
    if content.startswith('{"kind"'):
        turn = {"role": "assistant", "at": NOW, "artifacts": [json.loads(content)]}
        content = file_of(stem, turns=[turn])
    tmp_path.joinpath(name).write_text(content, encoding="utf-8")
    async with JsonThreads(tmp_path) as store:
        good = await store.create()
        with caplog.at_level(logging.WARNING):
            assert [good.id] == [info.id for info in await store.list()]
            assert [good.id] == [info.id for info in await store.list()]
        assert [name] == list(store.problems)
        assert says in store.problems[name]
        assert 1 == len(caplog.records)
        assert says in caplog.text
        with pytest.raises(ThreadCorruptError, match="move it out of the folder") as caught:
            await store.get(stem)
        assert name in str(caught.value)
        assert says in str(caught.value)
    assert content == tmp_path.joinpath(name).read_text(encoding="utf-8")


async def test_what_is_no_threads_file_is_reported_or_left_alone(tmp_path: Path) -> None:
    tmp_path.joinpath("notes.json").write_text("{}", encoding="utf-8")
    tmp_path.joinpath("notes.txt").write_text("mine", encoding="utf-8")
    tmp_path.joinpath("a_folder_.json").mkdir()
    async with JsonThreads(tmp_path) as store:
        assert [] == await store.list()
        assert {"notes.json", "a_folder_.json"} == set(store.problems)
        assert "it is no file" in store.problems["a_folder_.json"]
        assert await store.find("k", "v") is None
    assert {"notes.json", "notes.txt", "a_folder_.json"} <= set(names_in(tmp_path))


@pytest.mark.skipif(sys.platform == "win32", reason="pipes have no paths there")
async def test_a_pipe_is_neither_waited_for_nor_replaced(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "some_pipe.json")
    async with JsonThreads(tmp_path) as store:
        thread = await store.create(thread_id="my_thread")
        tmp_path.joinpath("my_thread.json").unlink()
        os.mkfifo(tmp_path / "my_thread.json")
        with anyio.fail_after(5.0):
            assert ["my_thread"] == [info.id for info in await store.list()]
            with pytest.raises(SaveError, match=r"my_thread\.json: it cannot be written: It is no file"):
                await store.append(thread, said("one"))
        assert "it is no file" in store.problems["some_pipe.json"]
    assert {"my_thread.json", "some_pipe.json"} == set(names_in(tmp_path)) - {".lock"}
    assert all(stat.S_ISFIFO(os.stat(tmp_path / name).st_mode) for name in names_in(tmp_path) if name != ".lock")


async def test_a_repaired_file_is_no_problem_any_more(tmp_path: Path) -> None:
    path = tmp_path / "repaired.json"
    path.write_text("{", encoding="utf-8")
    async with JsonThreads(tmp_path) as store:
        with pytest.raises(ThreadCorruptError):
            await store.get("repaired")
        path.write_text(file_of("repaired"), encoding="utf-8")
        assert "repaired" == (await store.get("repaired")).id
        assert {} == store.problems


async def test_missing_metadata_is_none_at_all(tmp_path: Path) -> None:
    tmp_path.joinpath("no_metadata.json").write_text(file_of("no_metadata", metadata=...), encoding="utf-8")
    async with JsonThreads(tmp_path) as store:
        assert {} == (await store.get("no_metadata")).metadata


async def test_what_a_killed_writer_left_is_removed(tmp_path: Path) -> None:
    tmp_path.joinpath(".some_thread.0123.tmp").write_text("half", encoding="utf-8")
    async with JsonThreads(tmp_path) as store:
        assert [] == await store.list()
        assert ".some_thread.0123.tmp" not in names_in(tmp_path)


async def test_a_full_disk_loses_nothing_that_was_stored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    async with JsonThreads(tmp_path) as store:
        thread = await store.create()
        await store.append(thread, said("1"))
        with monkeypatch.context() as patched:
            patched.setattr(os, "fsync", full)
            with pytest.raises(SaveError, match="No space left") as caught:
                await store.append(thread, said("2"))
            assert "space" in caught.value.fix
            with pytest.raises(SaveError):
                await store.create()
        assert {".lock", f"{thread.id}.json"} >= set(names_in(tmp_path))
        assert ["1"] == [turn.text for turn in thread.state.turns]
        await store.append(thread, said("3"))
    async with JsonThreads(tmp_path) as store:
        assert ["1", "3"] == [turn.text for turn in (await store.get(thread.id)).state.turns]


async def test_a_folder_that_cannot_be_is_an_error_in_one_line(tmp_path: Path) -> None:
    tmp_path.joinpath("file").write_text("", encoding="utf-8")
    for bad in (tmp_path / "file", tmp_path / "file" / "folder", "no\0folder"):
        with pytest.raises(SaveError, match="cannot be used") as caught:
            await JsonThreads(bad).__aenter__()
        assert "\n" not in str(caught.value)
        assert caught.value.fix


async def test_a_file_that_vanished_is_not_made_anew_in_silence(tmp_path: Path) -> None:
    async with JsonThreads(tmp_path) as store:
        thread = await store.create()
        tmp_path.joinpath(f"{thread.id}.json").unlink()
        with pytest.raises(SaveError, match="has gone"):
            await store.append(thread, said("hi"))


async def test_a_file_has_a_largest_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folder_module, "LARGEST_FILE", 1000)
    async with JsonThreads(tmp_path) as store:
        thread = await store.create()
        with pytest.raises(SaveError, match="more than 1000 bytes"):
            await store.append(thread, said("x" * 1000))
    tmp_path.joinpath("too_large.json").write_text(" " * 1001, encoding="utf-8")
    async with JsonThreads(tmp_path) as store:
        with pytest.raises(ThreadCorruptError, match="more than 1000 bytes"):
            await store.get("too_large")


async def test_a_long_survey_lets_turns_be_stored_in_between(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folder_module, "_SURVEY_S", 0.0)
    order: list[str] = []

    class Watched(FolderShelf):
        def load(self, thread_id: str) -> Loaded | None:
            order.append("read")
            return super().load(thread_id)

        def write(self, info: ThreadInfo, start: int, turns: Sequence[bytes]) -> None:
            order.append("write")
            super().write(info, start, turns)

    async with JsonThreads(tmp_path) as store:
        ids = {(await store.create()).id for _ in range(5)}
    async with DurableThreads(Watched(tmp_path)) as watched:
        thread = await watched.create()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(watched.list)
            tasks.start_soon(watched.append, thread, said("hi"))
        assert ids | {thread.id} == {info.id for info in await watched.list()}
    assert 5 == order.count("read")
    assert 4 > order.index("write")


async def test_an_address_outside_the_folder_is_never_touched(tmp_path: Path) -> None:
    outside = tmp_path / "outside_of_it.json"
    outside.write_text(file_of("outside_of_it"), encoding="utf-8")
    async with JsonThreads(tmp_path / "inside") as store:
        for bad in ("../outside_of_it", str(tmp_path / "outside_of_it"), "x/../../outside_of_it"):
            with pytest.raises(ThreadNotFoundError):
                await store.get(bad)
            assert not await store.delete(bad)
    assert outside.exists()
