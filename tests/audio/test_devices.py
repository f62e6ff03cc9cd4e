"""Devices by name: what is listed, and which one a text means."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from discussion_helper.audio.devices import (
    Device,
    find_device,
    found_again,
    index_of,
    list_devices,
    muted_fix,
    portaudio,
    refresh,
    refresh_if_unused,
)
from discussion_helper.audio.quiet import while_open
from discussion_helper.errors import DeviceError
from discussion_helper.testing.virtual_devices import VirtualDevices

if TYPE_CHECKING:
    from tests.audio.conftest import FakePortAudio


def linux(fake: "FakePortAudio") -> None:
    fake.add("HDA Intel: ALC257 (hw:0,0)", inputs=2, outputs=2)
    fake.add("USB Headset: Audio (hw:1,0)", inputs=1, outputs=2, rate=48_000.0)
    fake.add("pulse", inputs=32, outputs=32)


def windows(fake: "FakePortAudio") -> None:
    for api in ("MME", "Windows WASAPI"):
        fake.add("Microphone (USB Headset)", api, inputs=1)
        fake.add("Microphone (Realtek)", api, inputs=2)
        fake.add("Speakers (Realtek)", api, outputs=2)


def test_a_device_tells_its_channels_rate_and_defaults(fake: "FakePortAudio") -> None:
    linux(fake)

    assert list_devices()[0] == Device(
        "HDA Intel: ALC257 (hw:0,0)", "ALSA", 2, 2, 44_100, default_input=True, default_output=True
    )
    assert [device.label for device in list_devices()][1:] == ["USB Headset: Audio (hw:1,0) [ALSA]", "pulse [ALSA]"]


def test_on_windows_the_default_is_not_the_slow_one(fake: "FakePortAudio") -> None:
    windows(fake)

    assert find_device(None, "input").label == "Microphone (USB Headset) [Windows WASAPI]"
    assert find_device(None, "output").label == "Speakers (Realtek) [Windows WASAPI]"
    assert sum(device.default_input for device in list_devices()) == 1


@pytest.mark.parametrize("text", ["USB Headset: Audio (hw:1,0) [ALSA]", "usb", "hEADset", "hw:1"])
def test_a_part_that_fits_one_device_is_enough(fake: "FakePortAudio", text: str) -> None:
    linux(fake)

    assert find_device(text, "input").name == "USB Headset: Audio (hw:1,0)"


@pytest.mark.parametrize("text", [None, ""])
def test_no_text_is_the_default_device(fake: "FakePortAudio", text: str | None) -> None:
    linux(fake)

    assert find_device(text, "output").default_output


def test_a_whole_name_wins_over_a_part_of_another(fake: "FakePortAudio") -> None:
    linux(fake)
    fake.add("pulse monitor", inputs=2)

    assert find_device("PULSE", "input").name == "pulse"


def test_a_device_that_several_host_apis_show_is_taken_from_the_one_of_the_default(fake: "FakePortAudio") -> None:
    windows(fake)

    assert find_device("realtek", "input").label == "Microphone (Realtek) [Windows WASAPI]"
    assert find_device("microphone (realtek) [mme]", "input").host_api == "MME"


def test_a_text_that_fits_several_lists_them(fake: "FakePortAudio") -> None:
    linux(fake)

    with pytest.raises(DeviceError) as caught:
        find_device("hw:", "input")

    assert "2 devices fit" in caught.value.what
    assert '"HDA Intel: ALC257 (hw:0,0) [ALSA]", "USB Headset: Audio (hw:1,0) [ALSA]"' in caught.value.fix
    assert "pulse" not in caught.value.fix


def test_a_text_that_fits_none_lists_all_of_that_kind(fake: "FakePortAudio") -> None:
    linux(fake)
    fake.add("HDMI", outputs=8)

    with pytest.raises(DeviceError, match='No microphone fits "webcam"') as caught:
        find_device("webcam", "input")

    assert "pulse [ALSA]" in caught.value.fix
    assert "HDMI" not in caught.value.fix


def test_a_loudspeaker_is_no_microphone(fake: "FakePortAudio") -> None:
    fake.add("HDMI", outputs=8)

    with pytest.raises(DeviceError, match="has no microphone"):
        find_device("HDMI", "input")


@pytest.mark.parametrize(
    ("platform", "place"), [("linux", "Connect one"), ("darwin", "System Settings"), ("win32", "Settings")]
)
def test_a_machine_without_devices_is_told_what_to_do(
    fake: "FakePortAudio", monkeypatch: pytest.MonkeyPatch, platform: str, place: str
) -> None:
    monkeypatch.setattr(sys, "platform", platform)

    with pytest.raises(DeviceError, match="no loudspeaker") as caught:
        find_device(None, "output")

    assert place in caught.value.fix


@pytest.mark.parametrize("runs", [False, True])
def test_the_plug_in_for_sound_servers_is_named_only_where_one_runs(
    fake: "FakePortAudio", monkeypatch: pytest.MonkeyPatch, tmp_path: Path, runs: bool
) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr("os.path.exists", lambda path: runs and str(path) == str(tmp_path / "pulse" / "native"))
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    monkeypatch.delenv("PULSE_SERVER", raising=False)

    with pytest.raises(DeviceError) as caught:
        find_device(None, "output")

    assert runs == ("libasound2-plugins" in caught.value.fix)


@pytest.mark.parametrize(("platform", "place"), [("linux", "Unmute"), ("darwin", "Privacy"), ("win32", "desktop apps")])
def test_the_fix_for_a_silent_microphone_is_the_systems(
    monkeypatch: pytest.MonkeyPatch, platform: str, place: str
) -> None:
    monkeypatch.setattr(sys, "platform", platform)

    assert place in muted_fix()


def test_devices_of_the_same_name_get_numbers(fake: "FakePortAudio") -> None:
    for _ in range(3):
        fake.add("Yeti", "Core Audio", inputs=2)

    assert [device.name for device in list_devices()] == ["Yeti", "Yeti (2)", "Yeti (3)"]
    assert index_of(find_device("yeti (2)", "input")) == 1


def test_line_breaks_in_a_name_become_spaces(fake: "FakePortAudio") -> None:
    fake.add("Input ()\r\n of a driver", inputs=1)

    assert list_devices()[0].name == "Input () of a driver"


def test_a_device_is_found_again_by_name_when_the_numbers_change(fake: "FakePortAudio") -> None:
    linux(fake)
    headset = find_device("headset", "input")
    del fake.devices[0]

    assert index_of(headset) == 0


def test_a_device_that_is_gone_is_told(fake: "FakePortAudio") -> None:
    linux(fake)
    headset = find_device("headset", "input")
    del fake.devices[1]

    with pytest.raises(DeviceError, match=r"USB Headset.* is not there any more"):
        index_of(headset)


def test_g4_a_card_that_got_another_number_is_the_same_device_and_no_other_is(fake: "FakePortAudio") -> None:
    linux(fake)
    headset = find_device("headset", "input")
    fake.devices[1]["name"] = "USB Webcam: Audio (hw:1,0)"
    with pytest.raises(DeviceError, match=r"USB Headset.* is not there any more"):
        found_again(headset)
    fake.add("USB Headset: Audio (hw:2,0)", inputs=1, rate=16_000.0)

    again = found_again(headset)

    assert (again.name, again.rate) == ("USB Headset: Audio (hw:2,0)", 16_000)


def test_g4_of_two_that_may_be_meant_none_is_taken(fake: "FakePortAudio") -> None:
    linux(fake)
    headset = find_device("headset", "input")
    fake.devices[1]["name"] = "USB Headset: Audio (hw:2,0)"
    fake.add("USB Headset: Audio (hw:3,0)", inputs=1)

    with pytest.raises(DeviceError, match=r"USB Headset.* is not there any more"):
        found_again(headset)


def test_refreshing_starts_portaudio_again(fake: "FakePortAudio") -> None:
    refresh()

    assert fake.looks == ["terminate", "initialize"]


def test_devices_are_not_looked_for_while_a_stream_would_die_of_it(fake: "FakePortAudio") -> None:
    while_open.hold()
    assert not refresh_if_unused()
    while_open.release()
    assert fake.looks == []
    assert refresh_if_unused()
    assert fake.looks == ["terminate", "initialize"]


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("raise OSError('PortAudio library not found')", "PortAudio is missing"),
        ("raise RuntimeError('Error initializing PortAudio')", "cannot be used: Error initializing PortAudio"),
    ],
)
def test_a_missing_library_is_told_with_the_fix(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str, what: str
) -> None:
    (tmp_path / "sounddevice.py").write_text(line)
    monkeypatch.delitem(sys.modules, "sounddevice", raising=False)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "platform", "linux")

    with pytest.raises(DeviceError, match=what) as caught:
        portaudio()

    assert "apt-get install libportaudio2" in caught.value.fix


@pytest.mark.devices
def test_the_virtual_devices_are_found(room: VirtualDevices) -> None:
    assert find_device("pulse", "input").label == "pulse [ALSA]"
    assert find_device(None, "output").host_api == "ALSA"
