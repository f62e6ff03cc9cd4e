"""Tools that are named on the command line: loaded from a module, or refused in a line."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from discussion_helper.app import responder_for
from discussion_helper.errors import SettingError
from discussion_helper.responder.base import EndpointChoice
from discussion_helper.settings import Settings
from discussion_helper.tools import Tool
from discussion_helper.tools.loading import load_tools

GOOD = '''
from discussion_helper.tools import tool

@tool(parallel=True)
def weather(city: str) -> str:
    """The weather in a city."""
    return city

def clock() -> str:
    """The time."""
    return "noon"

BOTH = [weather, clock]
NONE = []
ODD = [1]
'''

Write = Callable[[str, str], None]


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Write:
    """Writes a module into the working folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)

    def one(name: str, text: str) -> None:
        monkeypatch.delitem(sys.modules, name, raising=False)
        (tmp_path / f"{name}.py").write_text(text, encoding="utf-8")

    return one


@pytest.mark.parametrize(
    ("name", "tools"), [("weather", ["weather"]), ("clock", ["clock"]), ("BOTH", ["weather", "clock"])]
)
def test_a_function_a_tool_or_a_list_of_them(write: Write, name: str, tools: list[str]) -> None:
    write("my_tools", GOOD)
    path = list(sys.path)
    loaded = load_tools(f"my_tools:{name}")
    assert [each.name for each in loaded] == tools
    assert all(isinstance(each, Tool) for each in loaded)
    assert sys.path == path


def test_nothing_named_is_nothing_loaded() -> None:
    assert load_tools("") == []


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ("my_tools", "names nothing"),
        ("my_tools:", "names nothing"),
        ("../my_tools:BOTH", "names nothing"),
        ("my_tools:BOTH; import os", "names nothing"),
        ("my_tools:nowhere", "no nowhere"),
        ("my_tools:NONE", "is empty"),
        ("my_tools:ODD", "holds a int"),
        ("no_such_module_anywhere:x", "no module no_such_module_anywhere"),
        ("broken_tools:x", "cannot be imported"),
        ("hungry_tools:x", "needs no_such_thing"),
        ("script_tools:x", r"cannot be imported \(SystemExit: 3\)"),
        ("lazy_tools:x", "cannot be imported"),
    ],
)
def test_what_cannot_be_loaded_is_told_in_a_line_with_the_fix(write: Write, spec: str, says: str) -> None:
    write("my_tools", GOOD)
    write("broken_tools", "1 / 0")
    write("hungry_tools", "import no_such_thing")
    write("script_tools", "raise SystemExit(3)")
    write("lazy_tools", "def __getattr__(name): raise RuntimeError(name)")
    with pytest.raises(SettingError, match=says) as caught:
        load_tools(spec)
    assert "\n" not in str(caught.value)
    assert caught.value.fix


@pytest.mark.skipif(sys.platform == "win32", reason="Windows removes no folder that somebody works in")
def test_a_working_folder_that_is_gone_holds_no_tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    with pytest.raises(SettingError, match="no module no_such_module_anywhere"):
        load_tools("no_such_module_anywhere:x")


def test_the_settings_bring_them_to_what_answers(write: Write) -> None:
    write("my_tools", GOOD)
    choice = EndpointChoice("m", "http://127.0.0.1:1/v1")
    responder = responder_for(choice, Settings(language="de", tools="my_tools:BOTH", filler="Hm."))
    assert [each["name"] for each in responder._tools.schemas] == ["weather", "clock"]  # type: ignore[attr-defined]
    assert responder._filler == "Hm."  # type: ignore[attr-defined]
    assert responder._moment.text() == "Einen Moment."  # type: ignore[attr-defined]


def test_what_is_said_meanwhile_is_in_the_language_that_a_talk_has_at_that_time() -> None:
    found = ["", "de", "fr", "xx"]
    choice = EndpointChoice("m", "http://127.0.0.1:1/v1")
    responder = responder_for(choice, Settings(language="auto", stt="base", filler="auto"), lambda: found[0])
    said = []
    while found:
        said.append((responder._moment.text(), responder._filler()))  # type: ignore[attr-defined]
        del found[0]
    assert [("", ""), ("Einen Moment.", "Mal sehen."), ("Un instant.", "Voyons voir."), ("", "")] == said
