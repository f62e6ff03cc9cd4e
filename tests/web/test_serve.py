"""`discussion-helper serve`, as a process of its own."""

import argparse
import os
import re
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from discussion_helper.commands import serve, serve_parts
from discussion_helper.commands.serve_parts import ServeParts
from discussion_helper.errors import DeviceError, ModelError, SettingError
from discussion_helper.policy import Policy
from discussion_helper.settings import Settings
from discussion_helper.web import Wish

_PROGRAM = """
import argparse, sys
from discussion_helper.commands import serve
from discussion_helper.commands.serve_parts import ServeParts
parser = argparse.ArgumentParser()
serve.add_parser(parser.add_subparsers())
arguments = parser.parse_args(["serve", *sys.argv[1:]])
sys.exit(arguments.run(arguments))
"""


@contextmanager
def served(*options: str, **environment: str) -> Iterator[tuple[subprocess.Popen[str], str, str]]:
    """The process, the server's address, and the token of its link."""
    process = subprocess.Popen(
        [sys.executable, "-W", "error", "-c", _PROGRAM, "--port", "0", *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **environment},
    )
    try:
        assert process.stdout is not None
        link = re.fullmatch(r"Open (http://[^/]+)/\?token=(\S+)\n", process.stdout.readline())
        assert link is not None
        yield process, link[1], link[2]
    finally:
        process.kill()
        process.communicate()


def test_the_link_opens_it_and_the_token_is_printed_once_and_nowhere_else(tmp_path: Path) -> None:
    threads = tmp_path / "threads.db"
    with served("--store", str(threads), DISCUSSION_HELPER_MODELS=str(tmp_path)) as (process, url, token):
        with httpx.Client(base_url=url) as client:
            stranger = client.get("/sessions")
            login = client.get(f"/?token={token}")
            client.get("/?token=wrong-token")
            opened = client.post("/sessions", json={"transport": "fake"})
            without = client.post("/sessions", json={"transport": "local"})
            text = client.post("/sessions", json={"kind": "text"}).json()
            lines = client.post(f"{text['url']}/messages", json={"content": "hi"}).text
            health = client.get("/health").json()
        with httpx.stream("GET", f"{url}{text['url']}/events", headers={"Authorization": f"Bearer {token}"}) as events:
            following = events.iter_lines()
            next(following)
            process.send_signal(signal.SIGTERM)
            told = "\n".join(following)
            assert 0 == process.wait(timeout=10)
        out, err = process.communicate()

    assert [401, 303, 201] == [answer.status_code for answer in (stranger, login, opened)]
    assert 503 == without.status_code
    assert "models pull" in without.json()["fix"]
    assert "models pull" in lines.splitlines()[-2]
    assert {"python", "microphone", "voice"} <= {part["part"] for part in health["parts"]}
    assert threads.exists()
    assert "event: ended\n" in told
    assert '"reason":"stopped"' in told
    assert token not in out + err
    assert "wrong-token" not in out + err
    assert len(token) >= 32


@pytest.mark.skipif(sys.platform == "win32", reason="Ctrl-C cannot be sent to one process there")
def test_ctrl_c_ends_it_well_and_a_token_may_be_given() -> None:
    with served(DISCUSSION_HELPER_TOKEN="given-token") as (process, _, token):
        process.send_signal(signal.SIGINT)

        assert 0 == process.wait(timeout=10)
        assert "given-token" == token
        assert "Traceback" not in process.communicate()[1]


def test_a_language_that_the_recogniser_does_not_know_is_in_the_way_of_voices_alone(tmp_path: Path) -> None:
    models = {"DISCUSSION_HELPER_MODELS": str(tmp_path), "DISCUSSION_HELPER_TOKEN": "given-token"}
    store = str(tmp_path / "threads.db")
    with served("--language", "de", "--store", store, "--llm", "model@http://127.0.0.1:9", **models) as (
        process,
        url,
        _,
    ):
        with httpx.Client(base_url=url, headers={"Authorization": "Bearer given-token"}, timeout=30) as client:
            text = client.post("/sessions", json={"kind": "text"})
            typed = client.post("/sessions", json={"transport": "remote"})
            spoken = client.post("/sessions", json={"transport": "local"})
            english = client.post("/sessions", json={"transport": "local", "language": "en"})
        process.send_signal(signal.SIGTERM)
        told = process.communicate()[1]

    assert [201, 201, 503] == [answer.status_code for answer in (text, typed, spoken)]
    assert "language: tiny.en knows English only, not de." == spoken.json()["error"]
    assert "--stt base" in spoken.json()["fix"]
    assert "models pull" in english.json()["fix"]
    assert "language: tiny.en knows English only, not de." in told


def test_what_cannot_be_served_is_told_by_its_option(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    parser = argparse.ArgumentParser()
    serve.add_parser(parser.add_subparsers())
    words = [tmp_path / "word.onnx", tmp_path / "word.tflite"]
    for word in words:
        word.write_bytes(b"no network")
    with served() as (_, url, _):
        for options, says in (
            (["--host", "0.0.0.0"], "host: "),
            (["--port", url.rpartition(":")[2]], "port: "),
            (["--port", "70000"], "port: "),
            (["--host", "0.0.0.0", "--allow-host", "x"], "host: "),
            (["--host", "no such host", "--insecure"], "port: "),
            (["--language", "x"], "language: "),
            (["--language", "de", "--stt", "nonsense"], "stt: "),
            (["--llm", "nofile.gguf"], "llm: .*nofile.gguf cannot be read"),
            (["--llm", "nonsense"], "llm names neither"),
            (["--stt", "nonsense"], "stt: "),
            (["--voice", "nofile.onnx"], "voice: .*nofile.onnx"),
            (["--store", ""], "--store: the name is empty"),
            (["--system", "x" * 65537], "system: it is too long"),
            (["--hints", " "], "hints: "),
            (["--tools", "nonsense"], "tools: 'nonsense' names nothing"),
            (["--tools", "no_such_module:weather"], "tools: there is no module no_such_module"),
            (["--tools", "discussion_helper.responder.base:is_loopback"], "tools: SmolLM2-135M, .* calls none"),
            (["--wake-word", "nonsense"], "wake_word: there is no wake word 'nonsense'"),
            *((["--wake-word", str(word)], f"wake_word: .*{word.name} is no wake word's network") for word in words),
        ):
            arguments = parser.parse_args(["serve", *options])
            with pytest.raises(SettingError, match=says) as refused:
                arguments.run(arguments)
            assert refused.value.fix
    monkeypatch.setenv(serve.TOKEN_VARIABLE, "")
    arguments = parser.parse_args(["serve"])
    with pytest.raises(SettingError, match="token: "):
        arguments.run(arguments)


def test_it_takes_the_options_of_a_talk_for_its_sessions() -> None:
    parser = argparse.ArgumentParser()
    serve.add_parser(parser.add_subparsers())
    options = ["--hints", "Aachen", "Karin", "--tools", "my_tools:weather", "--filler", "Let me see."]

    settings = serve.settings_of(parser.parse_args(["serve", *options, "--wake-word", "hey_jarvis"]))

    assert ("Aachen", "Karin") == settings.hints
    assert ("my_tools:weather", "Let me see.") == (settings.tools, settings.filler)
    assert Policy(turn_policy="wake_word", wake_word="hey_jarvis") == settings.policy
    assert Policy() == serve.settings_of(parser.parse_args(["serve"])).policy


def test_what_the_settings_file_says_is_served_where_the_command_line_says_nothing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = tmp_path / "settings.toml"
    file.write_text('stt = "no-such-model"\n')
    monkeypatch.setenv("DISCUSSION_HELPER_CONFIG", str(file))
    parser = argparse.ArgumentParser()
    serve.add_parser(parser.add_subparsers())

    with pytest.raises(SettingError, match="no-such-model") as caught:
        serve.run(parser.parse_args(["serve"]))
    assert str(file) in str(caught.value)


def test_a_client_names_no_wake_word_that_is_a_file_but_the_servers_own() -> None:
    word = Policy(turn_policy="wake_word", wake_word="/home/me/word.onnx")
    with pytest.raises(SettingError, match="wake_word: it is a file"):
        ServeParts(Settings())._wished(Wish(policy=word))
    assert word == ServeParts(Settings(policy=word))._wished(Wish(policy=word)).policy


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("wish", "says"),
    [
        (Wish(voice="nonsense"), "voice: there is no voice 'nonsense'"),
        (Wish(policy=Policy(turn_policy="wake_word", wake_word="nonsense")), "wake_word: there is no wake word"),
    ],
)
async def test_a_client_is_told_of_the_names_there_are_and_of_no_files(wish: Wish, says: str) -> None:
    with pytest.raises(SettingError, match=says) as refused:
        async with ServeParts(Settings()).open_voice(wish):
            pass
    assert refused.value.fix.startswith("Use ")
    assert "FILE" not in refused.value.fix


@pytest.mark.anyio
async def test_what_became_wrong_with_the_servers_own_file_is_no_requests_fault(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    word, model = tmp_path / "word.onnx", tmp_path / "gone.gguf"
    heard = ServeParts(Settings(policy=Policy(turn_policy="wake_word", wake_word=str(word))))
    answered = ServeParts(Settings(llm=str(model)))
    with pytest.raises(ModelError, match="The server's own wake_word cannot be used any more") as voice:
        async with heard.open_voice(Wish(policy=heard._settings.policy)):
            pass
    for make in (answered.provider, lambda: answered.open_responder(Wish())):
        with pytest.raises(ModelError, match="The server's own llm cannot be used any more") as typed:
            make()
        assert str(tmp_path) not in str(typed.value)

    assert str(tmp_path) not in str(voice.value)
    assert "FILE" not in voice.value.fix + typed.value.fix
    assert f"wake_word: {word} cannot be read" in caplog.text
    assert f"llm: The language model {model} cannot be read" in caplog.text


@pytest.mark.anyio
async def test_a_language_that_was_asked_for_is_the_requests_fault_and_a_device_is_told_as_it_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refusing(error: SettingError) -> Any:
        @asynccontextmanager
        async def refuse(*_: Any, **__: Any) -> AsyncIterator[Any]:
            raise error
            yield

        return refuse

    for text, wish, kind in (
        ("language: unknown.", Wish(language="xx"), SettingError),
        ("language: unknown.", Wish(), ModelError),
        ("microphone: it is gone.", Wish(), DeviceError),
    ):
        monkeypatch.setattr(serve_parts, "open_talk", refusing(SettingError(text, fix="Do it.")))
        with pytest.raises(kind):
            async with ServeParts(Settings()).open_voice(wish):
                pass
