"""What cannot be in a room is refused by the name of its field, and with what to do."""

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

from discussion_helper.audio.frames import Frame
from discussion_helper.errors import SettingError
from discussion_helper.testing.room import (
    After,
    CutSynthesiser,
    Echo,
    Hanging,
    InlineRecogniser,
    InlineSynthesiser,
    LevelDetector,
    Line,
    Loudspeaker,
    MatchingRecogniser,
    Microphone,
    Room,
    Scene,
    ScriptedRecogniser,
    Stalled,
    Unplugged,
    WrongStamps,
    Zeros,
    speech_like,
)

pytestmark = pytest.mark.anyio

NAN, INF = math.nan, math.inf
SOUND = speech_like(1.0, 48_000, seed=7)
OTHER = speech_like(1.0, 48_000, seed=8)
ANY: Any = None
TROUBLES: dict[Callable[..., Any], dict[str, float]] = {
    Unplugged: {},
    Stalled: {"for_s": 1.0},
    Hanging: {},
    WrongStamps: {"by_s": 0.1},
}

WRONG: dict[str, dict[Callable[..., Any], dict[str, list[Any]]]] = {
    "devices": {
        device: {
            "rate": [NAN, 0, 10, -1, 99, 48_000.0, "48000", 11025.5, True, None, 10**7],
            "latency_s": [NAN, INF, 0.0, -1.0, "soon", 1e9],
            "ppm": [NAN, -1e6, 1e9, "x"],
            "clip_dbfs": [NAN, 1.0, -INF],
            "jitter_s": [NAN, -1.0, INF],
            "name": [None, "", 5],
        }
        for device in (Microphone, Loudspeaker)
    },
    "echo": {Echo: {"delay_s": [-0.5, NAN, INF, 100.0], "gain_db": [NAN, INF, 60.0, "x"], "from_s": [NAN, -1.0, INF]}},
    "scene": {
        Scene: {
            "echo": [-30, "x", None, [Echo(), 5], [Echo(from_s=5.0), Echo(from_s=1.0)]],
            "reverberation_s": [0.0, -1.0, NAN, INF, None],
            "wetness": [NAN, -0.1, INF],
            "noise_dbfs": [NAN, INF, 100.0, "x"],
            "noise_colour": ["x", None, 5],
            "loudspeaker": [None, Microphone()],
            "microphone": [None, Loudspeaker()],
            "lines": [SOUND, None, "x", [SOUND]],
            "troubles": [None, ["x"], Zeros(1.0)],
            "rate": [0, -48_000, 99, 48_000.0, NAN],
            "keep_s": [0, -5, NAN, INF, 0.001],
            "seed": [-5, None, 1.5, NAN],
        }
    },
    "lines": {
        partial(After, kind="reply"): {
            "kind": ["replay", "", None, 5],
            "number": [0, -1, 1.5, "1"],
            "plus_s": [NAN, INF, "x"],
        },
        partial(Line, sound=SOUND, at=0.0): {
            "sound": [
                *(None, [0.1] * 480, np.zeros(0, np.float32), np.zeros((480, 2), np.float32), np.ones(480, np.int16)),
                *(np.full(4_800, NAN, np.float32), np.full(4_800, INF), np.full(4_800, 9_000.0, np.float32)),
                Frame(SOUND.copy(), 7),
            ],
            "at": [NAN, INF, -5.0, "reply", None],
            "text": [5, None],
            "dbfs": [NAN, 400.0, "x"],
        },
    },
    "troubles": {
        **{
            partial(kind, which="microphone", at_s=1.0, **more): {
                "which": ["speaker", None],
                "at_s": [NAN, INF, -1.0],
                "for_s": [NAN, -1.0],
            }
            for kind, more in TROUBLES.items()
        },
        Zeros: {"at_s": [NAN, -1.0]},
        lambda **it: Unplugged("microphone", 1.0, **it): {"rate": [0, NAN, 48_000.0]},
        lambda **it: Stalled("loudspeaker", 1.0, **it): {"for_s": [INF]},
        lambda **it: Hanging("loudspeaker", 1.0, **it): {"close_s": [NAN, INF, -1.0]},
        lambda **it: WrongStamps("loudspeaker", **it): {"by_s": [NAN, INF]},
    },
    "models": {
        CutSynthesiser: {
            "rate": [0, NAN, 48_000.0],
            "voice": [[0.1], np.zeros(48_000, np.float32), np.full(48_000, NAN, np.float32)],
            "dbfs": [NAN, 5.0],
            "delay_s": [NAN, INF, -1.0],
        },
        ScriptedRecogniser: {"texts": ["hello", [5], None], "delay_s": [NAN, -1.0]},
        lambda **it: MatchingRecogniser(list, **it): {"delay_s": [NAN, -1.0]},
        lambda **it: InlineRecogniser(ANY, **it): {"delay_s": [NAN, -1.0]},
        lambda **it: InlineSynthesiser(ANY, **{"delay_s": 0.1} | it): {"delay_s": [NAN, -1.0], "rate": [0, NAN]},
        lambda **it: speech_like(**{"seconds": 1.0, "rate": 48_000} | it): {
            "seconds": [0.0, NAN, -1.0],
            "rate": [0, NAN],
            "seed": [-1, None],
        },
        LevelDetector: {"dbfs": [NAN, 1.0], "frame_samples": [0, 1.5]},
        Room: {"scene": [5, Echo()], "limit_s": [NAN, -1.0, "x"]},
    },
}


@pytest.mark.parametrize("group", WRONG)
def test_what_cannot_be_is_refused_by_the_name_of_its_field(group: str) -> None:
    for make, settings in WRONG[group].items():
        for name, values in settings.items():
            for value in values:
                with pytest.raises(SettingError, match=rf"^{name}\b.*: ") as caught:
                    make(**{name: value})
                assert caught.value.fix, (name, value)
                assert len(str(caught.value)) < 250


def test_what_can_be_is_taken() -> None:
    for rate in (8_000, 11_025, 44_100, 44_123, 384_000):
        assert rate == Microphone(rate=rate).rate
    assert (Echo(), Echo(1.0)) == Scene(echo=[Echo(), Echo(1.0)]).echoes
    assert () == Scene().echoes
    assert INF == Unplugged("loudspeaker", 0.0).for_s
    assert -0.3 == After("line_end", plus_s=-0.3).plus_s


async def test_a_room_in_use_refuses_the_same() -> None:
    async with Room(Scene(noise_dbfs=None)) as room:
        wrong: list[tuple[str, Callable[[], Any]]] = [
            ("sound", lambda: room.say(np.full(4_800, NAN, np.float32))),
            ("sound", lambda: room.say(np.zeros(48_000, np.float32))),
            ("sound", lambda: room.say(SOUND[:100])),
            ("sound", lambda: room.say(np.zeros(48_000, np.float32), after=After("reply"))),
            ("at", lambda: room.say(SOUND, at_s=NAN)),
            ("at_s", lambda: room.say(SOUND, at_s=1.0, after=After("reply"))),
            ("trouble", lambda: room.trouble(ANY)),
            ("rate", lambda: room.move(rate=0)),
        ]
        for name, call in wrong:
            with pytest.raises(SettingError, match=f"^{name}:"):
                call()
        waits: list[tuple[str, Callable[[], Any]]] = [
            ("kind", lambda: room.reached("repply")),  # type: ignore[arg-type]
            ("number", lambda: room.reached("reply", 0)),
            ("within_s", lambda: room.reached("reply", within_s=NAN)),
            ("within_s", lambda: room.until(lambda: True, within_s=-1.0)),
            ("for_s", lambda: room.quiet(NAN)),
        ]
        for name, wait in waits:
            with pytest.raises(SettingError, match=f"^{name}:"):
                await wait()
        assert () == room.recording.marks


async def test_samples_have_one_text_and_a_text_may_have_many_samples() -> None:
    async with Room(Scene(noise_dbfs=None)) as room:
        room.say(SOUND, text="yes", dbfs=None)
        with pytest.raises(SettingError, match=r"^text: these samples say 'yes' already"):
            room.say(0.5 * SOUND, at_s=5.0, text="no")
        room.say(SOUND, at_s=5.0, text="yes")
        room.say(OTHER, at_s=10.0, text="yes")
        recogniser = room.recogniser()
        heard = [await recogniser.recognise(sound[::3]) for sound in (SOUND, OTHER)]

    assert ["yes", "yes"] == [it.text for it in heard]
