"""What pip cannot bring: installs the missing system packages, or names the one command that does.

    python3 scripts/system_packages.py [--tests]

Run by the Makefile before anything is installed, so it needs nothing but the standard library. macOS and Windows
need no system package: there PortAudio comes in sounddevice's wheel.
"""

import ctypes.util
import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

__all__ = ["Need", "command", "main", "missing", "needs"]


class Need(NamedTuple):
    """A system package by its Debian name, and how to see that it is there."""

    package: str
    present: Callable[[], object]


def needs(*, tests: bool) -> list[Need]:
    """What a conversation needs on Linux; with `tests` also what the virtual devices and the browser need."""
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    found = [
        Need(f"python{version}-venv", lambda: importlib.util.find_spec("ensurepip")),
        Need("libportaudio2", lambda: ctypes.util.find_library("portaudio")),  # the look-up that sounddevice makes
    ]
    if tests:
        found += [
            Need("pulseaudio", lambda: shutil.which("pulseaudio")),
            Need("pulseaudio-utils", lambda: shutil.which("pactl") and shutil.which("parec")),
            Need("libasound2-plugins", _alsa_speaks_to_pulseaudio),
            Need("chromium", lambda: shutil.which("chromium")),
            Need("strace", lambda: shutil.which("strace")),  # which shows that a talk asks no other machine
            Need("nginx-light", lambda: shutil.which("nginx")),  # in front of the server, by deploy/proxy
            Need("caddy", lambda: shutil.which("caddy")),
        ]
    return found


def _alsa_speaks_to_pulseaudio() -> bool:
    return any(any(Path("/usr").glob(f"{lib}/alsa-lib/libasound_module_pcm_pulse.so")) for lib in ("lib*", "lib/*"))


def missing(of: Iterable[Need]) -> list[str]:
    """The packages that are not there."""
    return [need.package for need in of if not need.present()]


def command(packages: list[str]) -> str:
    """What installs `packages` on Debian and its descendants."""
    return f"apt-get update && apt-get install --yes --no-install-recommends {' '.join(packages)}"


def main(arguments: list[str]) -> int | str:
    """0 when all is there or was installed; else the line to print."""
    if sys.platform != "linux":
        return 0
    wanted = needs(tests="--tests" in arguments)
    packages = missing(wanted)
    if not packages:
        return 0
    if not shutil.which("apt-get"):
        return f"Missing: {', '.join(packages)} (Debian's names). Install them with this system's package manager."
    if os.geteuid() != 0:
        return f"Missing: {', '.join(packages)}. Run: sudo sh -c '{command(packages)}'"
    print(f"Installing {', '.join(packages)}", flush=True)
    environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    done = subprocess.run(["sh", "-c", command(packages)], env=environment, check=False)
    left = missing(wanted)
    return f"Still missing: {', '.join(left)}. Run by hand: {command(left)}" if left or done.returncode else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
