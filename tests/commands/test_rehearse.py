"""The rehearsal, and the command line around it."""

import json
import subprocess
import sys

import pytest

from discussion_helper.cli import main
from discussion_helper.errors import DiscussionError

HEAVY = ("ctranslate2", "faster_whisper", "httpx", "numpy", "openai", "piper", "sounddevice", "xllamacpp")


def test_a_rehearsal_tells_every_event_in_order(capsys: pytest.CaptureFixture[str]) -> None:
    code = main(["rehearse", "Hello.", "--sentences", "1", "--json"])
    kinds = [json.loads(line)["kind"] for line in capsys.readouterr().out.splitlines()]

    exchange = ["utterance", "floor", "floor", "utterance", "timing", "floor"]
    assert (0, ["floor", *exchange, "floor", "ended"]) == (code, kinds)


def test_a_rehearsal_can_be_talked_over(capsys: pytest.CaptureFixture[str]) -> None:
    main(["rehearse", "Hello.", "--interrupt-after", "0.1", "--json"])
    agent = [json.loads(line) for line in capsys.readouterr().out.splitlines() if '"agent"' in line]

    assert [True] == [utterance["interrupted"] for utterance in agent]


def test_replies_that_end_before_the_interruption_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert 0 == main(["rehearse", "Hello.", "--interrupt-after", "1", "--sentences", "1"])
    told = capsys.readouterr().err.splitlines()

    assert told[1:] == [
        "No reply was interrupted: each lasts 0.3 s, and --interrupt-after is 1. "
        "Use a smaller one, or more --sentences."
    ]
    main(["rehearse", "Hello.", "--interrupt-after", "0.1"])
    assert 1 == len(capsys.readouterr().err.splitlines())


def test_a_rehearsal_needs_nothing_that_is_heavy() -> None:
    code = (
        "import sys; from discussion_helper.commands import rehearse; import argparse;"
        "p = argparse.ArgumentParser(); rehearse.add_parser(p.add_subparsers());"
        "a = p.parse_args(['rehearse', 'Hi.', '--sentences', '1']); assert a.run(a) == 0;"
        f"loaded = [m for m in {HEAVY} if m in sys.modules]; assert not loaded, loaded"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=30, check=False)

    assert (0, "") == (done.returncode, done.stderr.replace("interruption rate 0.00\n", ""))


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("--sentences", "-1"),
        ("--sentences", "x"),
        ("--sentences", "1" * 5000),
        ("--interrupt-after", "99"),
        ("--interrupt-after", "x"),
        ("--interrupt-after", "nan"),
    ],
)
def test_bad_options_are_refused(option: str, value: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["rehearse", f"{option}={value}"])

    assert 2 == stopped.value.code
    assert f"argument {option}: {value!r} " in capsys.readouterr().err


def test_a_command_is_needed() -> None:
    with pytest.raises(SystemExit) as stopped:
        main([])

    assert 2 == stopped.value.code


def test_the_version_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--version"])

    assert capsys.readouterr().out.startswith("discussion-helper 0.")


def test_an_error_is_one_line_that_a_terminal_can_show(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(arguments: object) -> int:
        raise DiscussionError("it said \x1b]0;evil\x07\nand more.", fix="Do this.")

    monkeypatch.setattr("discussion_helper.commands.rehearse.run", fail)
    code = main(["rehearse"])
    text = capsys.readouterr().err

    assert (1, 1, False) == (code, text.count("\n"), "\x1b" in text)
    assert text.endswith("Do this.\n")


def test_a_reader_that_goes_away_is_no_error_to_tell() -> None:
    command = [sys.executable, "-m", "discussion_helper", "rehearse", "--sentences", "3"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as rehearsal:
        assert rehearsal.stdout is not None
        assert rehearsal.stderr is not None
        rehearsal.stdout.readline()
        rehearsal.stdout.close()
        told = rehearsal.stderr.read()

    assert (141, "") == (rehearsal.returncode, told)


def test_the_process_ends_with_the_commands_code() -> None:
    command = [sys.executable, "-m", "discussion_helper", "models", "path", "nonsense"]
    done = subprocess.run(command, capture_output=True, check=False)

    assert (1, 1) == (done.returncode, done.stderr.count(b"\n"))
