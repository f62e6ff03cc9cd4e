"""The settings file below the command line."""

import argparse
from pathlib import Path

import pytest

from discussion_helper.command_line import parse, with_option
from discussion_helper.commands.option import with_file
from discussion_helper.commands.talk_plan import settings_of
from discussion_helper.config_file import VARIABLE
from discussion_helper.errors import SettingError
from discussion_helper.tuning import Tuning


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Empty."""
    path = tmp_path / "settings.toml"
    path.touch()
    monkeypatch.setenv(VARIABLE, str(path))
    return path


def talk_arguments(*options: str) -> argparse.Namespace:
    return with_file(parse(["talk", *options]))


def test_with_an_empty_file_the_arguments_are_as_they_were(file: Path) -> None:
    assert vars(parse(["talk", "--stt", "base"])) == vars(talk_arguments("--stt", "base"))


def test_the_file_says_what_the_command_line_does_not(file: Path) -> None:
    file.write_text('stt = "base"\nbarge_in = false\nmax_sentences = 2\nsilence_timeout = 5\nmicrophone = "USB"\n')
    settings = settings_of(talk_arguments(), (), None)

    assert ("base", "USB", None) == (settings.stt, settings.microphone, settings.loudspeaker)
    policy = settings.policy
    assert (False, 2, 5) == (policy.allow_barge_in, policy.max_reply_sentences, policy.silence_timeout_s)


def test_what_only_the_file_says_reaches_the_talk(file: Path) -> None:
    file.write_text("vad.threshold = 0.6\nbarge_in_min_words = 2\nbarge_in_grace_s = 0.5\nmax_sentences = 2\n")
    settings = settings_of(talk_arguments("--max-sentences", "3"), (), None)

    assert Tuning(vad_threshold=0.6) == settings.tuning
    policy = settings.policy
    assert (2, 0.5, 3) == (policy.barge_in_min_words, policy.barge_in_grace_s, policy.max_reply_sentences)


@pytest.mark.parametrize(
    ("option", "name", "value"),
    [
        (["--stt", "tiny.en"], "stt", "tiny.en"),
        (["--max-sentences", "0"], "max_sentences", 0),
        (["--barge-in"], "no_barge_in", False),
        (["--system", ""], "system", ""),
    ],
)
def test_what_was_given_counts_also_where_it_is_the_usual(
    option: list[str], name: str, value: object, file: Path
) -> None:
    file.write_text('stt = "base"\nbarge_in = false\nmax_sentences = 2\nsystem = "Be kind."\n')

    assert value == getattr(talk_arguments(*option), name)
    assert value != getattr(talk_arguments(), name)


@pytest.mark.parametrize(
    ("options", "devices"),
    [
        ([], ("m", "l")),
        (["--device", "USB"], ("USB", "USB")),
        (["--microphone", "USB"], ("USB", "l")),
    ],
)
def test_devices_of_the_file_stand_back_for_those_that_were_named(
    options: list[str], devices: tuple[str, str], file: Path
) -> None:
    file.write_text('microphone = "m"\nloudspeaker = "l"\n')
    settings = settings_of(talk_arguments(*options), (), None)

    assert devices == (settings.microphone, settings.loudspeaker)


def test_recordings_need_no_device_of_the_file(file: Path) -> None:
    file.write_text('microphone = "m"\nloudspeaker = "l"\n')
    arguments = talk_arguments("--input", "a.wav", "--output", "b.wav")

    assert settings_of(arguments, (Path("a.wav"),), Path("b.wav")).microphone is None


@pytest.mark.parametrize("line", ['stt = "nonsense"', 'voice = "nonsense"', 'llm = "nonsense"'])
def test_a_name_that_does_not_exist_is_told_with_the_file(line: str, file: Path) -> None:
    file.write_text(line)

    with pytest.raises(SettingError, match=r"settings\.toml: ?.*(nonsense|llm)"):
        talk_arguments()


@pytest.mark.parametrize(
    ("line", "what", "told"),
    [
        ('microphone = "USB Mic"', 'microphone: No microphone fits "USB Mic".', "microphone: No microphone fits"),
        ("max_sentences = 3", "max_reply_sentences: 3 is odd.", "max_sentences: 3 is odd."),
        ("silence_timeout = 3", "silence_timeout_s: 3 is odd.", "silence_timeout: 3 is odd."),
        ('language = "de"', "language: tiny.en knows English only", "language: tiny.en knows"),
        ('system = "Be kind."', "system: it is too long", "system: it is too long"),
    ],
)
def test_what_turns_out_to_be_wrong_later_is_told_with_the_file_it_came_from(
    line: str, what: str, told: str, file: Path
) -> None:
    file.write_text(line)
    arguments = parse(["talk"])
    for each in (with_file(arguments), arguments):
        assert with_option(what, each).startswith(f"{file}: {told}")

    assert with_option("loudspeaker: No loudspeaker fits", arguments).startswith("--loudspeaker: ")


def test_what_the_command_line_named_is_told_with_its_option_beside_a_file(file: Path) -> None:
    file.write_text('microphone = "USB"\n')
    arguments = parse(["talk", "--microphone", "HDMI"])
    with_file(arguments)

    assert with_option("microphone: No microphone fits", arguments).startswith("--microphone: ")


def test_a_wrong_file_ends_a_talk_with_one_line(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from discussion_helper.cli import main

    file.write_text("speed = 3\n")

    assert 1 == main(["talk", "--json", "--input", "none.wav"])
    (line,) = capsys.readouterr().err.splitlines()
    assert f"{file}: there is no setting 'speed'. Use language, stt," in line
