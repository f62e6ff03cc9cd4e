"""The settings file."""

import errno
import os
import re
import socket
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discussion_helper.cli import main
from discussion_helper.config_file import KEYS, VARIABLE, Value, config_path, read_config, write_config
from discussion_helper.errors import SettingError


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "folder" / "settings.toml"


def written(file: Path, text: str | bytes) -> Path:
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return file


def test_no_file_says_nothing(file: Path) -> None:
    assert {} == read_config(file)


def test_what_was_written_is_read(file: Path) -> None:
    values: dict[str, Value] = {
        "stt": "base",
        "barge_in": False,
        "max_sentences": 3,
        "silence_timeout": 2.5,
        "microphone": 'a "b" [ALSA]\\',
    }

    assert file == write_config(values, file)
    assert values == read_config(file)


def test_comments_and_other_keys_stay(file: Path) -> None:
    written(file, '# mine\r\nstt   = "a # b"  # slow "#"\r\nlanguage = "en"\r\n')
    write_config({"stt": "tiny.en", "barge_in": False}, file)

    assert file.read_text() == '# mine\nstt   = "tiny.en"  # slow "#"\nlanguage = "en"\nbarge_in = false\n'


def test_what_is_new_is_no_part_of_a_table(file: Path) -> None:
    written(file, "# mine\n[vad]  # of the detector\nthreshold = 0.6\n")
    write_config({"stt": "tiny.en"}, file)

    assert file.read_text() == '# mine\nstt = "tiny.en"\n[vad]  # of the detector\nthreshold = 0.6\n'
    assert {"stt": "tiny.en", "vad.threshold": 0.6} == read_config(file)


@pytest.mark.parametrize("text", ["vad.threshold = 0.6", '"vad.threshold" = 0.6', "[vad]\nthreshold = 0.6"])
def test_a_number_of_the_tuning_has_one_name_however_it_is_written(text: str, file: Path) -> None:
    assert {"vad.threshold": 0.6} == read_config(written(file, text))


def test_a_line_of_a_long_text_is_not_taken_for_a_setting(file: Path) -> None:
    written(file, 'system = """\nstt = 1\n"""\n')
    write_config({"stt": "base"}, file)

    assert {"system": "stt = 1\n", "stt": "base"} == read_config(file)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('sst = "base"', ["there is no setting 'sst'", "Use language, stt,"]),
        ("stt = 3", ["stt: 3 is not text"]),
        ('barge_in = "no"', ["barge_in: 'no' is not true or false"]),
        ("barge_in = 0", ["barge_in: 0 is not true or false"]),
        ("max_sentences = true", ["max_sentences: True is not a whole number"]),
        ("max_sentences = -1", ["max_sentences: -1 is out of range"]),
        ("silence_timeout = nan", ["silence_timeout: nan is out of range"]),
        ('language = "english"', ["language: 'english' is not a language code"]),
        ('stt = ""', ["stt: it is empty"]),
        ("[talk]\nstt = 'base'", ["there is no setting 'talk'"]),
        ("stt = base", ["is not TOML", "line 1"]),
        (b"stt = '\xff'", ["is not TOML", "UTF-8"]),
        ("#" * 70_000, ["longer than 65536 bytes"]),
        ("language = " + "[" * 5_000, ["is not TOML"]),
        ("max_sentences = " + "9" * 10_000, ["is not TOML"]),
        ("max_sentences = 0x" + "f" * 10_000, ["max_sentences: a number of too many digits is out of range"]),
        ("silence_timeout = 0x" + "f" * 10_000, ["silence_timeout: a number of too many digits is out of range"]),
        ("stt = 0x" + "f" * 10_000, ["stt: a number of too many digits is not text"]),
        ('language = "' + "x" * 60_000 + '"', ["language: 'xxx", "is not a language code"]),
        ("vad.threshold = 2", ["vad.threshold: 2 is out of range"]),
        ("vad.on = 0.5", ["there is no setting 'vad.on'", "vad.threshold"]),
        ("vad = 0.5", ["there is no setting 'vad'"]),
        ("endpoint.early_s = 0.6", ["endpoint.early_s: 0.6 is above endpoint.silence_s"]),
        ('"vad.threshold" = 0.5\n[vad]\nthreshold = 0.6', ["vad.threshold: it stands there twice"]),
        ("barge_in_min_words = 1.5", ["barge_in_min_words: 1.5 is not a whole number"]),
        ("barge_in_min_words = 99", ["barge_in_min_words: 99 is out of range"]),
        ('barge_in_stop_words = "halt"', ["barge_in_stop_words: 'halt' is not a list of phrases"]),
        ('hints = "Aachen"', ["hints: 'Aachen' is not a list of phrases"]),
        ("hints = ['Aachen', 1]", ["hints: ['Aachen', 1] is not a list of phrases"]),
        ("patient = 2", ["there is no setting 'patient'", "Is endpoint.patient meant? Use language, stt,"]),
        ("barge_in_stop_words = [5]", ["barge_in_stop_words: "]),
    ],
)
def test_what_is_wrong_is_told_with_file_key_and_fix(text: str | bytes, words: list[str], file: Path) -> None:
    with pytest.raises(SettingError) as caught:
        read_config(written(file, text))

    assert caught.value.what.startswith(str(file))
    assert caught.value.fix
    assert all(word in str(caught.value) for word in words), str(caught.value)
    assert len(str(caught.value).splitlines()) == 1


def test_a_folder_in_its_place_is_told(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match="cannot be read"):
        read_config(tmp_path)


def test_the_null_device_says_nothing() -> None:
    assert {} == read_config(Path(os.devnull))


@pytest.mark.skipif(sys.platform == "win32", reason="pipes and sockets have no paths there")
def test_what_is_no_file_is_neither_opened_nor_replaced(tmp_path: Path) -> None:
    pipe, listening, link = tmp_path / "pipe", tmp_path / "socket", tmp_path / "link"
    os.mkfifo(pipe)
    link.symlink_to(pipe)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(listening))
        for path in (pipe, listening, link):
            with pytest.raises(SettingError, match=r"cannot be read \(It is no file\)"):
                read_config(path)
        for path in (pipe, listening, link, tmp_path):
            with pytest.raises(SettingError, match=r"cannot be written \(it is no file\)\. Name a file"):
                write_config({"stt": "base"}, path)

        assert pipe.is_fifo()
        assert listening.is_socket()
        assert {pipe, listening, link} == set(tmp_path.iterdir())


def test_a_full_disk_leaves_the_file_as_it_was_and_nothing_beside_it(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written(file, 'stt = "base"\n')

    def fdopen(descriptor: int, *_: object, **__: object) -> None:
        os.close(descriptor)
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("discussion_helper.config_file.os.fdopen", fdopen)
    monkeypatch.setattr("discussion_helper.config_file.regular_bytes", lambda path, _: path.read_bytes())
    with pytest.raises(SettingError, match="No space left on device"):
        write_config({"stt": "tiny.en"}, file)
    monkeypatch.undo()

    assert 'stt = "base"\n' == file.read_text()
    assert [file] == list(file.parent.iterdir())


def test_a_wrong_value_is_not_written_and_nothing_is_lost(file: Path) -> None:
    written(file, 'stt = "base"\n')
    for values in ({"max_sentences": -1}, {"nonsense": "x"}, {"microphone": "\udcff"}):
        with pytest.raises(SettingError):
            write_config(values, file)

    assert file.read_text() == 'stt = "base"\n'
    assert [file] == list(file.parent.iterdir())


def test_a_place_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    with pytest.raises(SettingError, match=r"cannot be (read|written)"):
        write_config({"stt": "base"}, tmp_path / "file" / "settings.toml")


def test_the_variable_names_another_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(VARIABLE, str(tmp_path / "mine.toml"))
    assert tmp_path / "mine.toml" == config_path()

    monkeypatch.delenv(VARIABLE)
    assert "settings.toml" == config_path().name
    assert "discussion_helper" == config_path().parent.name


VALUES = {
    "text": st.text(st.characters(exclude_categories=["Cs"]), min_size=1).filter(str.strip),
    "true or false": st.booleans(),
    "a whole number": st.integers(0, 10_000),
    "a number of seconds": st.floats(0.1, 5.0),
    "a list of phrases": st.lists(st.text("abc", min_size=1, max_size=9), max_size=3),
    "a number": st.floats(0.36, 0.49),
}
BOUND = {
    "language",
    "barge_in_min_words",
    "barge_in_ramp_s",
    "turn_policy",
    "vad.release",
    "endpoint.silence_s",
    "endpoint.max_turn_s",
}
"""What not every value of its kind fits."""
FILES = st.fixed_dictionaries({}, optional={key: VALUES[kind] for key, kind in KEYS.items() if key not in BOUND})


@given(before=FILES, after=FILES)
def test_any_settings_come_back_as_they_were_written(
    before: dict[str, Value],
    after: dict[str, Value],
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    file = tmp_path_factory.mktemp("settings") / "settings.toml"
    write_config(before, file)
    write_config(after, file)

    assert {**before, **after} == read_config(file)


def test_a_file_that_is_named_and_is_not_there_is_refused_with_the_variable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    missing = tmp_path / "settings.tmol"
    monkeypatch.setenv(VARIABLE, str(missing))

    with pytest.raises(SettingError, match=f"{VARIABLE}: there is no file {re.escape(str(missing))}") as refused:
        read_config()

    assert f"unset {VARIABLE}" in refused.value.fix
    assert {} == read_config(may_be_missing=True)
    assert {} == read_config(missing)


@pytest.mark.parametrize("command", ["talk", "serve"])
def test_no_command_begins_with_settings_that_are_not_there(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(VARIABLE, str(tmp_path / "settings.tmol"))

    assert 1 == main([command])
    assert f"{VARIABLE}: there is no file" in capsys.readouterr().err
