"""The wheel, built and installed in an environment of its own, for the tests to run against.

    .venv/bin/python scripts/wheel.py .venv-wheel

The second environment borrows the packages of the one that runs this script, so that nothing is downloaded twice; it
does not borrow the project: the editable install's path file is not read there.
"""

import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

from install import ROOT, make_environment

__all__ = ["build", "main"]

OUT = ROOT / "build" / "wheel"


def build() -> Path:
    """Build the wheel of the checkout, isolated as a user's pip builds it; returns the file."""
    shutil.rmtree(ROOT / "build", ignore_errors=True)
    _pip("wheel", "--quiet", "--no-deps", "--wheel-dir", str(OUT), str(ROOT))
    (wheel,) = OUT.glob("*.whl")
    return wheel


def _pip(*arguments: str) -> None:
    subprocess.run([sys.executable, "-m", "pip", "--disable-pip-version-check", *arguments], check=True)


def main(environment: Path) -> None:
    """Make `environment`, with the wheel in it and the other packages within reach."""
    wheel = build()
    python = make_environment(environment, with_pip=False)
    _pip("--python", str(python), "install", "--quiet", "--no-deps", "--no-index", str(wheel))
    site = sysconfig.get_path("purelib", "venv", {"base": str(environment), "platbase": str(environment)})
    (Path(site) / "borrowed.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    print(f"Built {wheel.relative_to(ROOT)} and installed it in {environment.name}")


if __name__ == "__main__":
    main(Path(sys.argv[1]).absolute())
