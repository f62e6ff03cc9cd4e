"""What `serve` is told holds for its sessions by voice: at this machine's microphone, at a client's, for who types."""

import argparse
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette

from discussion_helper.commands import serve, serve_parts
from discussion_helper.commands.option import with_file
from discussion_helper.commands.serve_parts import ServeParts
from discussion_helper.commands.talk_options import add_parts, add_turn_policy
from discussion_helper.config_keys import KEYS, POLICY_FIELDS
from discussion_helper.errors import ModelMissing
from discussion_helper.settings import Settings
from discussion_helper.testing.fakes import EchoResponder
from discussion_helper.tuning import TUNING_NAMES
from discussion_helper.web import create_app

pytestmark = pytest.mark.anyio

ClientOf = Callable[..., Any]

OPTIONS: dict[str, tuple[list[str], dict[str, Any]]] = {
    "--language": (["--stt", "base", "--language", "de"], {"language": "de"}),
    "--stt": (["--stt", "base"], {"stt": "base"}),
    "--voice": (["--voice", "/home/me/own.onnx"], {"voice": "/home/me/own.onnx"}),
    "--hints": (["--hints", "Aachen", "Karin"], {"hints": ("Aachen", "Karin")}),
    "--llm": (["--llm", "model@http://127.0.0.1:9"], {"llm": "model@http://127.0.0.1:9"}),
    "--system": (["--system", "You are Karin."], {"system": "You are Karin."}),
    "--tools": (["--tools", "my_tools:weather"], {"tools": "my_tools:weather"}),
    "--filler": (["--filler", "Let me see."], {"filler": "Let me see."}),
    "--push-to-talk": (["--push-to-talk"], {"policy.turn_policy": "push_to_talk"}),
    "--wake-word": (
        ["--wake-word", "/home/me/word.onnx"],
        {"policy.turn_policy": "wake_word", "policy.wake_word": "/home/me/word.onnx"},
    ),
    "--open-microphone": (["--open-microphone"], {"policy.turn_policy": "open"}),
}
"""What is typed, and what the settings of each session have then."""
KEPT: dict[str, Any] = {
    "language": "de",
    "stt": "base",
    "hints": ["Aachen"],
    "voice": "own.onnx",
    "llm": "model@http://127.0.0.1:9",
    "system": "You are Karin.",
    "filler": "Let me see.",
    "microphone": "USB",
    "loudspeaker": "USB",
    "learn_pauses": False,
    "barge_in": False,
    "max_sentences": 3,
    "silence_timeout": 60.0,
    "speculate": False,
    "reopen_s": 0.5,
    "say_not_understood": False,
    "barge_in_grace_s": 0.5,
    "barge_in_min_speech_s": 0.25,
    "barge_in_min_words": 2,
    "barge_in_resume_after_s": 2.0,
    "barge_in_ramp_s": 0.05,
    "barge_in_backchannels": ["I see"],
    "barge_in_stop_words": ["halt"],
    "turn_policy": "push_to_talk",
    "wake_word": "hey_jarvis",
    "follow_up_s": 3.0,
    **dict.fromkeys(TUNING_NAMES),
}
"""A value of each key of the settings file; of what may be tuned its own."""


def _parsed(*options: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    serve.add_parser(parser.add_subparsers())
    return with_file(parser.parse_args(["serve", *options]))


async def _settings_of_sessions(
    arguments: argparse.Namespace, monkeypatch: pytest.MonkeyPatch, client_of: ClientOf
) -> list[Settings]:
    """Of one at this machine's microphone, of one at a client's, and of what answers who can only type in that."""
    found: list[Settings] = []

    @asynccontextmanager
    async def open_talk(settings: Settings, **_: Any) -> AsyncIterator[Any]:
        found.append(settings)
        raise ModelMissing("No model.", fix="Pull it.")
        yield

    def responder_for(_: Any, settings: Settings) -> EchoResponder:
        found.append(settings)
        return EchoResponder()

    monkeypatch.setattr(serve_parts, "open_talk", open_talk)
    monkeypatch.setattr(serve_parts, "responder_for", responder_for)
    monkeypatch.setattr(serve_parts, "choose_llm", lambda _: None)
    async with client_of(_app(serve.settings_of(arguments))) as client:
        for transport in ("local", "remote"):
            await client.post("/sessions", json={"transport": transport})
    return found


def _app(settings: Settings) -> Starlette:
    parts = ServeParts(settings)
    return create_app(
        token=None,
        policy=settings.policy,
        open_voice=parts.open_voice,
        open_remote=parts.open_remote,
        open_responder=parts.open_responder,
    )


def _value(settings: Any, path: str) -> Any:
    for name in path.split("."):
        settings = getattr(settings, name)
    return settings


@pytest.mark.parametrize("option", sorted(OPTIONS))
async def test_an_option_holds_for_every_session_by_voice(
    option: str, monkeypatch: pytest.MonkeyPatch, client_of: ClientOf, tmp_path: Path
) -> None:
    monkeypatch.setenv("DISCUSSION_HELPER_CONFIG", str(_file(tmp_path, {"turn_policy": "wake_word"})))
    typed, expected = OPTIONS[option]

    found = await _settings_of_sessions(_parsed(*typed), monkeypatch, client_of)

    assert [expected] * 3 == [{path: _value(each, path) for path in expected} for each in found]


@pytest.mark.parametrize("key", sorted(KEPT))
async def test_a_key_of_the_settings_file_holds_for_every_session_by_voice(
    key: str, monkeypatch: pytest.MonkeyPatch, client_of: ClientOf, tmp_path: Path
) -> None:
    path, value = _place(key)
    _make_voice(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DISCUSSION_HELPER_CONFIG", str(_file(tmp_path, {key: value})))

    found = await _settings_of_sessions(_parsed(), monkeypatch, client_of)

    expected = tuple(value) if isinstance(value, list) else value
    assert [expected] * 3 == [_value(each, path) for each in found]
    assert expected != _value(Settings(), path)


def test_no_option_and_no_key_was_forgotten() -> None:
    parser = argparse.ArgumentParser(add_help=False)
    add_parts(parser)
    add_turn_policy(parser.add_argument_group())

    assert {action.option_strings[0] for action in parser._actions} == set(OPTIONS)
    assert set(KEYS) == set(KEPT)


def _place(key: str) -> tuple[str, Any]:
    """Where the settings have it, and another value than the usual one."""
    if key in TUNING_NAMES:
        path = f"tuning.{key.replace('.', '_')}"
        return path, round(_value(Settings(), path) * 1.01, 6)
    return f"policy.{POLICY_FIELDS[key]}" if key in POLICY_FIELDS else key, KEPT[key]


def _file(folder: Path, values: dict[str, Any]) -> Path:
    """With a recogniser that knows every language."""
    file = folder / "settings.toml"
    file.write_text("".join(f"{key} = {json.dumps(value)}\n" for key, value in {"stt": "base", **values}.items()))
    return file


def _make_voice(folder: Path) -> None:
    description = {"audio": {"sample_rate": 22050}, "espeak": {"voice": "en-us"}, "num_speakers": 1}
    (folder / "own.onnx").write_bytes(b"")
    (folder / "own.onnx.json").write_text(json.dumps({**description, "phoneme_id_map": {"a": [1]}}))
