"""The command line: what is chosen, what is imported for it, and how what is wrong is told."""

import argparse
import importlib
import subprocess
import sys
from pathlib import Path

import pytest

from discussion_helper.cli import main
from discussion_helper.command_line import COMMANDS, CommandParser, parse, with_option

LOADED = """
import sys
from discussion_helper.cli import main
try:
    main({argv})
except SystemExit:
    pass
print(sorted(name for name in sys.modules if name.startswith(("discussion_helper.", "anyio", "asyncio", "numpy"))))
"""


def refused(capsys: pytest.CaptureFixture[str], *argv: str) -> list[str]:
    with pytest.raises(SystemExit) as stopped:
        main(argv)
    assert 2 == stopped.value.code
    return capsys.readouterr().err.splitlines()


@pytest.mark.parametrize("option", ["--version", "--help"])
def test_the_version_and_the_help_need_next_to_nothing(option: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", LOADED.format(argv=[option])], capture_output=True, text=True, check=True
    )

    ours = [f"discussion_helper.{name}" for name in ("cli", "command_line", "errors", "lazy")]
    assert str(ours) == done.stdout.splitlines()[-1]


def test_the_help_is_that_of_the_commands() -> None:
    whole = argparse.ArgumentParser()
    commands = whole.add_subparsers()
    for name in COMMANDS:
        importlib.import_module(f"discussion_helper.commands.{name}").add_parser(commands)

    assert COMMANDS == {choice.dest: choice.help for choice in commands._get_subactions()}


@pytest.mark.parametrize(
    ("argv", "usage"),
    [
        (["talk", "--sst", "x"], "usage: discussion-helper talk "),
        (["talk", "extra"], "usage: discussion-helper talk "),
        (["doctor", "--all"], "usage: discussion-helper doctor "),
        (["models", "pull", "--everything"], "usage: discussion-helper models pull "),
        (["--json", "talk"], "usage: discussion-helper [-h]"),
    ],
)
def test_an_unknown_option_is_told_with_the_usage_of_its_command(
    argv: list[str], usage: str, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = refused(capsys, *argv)

    assert lines[0].startswith(usage)
    assert "unrecognized arguments: " in lines[-1]


@pytest.mark.parametrize(
    "argv", [["talk", "--lang=de"], ["models", "pull", "--al"], ["bench", "--qu"], ["--vers", "doctor"]]
)
def test_half_an_option_is_none(argv: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    half = next(word for word in argv if word.startswith("--"))

    assert refused(capsys, *argv)[-1].endswith(f"unrecognized arguments: {half}")


@pytest.mark.parametrize(
    ("argv", "told"),
    [
        (["talk", "--language", "english", "--input", "x.wav"], "--language: 'english' is not a language code."),
        (["talk", "--language", "xx", "--input", "x.wav"], "--language: no recogniser here knows 'xx'."),
        (["talk", "--stt", "x", "--input", "x.wav"], "--stt: there is no recogniser 'x'."),
        (["talk", "--voice", "x", "--input", "x.wav"], "--voice: there is no voice 'x'."),
        (["talk", "--llm", "x", "--input", "x.wav"], "--llm names neither a model file nor an endpoint."),
        (["talk", "--llm", "m@http://", "--input", "x.wav"], "--llm is not a valid URL."),
        (["talk", "--max-sentences", "-1", "--input", "x.wav"], "--max-sentences: -1 is out of range."),
        (["talk", "--silence-timeout", "-1", "--input", "x.wav"], "--silence-timeout: -1.0 is out of range."),
        (["talk", "--llm", f"{'x' * 300}.gguf", "--input", "x.wav"], "--llm: "),
        (["talk", "--voice", f"{'x' * 300}.onnx", "--input", "x.wav"], "--voice: "),
        (["talk", "--voice", "~nobody/x.onnx", "--input", "x.wav"], "--voice: "),
        (["talk", "--llm", "x" * 5000, "--input", "x.wav"], "--llm names neither"),
        (["doctor", "--stt", " "], "--stt: it is empty."),
    ],
)
def test_a_wrong_setting_is_told_by_its_option(argv: list[str], told: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert 1 == main(argv)
    assert capsys.readouterr().err.splitlines()[-1].startswith(f"discussion-helper: {told}")


def test_a_device_is_told_by_the_option_that_named_it() -> None:
    text = 'microphone: No microphone fits "x".'
    for options in (["--device", "x"], ["--device", "y", "--microphone", "x"], ["--microphone", "x"]):
        assert f'{options[-2]}: No microphone fits "x".' == with_option(text, parse(["talk", *options]))


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no device that is always full")
@pytest.mark.parametrize("argv", [["--version"], ["models", "list"], ["rehearse", "Hi."]])
def test_output_that_cannot_be_written_is_one_line(argv: list[str]) -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "discussion_helper", *argv], stdout=full, stderr=subprocess.PIPE, check=False
        )

    assert 1 == done.returncode
    assert b"discussion-helper: The output could not be written: No space left on device.\n" == done.stderr


def test_a_parser_of_a_command_is_as_strict() -> None:
    actions = CommandParser().add_subparsers()

    assert isinstance(actions.add_parser("x"), CommandParser)


def test_the_package_gives_its_names_when_they_are_used() -> None:
    import discussion_helper

    assert all(getattr(discussion_helper, name).__name__ == name for name in discussion_helper.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        getattr(discussion_helper, "nothing")  # noqa: B009 - a type checker would see it
