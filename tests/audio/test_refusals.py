"""Refusals: one line with all causes, and what to do on each system (scenario G2)."""

import pytest

from discussion_helper.audio.refusals import BUSY, HOST_ERROR, INVALID_DEVICE, NO_CHANNELS, NO_RATE, refusal


@pytest.mark.parametrize("code", [BUSY, INVALID_DEVICE, NO_CHANNELS, NO_RATE, HOST_ERROR])
@pytest.mark.parametrize(
    ("platform", "place"),
    [
        ("linux", "group audio"),
        ("darwin", "Privacy & Security > Microphone"),
        ("win32", "Privacy & security > Microphone"),
        ("freebsd14", "another device"),
    ],
)
def test_g2_whatever_the_code_all_causes_and_the_systems_fix_are_told(
    monkeypatch: pytest.MonkeyPatch, code: int, platform: str, place: str
) -> None:
    monkeypatch.setattr("sys.platform", platform)

    error = refusal("mic [API]", "input", "Invalid sample rate", code, (48_000, 44_100))

    assert error.what.startswith('"mic [API]" cannot be opened for input: Invalid sample rate. ')
    for cause in ("Another program has it to itself", "may not use it", "unplugged", "none of 48000, 44100 Hz"):
        assert cause in error.what
    assert place in error.fix
    assert "Close the program" in error.fix
    assert "\n" not in str(error)


def test_an_error_that_says_what_it_is_gets_no_guesses() -> None:
    error = refusal("mic [API]", "input", "Insufficient memory", -9992, (48_000,))

    assert str(error) == '"mic [API]" cannot be opened for input: Insufficient memory. Choose another device.'
