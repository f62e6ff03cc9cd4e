"""What is kept of a speaker's pauses between talks."""

import os
import stat
import sys
from pathlib import Path

import pytest

from discussion_helper.errors import SettingError
from discussion_helper.turn.pauses import MOST
from discussion_helper.voice.pause_file import PauseFile, pause_file_path


def test_what_was_learned_is_there_the_next_time_for_each_speaker(tmp_path: Path) -> None:
    file = PauseFile(tmp_path / "new" / "pauses.json")
    assert file.read() == ()

    file.write((0.31, 0.9))
    file.write((1.8,), speaker="someone")

    assert PauseFile(tmp_path / "new" / "pauses.json").read() == (0.31, 0.9)
    assert file.read("someone") == (1.8,)
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["pauses.json"]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such modes; the user's folder is private there")
def test_nobody_else_can_read_it(tmp_path: Path) -> None:
    PauseFile(tmp_path / "pauses.json").write((0.5,))

    assert stat.S_IMODE(os.stat(tmp_path / "pauses.json").st_mode) == 0o600


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "3",
        '{"format": 2, "speakers": {"default": [0.5]}}',
        '{"format": 1, "speakers": []}',
        '{"format": 1, "speakers": {"default": "0.5"}}',
        '{"format": 1, "speakers": {"default": ["0.5", null, true, NaN, Infinity, -1, 9, {}]}}',
        '{"format": 1, "speakers": {"default": [1' + 400 * "0" + "]}}",
        "[" * 10_000,
        "\x00\xff",
    ],
)
def test_what_cannot_be_understood_is_learned_anew(tmp_path: Path, text: str) -> None:
    path = tmp_path / "pauses.json"
    path.write_text(text, encoding="utf-8")

    assert PauseFile(path).read() == ()
    PauseFile(path).write((0.5,))
    assert PauseFile(path).read() == (0.5,)


def test_only_the_last_ones_are_kept(tmp_path: Path) -> None:
    file = PauseFile(tmp_path / "pauses.json")
    file.write(tuple(0.3 + number / 1000 for number in range(3 * MOST)))

    assert len(file.read()) == MOST
    assert file.read()[-1] == pytest.approx(0.3 + (3 * MOST - 1) / 1000)


def test_a_folder_in_its_place_is_said_with_the_way_out(tmp_path: Path) -> None:
    (tmp_path / "pauses.json").mkdir()

    with pytest.raises(SettingError, match=r"pauses\.json cannot be read .*learn_pauses = false"):
        PauseFile(tmp_path / "pauses.json").read()


@pytest.mark.parametrize("name", ["a\0b", "\ud800"])
def test_a_path_that_can_be_none_is_said_with_the_way_out(tmp_path: Path, name: str) -> None:
    file = PauseFile(tmp_path / name)
    for call in (file.read, lambda: file.write((0.5,))):
        with pytest.raises(SettingError, match="learn_pauses = false") as caught:
            call()
        str(caught.value).encode()


def test_it_lies_with_the_users_data() -> None:
    assert pause_file_path().name == "pauses.json"
    assert "discussion_helper" in pause_file_path().parts
