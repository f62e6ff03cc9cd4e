"""`discussion-helper threads`: what it prints of a real database, and what it does to it."""

import json
import shlex
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest

from discussion_helper.cli import main
from discussion_helper.text import Manager, Step
from discussion_helper.text.artifacts import Text, ToolCall, ToolResult
from discussion_helper.text.providers.scripted import ScriptedProvider
from discussion_helper.text.state import Turn
from discussion_helper.text.threads.sqlite import SqliteThreads
from discussion_helper.web import create_app

OLD, NEW, EMPTY = "an-older-thread", "-a-newer-thread", "an-empty-thread"


def said(role: str, text: str, *, interrupted: bool = False) -> Turn:
    return Turn(role, (Text(text),), interrupted=interrupted)  # type: ignore[arg-type]


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A database with three threads."""
    path = tmp_path / "threads.sqlite"

    async def fill() -> None:
        async with SqliteThreads(path) as threads:
            await threads.create(thread_id=EMPTY)
            for thread_id, turns in (
                (OLD, [said("user", "Hello\nthere."), said("assistant", "Good \x1b[2Jday.", interrupted=True)]),
                (NEW, [said("user", "日本 " * 40), Turn("assistant", (ToolCall("1", "add", "{}"),))]),
            ):
                thread = await threads.create(thread_id=thread_id)
                for turn in turns:
                    await threads.append(thread, turn)
            await threads.append(thread, Turn("tool", (ToolResult("1", value=3),)))

    anyio.run(fill)
    return path


def test_threads_are_listed_the_newest_first(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert 0 == main(["threads", "list", "--store", str(store)])
    lines = capsys.readouterr().out.splitlines()

    assert [NEW, OLD, EMPTY] == [line.split()[0] for line in lines]
    assert ["3 turns", "2 turns", "0 turns"] == [" ".join(line.split()[3:5]) for line in lines]
    assert lines[1].endswith("  Hello there.")
    assert 120 > len(lines[0])


def test_the_list_as_a_document(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["threads", "list", "--json", "--store", str(store)])
    threads = json.loads(capsys.readouterr().out)

    assert {"id", "created_at", "updated_at", "turn_count", "first"} == threads[1].keys()
    assert (OLD, 2, "Hello there.") == tuple(threads[1][key] for key in ("id", "turn_count", "first"))


def test_documents_are_in_ascii(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    odd = "\x1b[2J \x7f \x9b2J \u202e \u200b \ufeff \U000e0041 日本 \ud83d"

    async def fill() -> None:
        async with SqliteThreads(store) as threads:
            thread = await threads.create(thread_id="an-odd-thread", metadata={"k\x9b": "\u202e"})
            await threads.append(thread, said("user", odd))

    anyio.run(fill)
    for arguments in (["list"], ["show", "an-odd-thread"], ["delete", "an-odd-thread"]):
        main(["threads", *arguments, "--json", "--store", str(store)])
        printed = capsys.readouterr().out.removesuffix("\n")
        assert printed.isascii()
        assert printed.isprintable()
        if arguments[0] == "show":
            assert odd == json.loads(printed)["turns"][0]["artifacts"][0]["content"]


@pytest.mark.parametrize("wire", [[], ["--json"]])
def test_without_standard_output_nothing_is_done(
    store: Path, wire: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for arguments in (["list"], ["show", OLD], ["delete", OLD]):
        with monkeypatch.context() as patch:
            patch.setattr("sys.stdout", None)  # what Python makes of a closed one
            assert 1 == main(["threads", *arguments, *wire, "--store", str(store)])
        assert "The output could not be written: Bad file descriptor." in capsys.readouterr().err
    assert 0 == main(["threads", "show", OLD, "--store", str(store)])


def test_a_thread_that_cannot_be_read_is_told_of_beside_the_others(
    store: Path, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    with closing(sqlite3.connect(store)) as database, database:
        database.execute(f"UPDATE threads SET updated_at = CAST(X'ff' AS TEXT) WHERE id = '{OLD}'")
    assert 0 == main(["threads", "list", "--store", str(store)])
    assert {NEW, EMPTY} == {line.split()[0] for line in capsys.readouterr().out.splitlines()}
    assert [OLD in message for message in caplog.messages] == [True]
    assert 1 == main(["threads", "show", OLD, "--store", str(store)])
    assert "Delete the thread" in capsys.readouterr().err


def test_a_thread_is_shown_without_anything_that_a_terminal_obeys(
    store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert 0 == main(["threads", "show", OLD, "--store", str(store)])
    assert ["you    Hello", "       there.", "agent  Good �[2Jday.", "       [interrupted]"] == (
        capsys.readouterr().out.splitlines()
    )
    assert 0 == main(["threads", "show", "--store", str(store), "--", NEW])
    assert ["       [not answered]", "agent  [calls add {}]", "tool   [gives 3]"] == (
        capsys.readouterr().out.splitlines()[-3:]
    )


def test_documents_are_those_of_the_web(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    async def over_http() -> list[Any]:
        async with SqliteThreads(store) as threads, Manager(threads, ScriptedProvider(), lambda _: Step()) as manager:
            transport = httpx.ASGITransport(create_app(manager=manager, token=None))
            async with httpx.AsyncClient(base_url="http://127.0.0.1", transport=transport) as client:
                return [(await client.get(path)).json() for path in ("/threads", f"/threads/{OLD}", f"/threads/{NEW}")]

    printed = []
    for arguments in (["list"], ["show", OLD], ["show", "--", NEW]):
        main(["threads", arguments[0], "--json", "--store", str(store), *arguments[1:]])
        printed.append(json.loads(capsys.readouterr().out))

    assert printed == anyio.run(over_http)
    assert [None, True] == [turn.get("interrupted") for turn in printed[1]["turns"]]
    assert [False, None, None] == [turn.get("answered") for turn in printed[2]["turns"]]
    assert {"kind": "text", "content": "Hello\nthere."} == printed[1]["turns"][0]["artifacts"][0]


def test_the_last_thread_is_shown_without_its_id(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["threads", "show", "--store", str(store), "--", NEW])
    by_id = capsys.readouterr().out
    assert 0 == main(["threads", "show", "--last", "--store", str(store)])
    assert by_id == capsys.readouterr().out
    for thread in (NEW, OLD):
        main(["threads", "delete", "--store", str(store), "--", thread])
    assert 1 == main(["threads", "show", "--last", "--store", str(store)])
    assert "--last: there is no thread yet" in capsys.readouterr().err
    for wrong in (["show"], ["show", "--last", OLD], ["delete", "--last"]):
        with pytest.raises(SystemExit):
            main(["threads", *wrong])


def test_a_deleted_thread_is_gone(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert 0 == main(["threads", "delete", OLD, "--store", str(store)])
    assert f"Thread {OLD} is deleted.\n" == capsys.readouterr().out
    assert 1 == main(["threads", "show", OLD, "--store", str(store)])
    assert 0 == main(["threads", "delete", "--json", "--store", str(store), "--", NEW])
    assert {"deleted": NEW} == json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("action", ["show", "delete"])
def test_a_thread_that_is_not_there_is_named(action: str, store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for thread_id in ("nowhere-at-all", "../etc"):
        assert 1 == main(["threads", action, thread_id, "--store", str(store)])
        fix = f"See: discussion-helper threads list --store={shlex.quote(str(store))}"
        says = f"discussion-helper: There is no thread '{thread_id}'. {fix}\n"
        assert says == capsys.readouterr().err


@pytest.mark.parametrize(
    ("command", "actions"), [("threads", "list, show, delete"), ("models", "list, pull, verify, path")]
)
def test_a_command_without_its_action_names_those_there_are(
    command: str, actions: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match="2"):
        main([command])

    assert "{" + actions.replace(" ", "") + "}" in capsys.readouterr().err.splitlines()[-1]


def test_looking_makes_no_database(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert 1 == main(["threads", "list", "--store", str(tmp_path / "none.sqlite")])
    assert "--store: " in capsys.readouterr().err
    assert 1 == main(["threads", "list", "--store", ""])
    assert "--store: the name is empty" in capsys.readouterr().err
    monkeypatch.setattr("platformdirs.user_data_dir", lambda name, **_: str(tmp_path / name))
    assert 0 == main(["threads", "list"])
    assert "There is no thread yet: discussion-helper chat begins one.\n" == capsys.readouterr().out
    assert [] == list(tmp_path.rglob("*.sqlite"))
