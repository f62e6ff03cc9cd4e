"""The rules of detectors."""

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import anyio
import numpy as np

from discussion_helper.audio.frames import Samples, silence
from discussion_helper.event_loop import start_in
from discussion_helper.testing.conformance.bench import Bench, Make
from discussion_helper.testing.conformance.calls import in_thread, said
from discussion_helper.testing.conformance.limits import Limits
from discussion_helper.testing.conformance.port import ANSWERS, Named
from discussion_helper.testing.conformance.report import Report
from discussion_helper.testing.conformance.rule import Broken, expect
from discussion_helper.testing.conformance.sounds import noise_of
from discussion_helper.testing.conformance.suite import Suite
from discussion_helper.vad.base import Detector

__all__ = ["DETECTOR_RULES", "check_detector"]

_PORT = Named(name="detector")
_LASTS_S = 1.0
_SPENT = 0.5
"""Of the time that a sound lasts: there are four detectors on a microphone, and they are not the only work."""


async def check_detector(make: Make[Detector], *, limits: Limits | None = None, raises: bool = True) -> Report:
    """Whether what `make()` gives is a detector as a talk needs it; used off the event loop, as in a talk.

    Raises NotConforming with the report, unless `raises` is False.
    """
    return await _SUITE(make, limits=limits, raises=raises)


def _frames(detector: Detector, sound: Samples) -> list[Samples]:
    size = detector.frame_samples
    return [sound[at : at + size] for at in range(0, len(sound) - size + 1, size)]


def _course(detector: Detector, sound: Samples) -> list[float]:
    return [detector.probability(frame) for frame in _frames(detector, sound)]


def _sound(detector: Detector) -> Samples:
    return noise_of(_LASTS_S, detector.rate)


def _answers(bench: Bench[Detector]) -> None:
    detector = bench.part
    for name in ("rate", "frame_samples"):
        value = getattr(detector, name, None)
        expect(isinstance(value, int) and value > 0, f"its {name} is {value!r}")
    rate = detector.rate
    for what, sound in (
        ("silence", silence(_LASTS_S, rate)),
        ("noise", _sound(detector)),
        ("a sound far beyond full scale", 1e3 * _sound(detector)),
    ):
        detector.reset()
        for value in _course(detector, sound):
            is_one = isinstance(value, int | float) and 0.0 <= value <= 1.0
            expect(is_one, f"for {what} it gave {value!r}")


def _silent(bench: Bench[Detector]) -> None:
    detector = bench.make()
    most = max(_course(detector, silence(_LASTS_S, detector.rate)))
    expect(most < 0.5, f"it gave {most:.2f} for silence")


def _length(bench: Bench[Detector]) -> None:
    detector = bench.part
    for count in (0, detector.frame_samples - 1, detector.frame_samples + 1, 2 * detector.frame_samples):
        try:
            value = detector.probability(np.zeros(count, np.float32))
        except ValueError:
            continue
        except Exception as error:
            raise Broken(f"for {count} samples it raised {said(error)}") from error
        raise Broken(f"for {count} samples it gave {value!r}")


def _leaves(bench: Bench[Detector]) -> None:
    """Noise that cannot be written to, then a copy that can."""
    sound = _sound(bench.part)
    copy = sound.copy()
    _course(bench.part, sound)
    _course(bench.part, copy)
    expect(np.array_equal(sound, copy), "it changed the samples that it was given")


def _resets(bench: Bench[Detector]) -> None:
    sound, detector = _sound(bench.part), bench.make()
    fresh = _course(detector, sound)
    detector.reset()
    expect(_course(detector, sound) == fresh, "after reset the same sound gave other probabilities than at first")


def _streams(bench: Bench[Detector]) -> None:
    """Two at once, frame by frame, one of them on silence."""
    one, other = bench.make(), bench.make()
    sound = _sound(one)
    alone = _course(bench.make(), sound)
    together = []
    for frame in _frames(one, sound):
        together.append(one.probability(frame))
        other.probability(np.zeros_like(frame))
    expect(together == alone, "beside another detector on another sound it gave other probabilities than alone")


def _keeps_up(bench: Bench[Detector]) -> None:
    """The better of two runs."""
    spent = []
    for _ in range(2):
        began = time.perf_counter()
        _course(bench.part, _sound(bench.part))
        spent.append(time.perf_counter() - began)
    share = min(spent) / _LASTS_S
    expect(share <= _SPENT, f"it spends {100 * share:.0f} % of the time that the sound lasts")


async def _threads(bench: Bench[Detector]) -> None:
    """Made here, used there, on two threads at once."""
    made = [bench.make(), bench.make()]
    sound = _sound(made[0])
    alone = _course(bench.make(), sound)
    found: list[list[float]] = []

    async def use(detector: Detector) -> None:
        found.append(await in_thread(lambda: _course(detector, sound)))

    async with anyio.create_task_group() as tasks:
        for detector in made:
            start_in(tasks, use, detector)
    expect(found == [alone, alone], "on another thread it gave other probabilities than on the one it was made on")


async def _aside(look: Callable[[Bench[Any]], None], bench: Bench[Any]) -> None:
    """Off the event loop, where detectors work."""
    await in_thread(lambda: look(bench))


_SUITE: Suite[Detector] = _PORT.suite(
    _PORT.check(
        ANSWERS,
        partial(_aside, _answers),
        "`rate` and `frame_samples` are whole numbers, and probability(samples) a number from 0.0 to 1.0.",
        "Convert what the model gives with float(), and clip it.",
        (),
    ),
    _PORT.check(
        "silence-is-no-voice",
        partial(_aside, _silent),
        "Zeros have a probability below 0.5.",
        "Check the model and its input.",
    ),
    _PORT.check(
        "wrong-length-is-refused",
        partial(_aside, _length),
        "Another number of samples than `frame_samples`, as at another rate, raises ValueError.",
        "Compare len(samples) with frame_samples first.",
    ),
    _PORT.check(
        "samples-are-left-alone",
        partial(_aside, _leaves),
        "Samples that cannot be written to are taken, and none are changed.",
        "Copy before changing anything in place.",
    ),
    _PORT.check(
        "reset-forgets", partial(_aside, _resets), "After reset it is as new.", "Make its memory anew in reset."
    ),
    _PORT.check(
        "streams-keep-apart",
        partial(_aside, _streams),
        "Two detectors on two sounds know nothing of each other.",
        "Keep the memory in the object, not in the class or the module.",
        (ANSWERS, "reset-forgets"),
    ),
    _PORT.check(
        "keeps-up",
        partial(_aside, _keeps_up),
        f"A sound takes at most {100 * _SPENT:.0f} % of the time that it lasts.",
        "Use a smaller model on one thread without spinning; it has the audio thread.",
    ),
    _PORT.check(
        "works-on-another-thread",
        _threads,
        "It can be used on another thread than the one it was made on, two of them at the same time.",
        "Keep nothing in thread-local storage.",
        (ANSWERS, "streams-keep-apart"),
    ),
)
DETECTOR_RULES = _SUITE.rules
