"""The virtual environment: made if need be, and filled from this checkout.

    python3 scripts/install.py [--tools] .venv

The project is installed editable; with --tools also its extras `bench`, `mcp` and `wake` and its `dev` group. The
package on the index that has the same name is another project: this one is installed from a checkout or a wheel file.
"""

import os
import subprocess
import sys
import venv
from pathlib import Path

__all__ = ["interpreter", "main", "make_environment"]

ROOT = Path(__file__).resolve().parent.parent
STAMP, TOOLS_STAMP = ".installed", ".installed-tools"
"""The Makefile's marks, younger than pyproject.toml when nothing is to be done."""


def interpreter(environment: Path) -> Path:
    """The Python of a virtual environment."""
    return environment / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def make_environment(environment: Path, *, with_pip: bool) -> Path:
    """Make `environment` afresh, hidden from git; returns its Python."""
    venv.EnvBuilder(clear=True, with_pip=with_pip, symlinks=os.name != "nt").create(environment)
    (environment / ".gitignore").write_text("*\n", encoding="utf-8")
    return interpreter(environment)


def _works(python: Path) -> bool:
    """Whether `python` starts, is of the running version and has pip: a moved or half-made environment does not."""
    probe = f"import pip, sys; sys.exit(sys.version_info[:2] != {sys.version_info[:2]})"
    try:
        return subprocess.run([python, "-c", probe], stderr=subprocess.DEVNULL, check=False).returncode == 0
    except OSError:
        return False


def main(environment: Path, *, tools: bool) -> None:
    """Fill `environment` and leave the stamp."""
    stamp = environment / (TOOLS_STAMP if tools else STAMP)
    stamp.unlink(missing_ok=True)
    python = interpreter(environment)
    if not _works(python):
        print(f"Making the virtual environment {environment.name}", flush=True)
        make_environment(environment, with_pip=True)
    pip = [str(python), "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
    step = "the tools of tests and bench" if tools else "the project and its packages (700 MB, some minutes)"
    print(f"Installing {step} into {environment.name}", flush=True)
    if tools:
        subprocess.run([*pip, "--upgrade", "pip>=25.1"], cwd=ROOT, check=True)  # 25.1 brought --group
    what = ["--editable", ".[bench,mcp,wake]", "--group", "dev"] if tools else ["--editable", "."]
    subprocess.run([*pip, *what], cwd=ROOT, check=True)
    stamp.touch()


if __name__ == "__main__":
    try:
        main(Path(sys.argv[-1]).absolute(), tools="--tools" in sys.argv)
    except subprocess.CalledProcessError as failed:
        sys.exit(f"pip could not install the project: see its lines above (exit status {failed.returncode}).")
