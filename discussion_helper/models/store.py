"""The store: the folder where models are kept on this machine."""

import errno
import os
from collections.abc import Iterable
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import platformdirs

from discussion_helper.errors import ModelCorrupt, ModelError, ModelMissing
from discussion_helper.models.manifest import load_manifest
from discussion_helper.models.progress import Observer, Progress
from discussion_helper.models.stamps import Stamps
from discussion_helper.models.values import Manifest, Model

if TYPE_CHECKING:
    from discussion_helper.models.hub import Hub

__all__ = ["State", "Store", "missing"]

State = Literal["corrupt", "incomplete", "missing", "ready"]
"""How a model is kept: with a wrong byte, in part, not at all, or whole."""


_FIXES = {
    errno.EACCES: "Give this user the right to read it.",
    errno.EPERM: "Give this user the right to read it.",
    errno.ENAMETOOLONG: "Set DISCUSSION_HELPER_MODELS to a folder with a shorter name.",
    errno.EMFILE: "Let this process open more files: ulimit -n 1024.",
    errno.ENFILE: "Close other programs: the system has no file left.",
}
_OTHER_FIX = "Check that disk, or set DISCUSSION_HELPER_MODELS to another folder."


class Store:
    """Models in `path`: the argument, else DISCUSSION_HELPER_MODELS, else `models` in the user's cache folder.

    Each model has a folder of its own name there. Nothing is fetched but by `pull`. Calls block, and may come from
    any thread.
    """

    def __init__(self, path: str | os.PathLike[str] | None = None) -> None:
        chosen = path or os.environ.get("DISCUSSION_HELPER_MODELS")
        # Absolute, for messages and for pip, which works in another folder.
        self.path = Path(chosen).expanduser().absolute() if chosen else _cache()

    def folder(self, model: Model) -> Path:
        """Where the model's files are, or would be."""
        return self.path / model.name

    def path_of(self, model: Model) -> Path:
        """The folder of a model that is whole.

        Every file must be there with its size; its bytes are hashed unless it has not been touched since it last
        was (see Stamps). Raises ModelMissing, ModelCorrupt, and ModelError when a file cannot be read.
        """
        self._check(model, trust=True)
        return self.folder(model)

    def verify(self, model: Model) -> None:
        """Hash every byte of the model. Raises as `path_of` does."""
        self._check(model, trust=False)

    def state(self, model: Model) -> State:
        """How the model is kept. Raises ModelError when a file cannot be read."""
        try:
            self.path_of(model)
        except ModelCorrupt:
            return "corrupt"
        except ModelMissing:
            begun = any(not path.name.startswith(".") for path in self.folder(model).glob("*"))
            return "incomplete" if begun else "missing"
        return "ready"

    def pull(self, model: Model, *, progress: Observer | None = None, hub: "Hub | None" = None) -> Path:
        """Fetch what is missing or wrong of the model from its sources; its folder.

        Bytes that an earlier pull brought are kept. `hub` lets several pulls share connections, and the knowledge
        that the hub cannot be reached. Raises DownloadFailed, and SettingError for a hub that is no address.
        """
        # Imported here: a start that fetches nothing needs no HTTP client.
        from discussion_helper.models.hub import Hub
        from discussion_helper.models.pull import Pull

        try:
            return self.path_of(model)
        except ModelError:
            with nullcontext(hub) if hub else Hub() as asked:
                Pull(model, self.folder(model), hub=asked, observer=progress or _unobserved).run()
        return self.folder(model)

    def _check(self, model: Model, *, trust: bool) -> None:
        folder = self.folder(model)
        stamps = Stamps(folder)
        try:
            short = [file.path for file in model.files if _size(folder / file.path) < file.size]
            if short:
                what = "is not on this machine" if len(short) == len(model.files) else f"lacks {', '.join(short)}"
                raise ModelMissing(f"The model {model.name} {what} (looked in {folder}).", fix=_pull_it(model))
            for file in model.files:
                if not stamps.intact(folder / file.path, file, trust=trust):
                    raise ModelCorrupt(
                        f"{folder / file.path} is corrupt: its bytes are not those of {model.name}.",
                        fix=_pull_it(model),
                    )
        except OSError as error:
            what = f"{error.filename or folder} cannot be read ({error.strerror or error})."
            raise ModelError(what, fix=_FIXES.get(error.errno or 0, _OTHER_FIX)) from error


def missing(store: Store, names: Iterable[str], manifest: Manifest | None = None) -> list[Model]:
    """Those of the named models that must be pulled before they can be used.

    Raises SettingError for an unknown name, and ModelCorrupt when one has a wrong byte, which is not just absent; it
    names the absent ones too.
    """
    absent: dict[str, Model] = {}
    wrong: dict[str, ModelError] = {}
    for model in (manifest or load_manifest()).named(names):
        try:
            store.path_of(model)
        except (ModelCorrupt, ModelMissing) as error:
            wrong[model.name] = error
            if isinstance(error, ModelMissing):
                absent[model.name] = model
    if len(absent) < len(wrong):
        what = " ".join(error.what for error in wrong.values())
        raise ModelCorrupt(what, fix=f"Run: discussion-helper models pull {' '.join(wrong)}")
    return list(absent.values())


def _cache() -> Path:
    return Path(platformdirs.user_cache_dir("discussion_helper", appauthor=False)) / "models"


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except (FileNotFoundError, NotADirectoryError):
        return -1


def _pull_it(model: Model) -> str:
    return f"Run: discussion-helper models pull {model.name}"


def _unobserved(_: Progress) -> None:
    """Nobody asked for progress."""
