"""Each fault is named in the first line, with its fix, and recommends what its measure justifies."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from discussion_helper import doctor
from discussion_helper.audio.devices import muted_fix
from discussion_helper.cli import main
from discussion_helper.commands import doctor_speed
from discussion_helper.commands.doctor_speed import Speed
from discussion_helper.config_file import VARIABLE, read_config
from discussion_helper.doctor import Finding
from discussion_helper.errors import DeviceError
from discussion_helper.voice import devices, room_check
from discussion_helper.voice.room_check import Room

PARTS = ("microphone", "loudspeaker", "echo canceller", "recogniser", "language model", "voice")
GOOD = Room(
    microphone="USB Mic [ALSA]",
    loudspeaker="USB Speaker [ALSA]",
    microphone_rate=48_000,
    loudspeaker_rate=44_100,
    noise_dbfs=-62.0,
    round_trip_s=0.043,
    spread_s=0.0002,
    stamped_s=0.003,
    echo_db=-12.0,
    suppression_db=31.0,
    residue_db=-1.0,
)
ECHOES = replace(GOOD, suppression_db=8.0, residue_db=12.0)
FAST = (
    Speed("recogniser", "tiny.en", 0.25, 4.2),
    Speed("voice", "joe-medium", 0.27, 4.2),
    Speed("language model", "SmolLM2-135M", 1.2, 12.0, 0.3),
)
SLOW = replace(FAST[0], took_s=4.2)

Doctor = Callable[..., tuple[int, list[str]]]


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(VARIABLE, str(tmp_path / "settings.toml"))
    return tmp_path / "settings.toml"


@pytest.fixture
def run(file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Doctor:
    """Run the doctor on a machine with these measures; its exit code and its lines."""

    def run(
        *options: str,
        room: Room | Exception = GOOD,
        speeds: tuple[Speed, ...] = FAST,
        wrong: dict[str, tuple[str, str]] | None = None,
    ) -> tuple[int, list[str]]:
        wrong = wrong or {}
        found = [Finding(p, p not in wrong, wrong.get(p, ("found",))[0], wrong.get(p, ("", ""))[1]) for p in PARTS]

        def checked(_: object) -> Room:
            if isinstance(room, Exception):
                raise room
            return room

        monkeypatch.setattr(doctor, "examine", lambda _: found)
        monkeypatch.setattr(devices, "sound_devices", lambda *_: None)
        monkeypatch.setattr(room_check, "check_room", checked)
        monkeypatch.setattr(doctor_speed, "measure_speeds", lambda *_, **__: list(speeds))
        code = main(["doctor", *options])
        return code, capsys.readouterr().out.splitlines()

    return run


def test_where_nothing_is_wrong_the_first_line_says_so(run: Doctor) -> None:
    code, lines = run()

    assert 0 == code
    assert "Everything works: round trip 43 ms, 31 dB of the echo removed." == lines[0]
    assert "You can talk here: discussion-helper talk" == lines[-1]


CASES: list[tuple[str, dict[str, Any], int, str, str]] = [
    (
        "no microphone",
        {"wrong": {"microphone": ("This machine has no microphone.", "Connect one.")}},
        0,
        "Can talk, but: This machine has no microphone.",
        "Connect one.",
    ),
    (
        "model missing",
        {"wrong": {"recogniser": ("The model tiny.en is not on this machine.", "Run: models pull tiny.en")}},
        1,
        "Cannot talk: The model tiny.en is not on this machine.",
        "models pull tiny.en",
    ),
    (
        "muted",
        {"room": replace(GOOD, zeros=True, echo_db=None, noise_dbfs=None)},
        1,
        'Cannot talk: The microphone "USB Mic [ALSA]" delivers exact zeros: it is muted, or there is no permission.',
        muted_fix(),
    ),
    (
        "device lost",
        {"room": replace(GOOD, lost='"USB Mic [ALSA]" stopped by itself', echo_db=None)},
        1,
        'Cannot talk: "USB Mic [ALSA]" stopped by itself.',
        "Connect it anew",
    ),
    (
        "in use",
        {"room": DeviceError('"USB Mic" cannot be opened.', fix="Close the program that uses it.")},
        1,
        'Cannot talk: "USB Mic" cannot be opened.',
        "Close the program that uses it.",
    ),
    (
        "no echo",
        {"room": replace(GOOD, echo_db=None, round_trip_s=None, suppression_db=None)},
        0,
        "Can talk, but: No echo was heard: you wear headphones, the system removes it, or the loudspeaker is off.",
        "If you heard the chirp",
    ),
    (
        "clipping",
        {"room": replace(GOOD, clipped=400)},
        0,
        "Can talk, but: The microphone is overdriven: 400 samples of the chirp were cut off.",
        "Turn its level down",
    ),
    (
        "noise",
        {"room": replace(GOOD, noise_dbfs=-31.0)},
        0,
        "Can talk, but: It is loud here: noise at -31 dBFS is taken for voice.",
        "Turn off what makes it",
    ),
    (
        "latency",
        {"room": replace(GOOD, round_trip_s=0.412)},
        0,
        "Can talk, but: The devices are slow: what is played is heard after 412 ms.",
        "Use devices on a wire",
    ),
    (
        "telephone",
        {"room": replace(GOOD, microphone_rate=16_000, loudspeaker_rate=16_000)},
        0,
        "Can talk, but: The sound is a telephone's: microphone 16000 Hz, loudspeaker 16000.",
        "--microphone NAME",
    ),
    (
        "lost blocks",
        {"room": replace(GOOD, lost_blocks=9)},
        0,
        "Can talk, but: 9 blocks of sound were lost: the machine is too busy.",
        "End programs",
    ),
    (
        "echo",
        {"room": ECHOES},
        0,
        "Can talk, but: The agent hears itself: of an echo at -12 dB only 8 are removed.",
        "--no-barge-in",
    ),
    (
        "slow CPU",
        {"speeds": (SLOW, *FAST[1:])},
        0,
        "Can talk, but: The recogniser is too slow for this machine: it took 1.00 s for a second of speech.",
        "there is no smaller model",
    ),
    (
        "model that fails",
        {"speeds": (replace(FAST[0], lasts_s=0.0, failed="The model is corrupt."), *FAST[1:])},
        1,
        "Cannot talk: The model is corrupt.",
        "",
    ),
]


@pytest.mark.parametrize(("machine", "code", "first", "fix"), [case[1:] for case in CASES], ids=[c[0] for c in CASES])
def test_a_fault_is_named_in_the_first_line_with_its_fix(
    machine: dict[str, Any], code: int, first: str, fix: str, run: Doctor
) -> None:
    found, lines = run(**machine)

    assert (code, first) == (found, lines[0])
    if fix:
        assert lines[1].startswith("  -> ")
        assert fix in lines[1]
    assert lines[-1].startswith("You can talk" if code == 0 else "You cannot talk here before this is put right: ")


def test_the_worst_fault_is_first_and_the_others_are_counted(run: Doctor) -> None:
    _, lines = run(
        room=replace(GOOD, noise_dbfs=-20.0),
        speeds=(SLOW, *FAST[1:]),
        wrong={"voice": ("The voice is not there.", "Pull it.")},
    )

    assert "Cannot talk: The voice is not there. (1 more below)" == lines[0]  # the room's fault waits for that
    assert any("recogniser is too slow" in line for line in lines[1:])


# -- what is recommended and written


@pytest.mark.parametrize(
    ("options", "machine", "settings"),
    [
        ([], {}, {}),
        ([], {"room": ECHOES}, {"barge_in": False}),
        ([], {"room": replace(ECHOES, echo_db=-33.0)}, {}),
        ([], {"room": replace(ECHOES, residue_db=1.0)}, {}),  # all that can be seen in this noise is gone
        ([], {"room": replace(GOOD, noise_dbfs=-20.0)}, {}),
        ([], {"speeds": (SLOW, *FAST[1:])}, {}),
        (["--stt", "base"], {"speeds": (replace(SLOW, model="base"), *FAST[1:])}, {"stt": "tiny.en"}),
        (["--stt", "base"], {"speeds": (replace(SLOW, load=3.0), *FAST[1:])}, {"stt": "base"}),
        (["--stt", "base"], {}, {"stt": "base"}),
        (["--llm", "big.gguf"], {"speeds": (replace(FAST[2], took_s=30.0, gave_up=True),)}, {"llm": "embedded"}),
        (["--device", "usb"], {}, {"microphone": "USB Mic [ALSA]", "loudspeaker": "USB Speaker [ALSA]"}),
    ],
)
def test_only_what_is_justified_or_chosen_is_written(
    options: list[str], machine: dict[str, Any], settings: dict[str, object], run: Doctor, file: Path
) -> None:
    code, lines = run("--write", *options, **machine)

    assert 0 == code
    assert settings == read_config(file)
    assert bool(settings) == any(f"Written to {file}" in line for line in lines)
    assert bool(settings) != any("Nothing was written" in line and str(file) in line for line in lines)


def test_without_the_option_nothing_is_written(run: Doctor, file: Path) -> None:
    _, lines = run(room=ECHOES)

    assert not file.exists()
    assert any(f"doctor --write puts them into {file}" in line for line in lines)


def test_nothing_is_written_where_no_talk_can_be_held(run: Doctor, file: Path) -> None:
    code, lines = run("--write", "--stt", "base", room=replace(GOOD, zeros=True))

    assert (1, False) == (code, file.exists())
    assert any("Nothing was written" in line and str(file) in line for line in lines)
    assert not any("doctor --write puts" in line for line in lines)


def test_a_file_that_is_named_and_is_not_there_is_told(run: Doctor, file: Path) -> None:
    assert any(f"DISCUSSION_HELPER_CONFIG: there is no file {file}" in line for line in run()[1])
    file.touch()
    assert not any("DISCUSSION_HELPER_CONFIG" in line for line in run()[1])


def test_what_the_file_says_already_is_no_fault_any_more(run: Doctor, file: Path) -> None:
    file.write_text("barge_in = false\n")

    assert run(room=ECHOES)[1][0].startswith("Everything works")


def test_a_wrong_settings_file_is_the_first_fault(run: Doctor, file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file.write_text('sst = "base"\n')

    code = main(["doctor"])

    assert 1 == code
    assert f"{file}: there is no setting 'sst'." in capsys.readouterr().err.splitlines()[0]


# -- sound, speed, JSON


def test_a_person_is_warned_before_a_sound(
    run: Doctor, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run()
    warned: list[str] = []

    def checked(_: object) -> Room:
        warned.append(capsys.readouterr().err)
        return GOOD

    monkeypatch.setattr(room_check, "check_room", checked)
    main(["doctor"])

    assert ["Please be quiet for 4 seconds: a chirp comes"] == [text.partition(",")[0] for text in warned]


def test_no_sound_and_no_speed_measure_neither(run: Doctor) -> None:
    assert {"Room", "Speed"} < set(run()[1])

    _, lines = run("--no-sound", "--no-speed")

    assert "Everything works: all parts are there; the room was not measured." == lines[0]
    assert not {"Room", "Speed"} & set(lines)


def test_json_has_all_measures(run: Doctor) -> None:
    _, lines = run("--json", room=ECHOES)
    document = json.loads("\n".join(lines))

    assert document["verdict"].startswith("Can talk, but: The agent hears itself")
    assert ["echo"] == [fault["key"] for fault in document["faults"]]
    assert 0.043 == document["room"]["round_trip_s"]
    assert -32.0 == document["room"]["echo_dbfs"]
    assert 0.0595 == pytest.approx(document["speed"][0]["factor"], abs=1e-4)
    assert {"barge_in": False} == document["settings"]["recommended"]
    assert document["can_talk"] is True


def test_lines_fit_a_terminal(run: Doctor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv(VARIABLE, "settings.toml")  # a path is never broken
    for machine in [case[1] for case in CASES]:
        _, lines = run(**machine)

        assert max(map(len, lines)) <= 80
