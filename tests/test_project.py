"""The project as a whole: what is installed, what `make` promises, and the scripts behind it."""

import importlib.machinery
import importlib.util
import os
import re
import subprocess
import sys
import tomllib
from importlib.metadata import distribution
from pathlib import Path
from types import ModuleType

import pytest

import discussion_helper

ROOT = Path(__file__).parents[1]
FROM_WHEEL = os.environ.get("DISCUSSION_HELPER_FROM_WHEEL") == "1"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
WHEREABOUTS = "import discussion_helper as ours; print(ours.__file__)"


def script(name: str) -> ModuleType:
    """Load one of scripts/."""
    spec = importlib.util.spec_from_file_location(f"scripts_{name}", ROOT / "scripts" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def make(*arguments: str) -> "subprocess.CompletedProcess[str]":
    """Run make in the checkout; MAKEFLAGS of a make around the tests are left out."""
    environment = {name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MAKELEVEL", "ARGS")}
    command = ["make", "--no-print-directory", *arguments]
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)


def is_from_wheel(file: str | None) -> bool:
    return "site-packages" in Path(file or "").parts


def test_the_package_under_test_is_the_wheels_or_the_checkouts() -> None:
    assert is_from_wheel(discussion_helper.__file__) == FROM_WHEEL


def test_a_process_started_by_a_test_gets_the_same_package() -> None:
    done = subprocess.run([sys.executable, "-c", WHEREABOUTS], cwd=ROOT, capture_output=True, text=True, check=True)
    assert Path(done.stdout.strip()) == Path(discussion_helper.__file__ or "")


@pytest.mark.skipif(not FROM_WHEEL, reason="only the wheel's environment hides the checkout")
def test_the_checkout_is_out_of_reach_of_the_wheels_tests() -> None:
    others = [entry for entry in sys.path if Path(entry).resolve() != Path(discussion_helper.__file__ or "").parents[1]]
    spec = importlib.machinery.PathFinder.find_spec("discussion_helper", others)
    assert spec is None or spec.origin is None  # nothing, or a folder of data beside an editable install


@pytest.mark.skipif(not FROM_WHEEL, reason="an editable install lists no files of the package")
def test_the_wheel_holds_the_package_and_nothing_else() -> None:
    files = {file.as_posix() for file in distribution("discussion-helper").files or ()}
    package = ROOT / "discussion_helper"
    sources = {file.relative_to(ROOT).as_posix() for file in package.rglob("*") if file.suffix in (".py", ".typed")}
    assert sources - files == set()
    assert "discussion_helper/manifest.toml" in files
    strangers = {file for file in files if not file.startswith(("discussion_helper", "../"))}
    assert strangers == set()


def test_the_changelog_begins_with_this_version() -> None:
    headings = re.findall(r"^## \[(.+?)\]", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert headings[0] in (PROJECT["version"], "Unreleased")
    assert PROJECT["version"] in headings


def test_every_documented_target_exists() -> None:
    targets = re.findall(r"^make ([a-z-]+)", make("help").stdout, re.MULTILINE)
    assert {"talk", "test", "test-all", "check", "bench", "setup", "clean"} <= set(targets)
    for target in targets:
        dry = make("--dry-run", target)
        assert dry.returncode == 0, dry.stderr


def test_arguments_reach_the_command() -> None:
    assert "discussion-helper talk --language de\n" in make("--dry-run", "talk", "ARGS=--language de").stdout
    some = make("--dry-run", "test", "JOBS=3", "ARGS=-k x").stdout
    assert re.search(r'run_tests.py -n 3 -m "not slow.*" -k x\n', some)
    assert not re.search(r'run_tests.py .*-m ".*slow', make("--dry-run", "test-all").stdout)


MARKED = """
import pytest

def test_on_virtual_time(): pass

@pytest.mark.devices
@pytest.mark.parametrize("works", [True, False])
def test_in_real_time(works): assert works

@pytest.mark.timed
def test_of_milliseconds(): pass

@pytest.mark.slow
def test_left_out(): assert False
"""


def test_every_test_runs_once_on_virtual_or_in_real_time(tmp_path: Path) -> None:
    tests = tmp_path / "test_marked.py"
    tests.write_text(MARKED, encoding="utf-8")
    options = ["-c", "pyproject.toml", "-p", "no:cacheprovider", "-n", "0", "-m", "not slow", "-q", str(tests)]
    command = [sys.executable, str(ROOT / "scripts" / "run_tests.py"), *options]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)

    counts = ["1 passed, 4 deselected", "1 failed, 2 passed, 2 deselected"]
    assert counts == re.findall(r"^(\d.*) in ", done.stdout, re.MULTILINE), done.stdout + done.stderr
    assert 1 == done.returncode


@pytest.mark.parametrize(
    ("codes", "code"),
    [([0, 0], 0), ([1, 0], 1), ([0, 1], 1), ([5, 0], 0), ([0, 5], 0), ([5, 5], 5), ([5, 1], 1), ([0, 3], 3)],
)
def test_an_empty_part_is_no_failure_and_a_failure_is_one(
    codes: list[int], code: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run_tests, left = script("run_tests"), list(codes)
    monkeypatch.setattr(run_tests, "_ran", lambda _: left.pop(0))

    assert code == run_tests.main(["-m", "not slow"])
    assert [] == left
    assert ("No test was run" in capsys.readouterr().err) is (codes == [5, 5])


@pytest.mark.parametrize("code", [2, 3, 4])
def test_what_is_interrupted_or_makes_no_sense_ends_at_once(code: int, monkeypatch: pytest.MonkeyPatch) -> None:
    run_tests, left = script("run_tests"), [code, 0]
    monkeypatch.setattr(run_tests, "_ran", lambda _: left.pop(0))

    assert code == run_tests.main([])
    assert [0] == left


def test_the_last_marks_and_the_last_number_count_and_the_rest_is_passed_on() -> None:
    given = ["-n", "2", "-m", "not slow", "-k", "not x", "-n4", "-m", "models", "-x"]
    computing, waiting = script("run_tests").parts(given)

    by_file = ["loadfile", "--no-loadscope-reorder"]  # what a file has open is opened once, and the longest not last
    rest = ["-k", "not x", "-x"]
    assert ["-n", "4", "--dist", "worksteal", "-m", "(models) and not (devices or timed)", *rest] == computing
    assert ["-n", "4", "--dist", *by_file, "-m", "(models) and (devices or timed)", *rest] == waiting


@pytest.mark.parametrize(
    ("given", "marks", "rest"),
    [
        (["-qm", "slow"], "(slow) and ", ["-q"]),
        (["-xvmslow", "-qn4"], "(slow) and ", ["-xv", "-q"]),
        (["-k", "-vm", "a.py"], "", ["-k", "-vm", "a.py"]),
        (["-vv", "-sx", "-rfEm", "-Wn"], "", ["-vv", "-sx", "-rfEm", "-Wn"]),
    ],
)
def test_marks_and_number_may_stand_behind_other_letters(given: list[str], marks: str, rest: list[str]) -> None:
    for part in script("run_tests").parts(given):
        at = part.index("-m")
        assert part[at + 1].startswith(marks or ("not (", "(devices"))
        assert rest == part[at + 2 :]
        assert ("4" if "-qn4" in given else "2") == part[1]


def test_a_conversation_installs_what_it_needs_and_no_tools(tmp_path: Path) -> None:
    talk, tests = (make("--dry-run", target, f"VENV={tmp_path}").stdout for target in ("talk", "test"))

    assert f"scripts/install.py {tmp_path}\n" in talk
    assert "--tools" not in talk
    assert talk.index("scripts/install.py") < talk.index("models pull")
    assert f"scripts/install.py --tools {tmp_path}\n" in tests


@pytest.mark.parametrize("tools", [False, True])
def test_each_step_of_the_installation_leaves_its_own_mark(
    tools: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install, ran = script("install"), list[str]()
    monkeypatch.setattr(install, "_works", lambda _: True)
    monkeypatch.setattr(install.subprocess, "run", lambda command, **_: ran.append(" ".join(command)))
    install.main(tmp_path, tools=tools)

    assert [".installed-tools" if tools else ".installed"] == [path.name for path in tmp_path.iterdir()]
    assert tools == any("--group dev" in command and "[bench,mcp,wake]" in command for command in ran)
    assert ran[-1].endswith("--editable .") or tools


@pytest.mark.skipif(os.name == "nt", reason="a shell script stands in for the old Python")
def test_a_python_that_is_too_old_gets_one_line(tmp_path: Path) -> None:
    old = tmp_path / "python3"
    old.write_text(f'#!/bin/sh\nexec "{sys.executable}" -c "import sys; sys.version_info = (3, 9); $2"\n')
    old.chmod(0o755)
    done = make("setup", f"PYTHON={old}")
    assert done.returncode != 0
    assert f"{old} is Python 3.9, and 3.11 or newer is needed. Name one: make setup PYTHON=" in done.stderr


def test_a_python_that_is_not_there_gets_one_line() -> None:
    done = make("setup", "PYTHON=python3.99")
    assert done.returncode != 0
    assert "python3.99 is not installed." in done.stderr


@pytest.mark.parametrize("file", ["Makefile", ".ci/run", ".github/workflows/ci.yml", "scripts"])
def test_what_installs_names_no_server(file: str) -> None:
    paths = sorted((ROOT / file).glob("*.py")) if (ROOT / file).is_dir() else [ROOT / file]
    assert paths
    for path in paths:
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"://|--index-url|--extra-index|\b\w+\.(?:org|com|io|net|dev|co)\b", text), path


@pytest.fixture
def linux(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """scripts/system_packages.py on a Debian that lacks PortAudio, used by someone who is not root."""
    system = script("system_packages")
    monkeypatch.setattr(system.sys, "platform", "linux")
    monkeypatch.setattr(system.os, "geteuid", lambda: 1000, raising=False)
    monkeypatch.setattr(system.shutil, "which", lambda name: f"/usr/bin/{name}")
    monkeypatch.setattr(system.ctypes.util, "find_library", lambda _: None)
    monkeypatch.setattr(system, "_alsa_speaks_to_pulseaudio", lambda: True)
    return system


def test_without_root_the_one_command_is_named(linux: ModuleType) -> None:
    line = linux.main([])
    assert line == (
        "Missing: libportaudio2. Run: sudo sh -c "
        "'apt-get update && apt-get install --yes --no-install-recommends libportaudio2'"
    )


def test_the_tests_need_the_virtual_devices_too(linux: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(linux.shutil, "which", lambda name: name if name == "apt-get" else None)
    monkeypatch.setattr(linux, "_alsa_speaks_to_pulseaudio", lambda: False)
    assert "install --yes --no-install-recommends libportaudio2'" in linux.main([])
    every = "libportaudio2 pulseaudio pulseaudio-utils libasound2-plugins chromium strace nginx-light caddy'"
    assert every in linux.main(["--tests"])


def test_without_apt_the_packages_are_named(linux: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(linux.shutil, "which", lambda _: None)
    assert "package manager" in linux.main([])


@pytest.mark.parametrize("arrives", [True, False])
def test_root_has_them_installed(linux: ModuleType, monkeypatch: pytest.MonkeyPatch, arrives: bool) -> None:
    ran: list[list[str]] = []

    def run(command: list[str], **_: object) -> "subprocess.CompletedProcess[str]":
        ran.append(command)
        monkeypatch.setattr(linux.ctypes.util, "find_library", lambda _: "libportaudio.so.2" if arrives else None)
        return subprocess.CompletedProcess(command, 0)

    monkeypatch.setattr(linux.os, "geteuid", lambda: 0)
    monkeypatch.setattr(linux.subprocess, "run", run)
    result = linux.main([])
    assert ran == [["sh", "-c", linux.command(["libportaudio2"])]]
    assert result == 0 if arrives else "Still missing: libportaudio2" in result


@pytest.mark.parametrize("platform", ["darwin", "win32"])
def test_macos_and_windows_need_nothing(linux: ModuleType, monkeypatch: pytest.MonkeyPatch, platform: str) -> None:
    monkeypatch.setattr(linux.sys, "platform", platform)
    assert linux.main(["--tests"]) == 0


def test_this_system_has_what_the_tests_need() -> None:
    system = script("system_packages")
    assert sys.platform != "linux" or system.missing(system.needs(tests=True)) == []


def test_a_broken_environment_is_not_reused(tmp_path: Path) -> None:
    install = script("install")
    assert install._works(install.interpreter(tmp_path)) is False
    assert install._works(Path(sys.executable)) is True
