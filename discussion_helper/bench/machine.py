"""The machine that the bench runs on."""

import os
import platform
from dataclasses import dataclass

__all__ = ["Machine", "this_machine"]


@dataclass(frozen=True, slots=True)
class Machine:
    """`load` is how many programs wanted to run in the last minute before the bench began: figures taken on a machine
    with something else to do are not worth much."""

    system: str
    python: str
    cores: int
    load: float


def this_machine() -> Machine:
    """As it is now."""
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
    return Machine(platform.platform(), platform.python_version(), os.cpu_count() or 1, round(load, 2))
