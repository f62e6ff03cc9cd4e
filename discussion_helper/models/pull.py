"""A pull: the files of one model, from the first source that has them."""

import errno
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import filelock

from discussion_helper.errors import DownloadFailed
from discussion_helper.models.hub import Hub
from discussion_helper.models.index import fetch_packages
from discussion_helper.models.part import Part, SourceFailed
from discussion_helper.models.progress import Observer, Progress, ProgressKind
from discussion_helper.models.stamps import Stamps
from discussion_helper.models.values import HubSource, IndexSource, Model, ModelFile, Source

__all__ = ["Pull"]

_NO_SPACE = {errno.ENOSPC, errno.EDQUOT}


class Pull:
    """Brings `model` into `folder`, which belongs to that model alone, under a lock beside it."""

    def __init__(self, model: Model, folder: Path, *, hub: Hub, observer: Observer) -> None:
        self._model = model
        self._folder = folder
        self._hub = hub
        self._observer = observer

    def run(self) -> None:
        """Fetch what is missing or wrong. Raises DownloadFailed."""
        try:
            self._demand(self._outstanding())
            self._folder.mkdir(parents=True, exist_ok=True)
            with _locked(self._folder.with_name(f".{self._folder.name}.lock"), lambda: self._tell("waiting")):
                self._sweep(keep={self._part(file).path for file in self._model.files})
                self._ask_sources()
        except OSError as error:
            raise self._refusal(error) from error
        finally:
            with suppress(OSError):
                self._folder.rmdir()  # only if nothing came

    def _ask_sources(self) -> None:
        tried = []
        for source in self._model.sources:
            try:
                self._fetch(source)
            except SourceFailed as failure:
                tried.append(f"{_label(source)}: {failure}")
                self._tell("gave_up", source=_label(source), reason=str(failure))
            else:
                self._sweep(keep=set())
                return
        raise DownloadFailed(
            f"No source could deliver {self._model.name}. Tried {'; '.join(tried)}.",
            fix="Check the network (DISCUSSION_HELPER_HUB may name a mirror), then run: "
            f"discussion-helper models pull {self._model.name}",
        )

    def _fetch(self, source: Source) -> None:
        missing = self._missing()
        match source:
            case HubSource():
                for file in missing:
                    self._hub.fetch(source.route(file), self._part(file), self._reporter(source, file))
                    self._tell("ready", source=_label(source), item=file.path, done=file.size, total=file.size)
            case IndexSource():
                self._demand(sum(file.size for file in missing) + max(package.size for package in source.packages))
                fetch_packages(source, missing, self._folder, self._index_reporter(source))
                for file in missing:
                    self._tell("ready", source=_label(source), item=file.path, done=file.size, total=file.size)

    def _missing(self) -> list[ModelFile]:
        stamps = Stamps(self._folder)
        return [file for file in self._model.files if not _intact(stamps, self._folder / file.path, file)]

    def _outstanding(self) -> int:
        return sum(max(0, file.size - self._part(file).size) for file in self._missing())

    def _part(self, file: ModelFile) -> Part:
        target = self._folder / file.path
        # The hash in the name: what was begun of another version of the file is never gone on with.
        return Part(file, target.with_name(f"{target.name}.{file.sha256[:12]}.part"), target)

    def _sweep(self, *, keep: set[Path]) -> None:
        """Remove what killed pulls left, except the parts to `keep`."""
        for part in set(self._folder.rglob("*.part")) - keep:
            part.unlink(missing_ok=True)
        for left in self._folder.glob(".fetch-*"):
            shutil.rmtree(left, ignore_errors=True)

    def _demand(self, size: int) -> None:
        """Raise DownloadFailed unless there is room for `size` bytes."""
        free = self._free()
        if free < size:
            raise self._too_full(size, free)

    def _free(self) -> int:
        place = next(place for place in [self._folder, *self._folder.parents] if place.exists())
        return shutil.disk_usage(place).free

    def _refusal(self, error: OSError) -> DownloadFailed:
        if error.errno in _NO_SPACE:
            for file in self._model.files:
                self._part(file).discard()
            return self._too_full(self._outstanding(), self._free())
        return DownloadFailed(
            f"{self._model.name} cannot be written to {self._folder} ({error.strerror or error}).",
            fix="Set DISCUSSION_HELPER_MODELS to a folder that can be written.",
        )

    def _too_full(self, size: int, free: int) -> DownloadFailed:
        return DownloadFailed(
            f"{self._model.name} needs {_megabytes(size)} of free space in {self._folder.parent}, "
            f"where {_megabytes(free)} are left.",
            fix="Free some space there, or set DISCUSSION_HELPER_MODELS to a folder on a larger disk.",
        )

    def _reporter(self, source: Source, file: ModelFile) -> Callable[[int], None]:
        return lambda done: self._tell("bytes", source=_label(source), item=file.path, done=done, total=file.size)

    def _index_reporter(self, source: Source) -> Callable[[str, int, int], None]:
        return lambda item, done, total: self._tell("bytes", source=_label(source), item=item, done=done, total=total)

    def _tell(
        self, kind: ProgressKind, *, source: str = "", item: str = "", done: int = 0, total: int = 0, reason: str = ""
    ) -> None:
        self._observer(
            Progress(kind, self._model.name, source=source, item=item, done=done, total=total, reason=reason)
        )


@contextmanager
def _locked(path: Path, when_waiting: Callable[[], None]) -> Iterator[None]:
    """Hold the lock at `path`. The operating system lets it go when a process is killed."""
    lock = filelock.FileLock(path)
    try:
        lock.acquire(timeout=0)
    except filelock.Timeout:
        when_waiting()
        lock.acquire()
    try:
        yield
    finally:
        lock.release()


def _intact(stamps: Stamps, path: Path, file: ModelFile) -> bool:
    try:
        return stamps.intact(path, file)
    except FileNotFoundError:
        return False


def _label(source: Source) -> str:
    return f"hub {source}" if isinstance(source, HubSource) else f"package index {source}"


def _megabytes(size: int) -> str:
    return f"{size / 1e6:.1f} MB"
