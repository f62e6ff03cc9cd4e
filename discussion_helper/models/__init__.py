"""Models: what there is, where it is fetched from, and where it is kept on this machine.

`Store().path_of(load_manifest().model("tiny.en"))` is the folder of a model whose every byte is right; when there is
none, it raises an error that says how to pull the model. Nothing but `Store.pull` ever fetches anything.
"""

from discussion_helper.models.manifest import load_manifest, manifest_path
from discussion_helper.models.progress import Observer, Progress
from discussion_helper.models.store import State, Store, missing
from discussion_helper.models.values import HubSource, IndexSource, Kind, Manifest, Model, ModelFile, Package

__all__ = [
    "HubSource",
    "IndexSource",
    "Kind",
    "Manifest",
    "Model",
    "ModelFile",
    "Observer",
    "Package",
    "Progress",
    "State",
    "Store",
    "load_manifest",
    "manifest_path",
    "missing",
]
