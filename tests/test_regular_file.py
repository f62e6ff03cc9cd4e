"""Regular files are read, and nothing else is opened."""

import os
import socket
import sys
from pathlib import Path

import pytest

from discussion_helper.regular_file import check_replaceable, regular_bytes


def test_a_file_is_read_whole_or_its_beginning(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"1234")
    assert (b"1234", b"12") == (regular_bytes(tmp_path / "file"), regular_bytes(tmp_path / "file", 2))


@pytest.mark.skipif(sys.platform == "win32", reason="pipes and sockets have no paths there")
def test_a_pipe_and_a_socket_are_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "socket"))
        for name in ("pipe", "socket"):
            with pytest.raises(OSError, match="It is no file"):
                regular_bytes(tmp_path / name)
            with pytest.raises(OSError, match="It is no file"):
                check_replaceable(tmp_path / name)


def test_a_folder_and_nothing_are_refused(tmp_path: Path) -> None:
    with pytest.raises(IsADirectoryError):
        regular_bytes(tmp_path)
    with pytest.raises(IsADirectoryError):
        check_replaceable(tmp_path)
    with pytest.raises(FileNotFoundError):
        regular_bytes(tmp_path / "gone")


def test_a_file_may_be_replaced_and_nothing_as_well(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"1")
    check_replaceable(tmp_path / "file")
    check_replaceable(tmp_path / "gone")
