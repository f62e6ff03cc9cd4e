"""A package's names that are loaded at their first use."""

TYPE_CHECKING = False  # as in the package itself, which stands on this one: nothing is imported before it is needed
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["lazy_names"]


def lazy_names(package: str, homes: "Mapping[str, tuple[str, ...]]") -> "Callable[[str], object]":
    """The package's `__getattr__`, for the names that its modules `homes` have."""

    def load(name: str) -> object:
        import importlib

        for home, names in homes.items():
            if name in names:
                return getattr(importlib.import_module(f"{package}.{home}"), name)
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    return load
