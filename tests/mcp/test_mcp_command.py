"""`discussion-helper mcp`, as a process of its own, with the SDK's own client at its stdin and stdout."""

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import mcp
import pytest
from mcp.client.stdio import StdioServerParameters, stdio_client

from discussion_helper.cli import main
from discussion_helper.command_line import parse
from discussion_helper.commands.mcp import TOKEN_VARIABLE, URL_VARIABLE, USUAL_URL, client_of
from discussion_helper.mcp import server
from discussion_helper.web import create_app

TOKEN = "a-token-for-tests"


@pytest.mark.anyio
async def test_a_program_starts_it_and_talks_to_a_running_server(serving: Callable[..., Any], tmp_path: Path) -> None:
    errors = tmp_path / "errors.txt"
    async with serving(create_app(token=TOKEN)) as url:
        command = StdioServerParameters(
            command=sys.executable,
            args=["-W", "error", "-m", "discussion_helper", "mcp", "--url", url],
            env={**os.environ, TOKEN_VARIABLE: TOKEN},
        )
        with errors.open("w") as stderr:
            async with mcp.Client(stdio_client(command, errlog=stderr)) as asker:
                about = asker.server_info
                assert about is not None
                opened = await asker.call_tool("start", {"kind": "voice", "transport": "fake"})
                state = await asker.call_tool("state", {"session_id": opened.structured_content["id"]})

    assert "discussion-helper" == about.name
    assert (False, True) == (state.is_error, state.structured_content["running"])
    assert "" == errors.read_text()


@pytest.mark.parametrize(
    ("options", "environment", "url", "token"),
    [
        ([], {}, USUAL_URL, None),
        ([], {URL_VARIABLE: "https://home.lan", TOKEN_VARIABLE: "t"}, "https://home.lan", "t"),
        (["--url", "http://127.0.0.1:1/?token=new"], {TOKEN_VARIABLE: "old"}, "http://127.0.0.1:1", "new"),
        (["--url", "http://home.lan", "--insecure"], {TOKEN_VARIABLE: "t"}, "http://home.lan", "t"),
    ],
)
def test_the_server_is_that_of_the_option_or_the_environment(
    options: list[str], environment: dict[str, str], url: str, token: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in (URL_VARIABLE, TOKEN_VARIABLE):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)

    link = client_of(parse(["mcp", *options])).link

    assert (url, token) == (link.url, link.token)


def test_what_is_no_server_is_told_by_its_option(capsys: pytest.CaptureFixture[str]) -> None:
    assert 1 == main(["mcp", "--url", "nonsense"])
    assert "discussion-helper: --url: it is no address of a server." in capsys.readouterr().err


def test_without_the_extra_it_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "mcp.server.mcpserver", None)

    assert 1 == main(["mcp"])
    assert "pip install -e '.[mcp]'" in capsys.readouterr().err
    assert server.INSTRUCTIONS
