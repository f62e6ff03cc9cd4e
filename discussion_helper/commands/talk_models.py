"""The models that a talk needs, asked for in one line."""

from discussion_helper.app import model_names
from discussion_helper.errors import ModelMissing
from discussion_helper.models import Store, missing
from discussion_helper.settings import Settings

__all__ = ["check_models"]


def check_models(settings: Settings) -> None:
    """Raises ModelMissing, which names all that must be pulled, and ModelCorrupt. Blocks."""
    store = Store()
    names = [model.name for model in missing(store, model_names(settings))]
    if names:
        verb = "are" if len(names) > 1 else "is"
        raise ModelMissing(
            f"{_list(names)} {verb} not on this machine (looked in {store.path}).",
            fix=f"Run: discussion-helper models pull {' '.join(names)}",
        )


def _list(names: list[str]) -> str:
    *most, last = names
    return f"The models {', '.join(most)} and {last}" if most else f"The model {last}"
