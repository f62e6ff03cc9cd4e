"""Devices take a while to open: what becomes of them where nobody wants them any more."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discussion_helper.errors import DeviceError
from discussion_helper.testing import VirtualTimeLoop
from discussion_helper.voice.microphone import MicrophoneListener
from discussion_helper.voice.wished import Wished

pytestmark = pytest.mark.anyio
OPENS_S = 0.3


@pytest.fixture
def anyio_backend() -> Any:
    return "asyncio", {"loop_factory": VirtualTimeLoop}


@dataclass
class Machine:
    """One microphone, which takes 0.3 s to open."""

    opens: int = 0
    open_now: int = 0
    name: str = "headset"
    rate: int = 16_000
    refuses: bool = False

    def open(self) -> "Machine":
        if self.refuses:
            raise DeviceError("It is busy.", fix="Wait.")
        self.opens += 1
        self.open_now += 1
        return self

    def close(self) -> None:
        self.open_now -= 1


async def slowly(work: Callable[[], Any]) -> Any:
    """Waits to the end, as a thread does, whoever is cancelled."""
    with anyio.CancelScope(shield=True):
        await anyio.sleep(OPENS_S)
        return work()


class Engine:
    """The microphone's part of an engine."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.speaking = False
        self._wished = Wished(slowly)
        self._open: Any = None

    async def open_microphone(self, _: Any) -> str:
        device = await self._wished.opened(self.machine.open)
        if device is not None:
            self._open = device
        return "" if device is None else device.name

    async def close_microphone(self) -> None:
        self._wished.take_back()
        device, self._open = self._open, None
        if device is not None:
            device.close()

    def words(self, *_: Any) -> None: ...

    def go_half_duplex(self) -> None: ...

    def key(self, *, down: bool, at_s: float) -> None: ...


class NoRecogniser:
    async def recognise(self, *_: Any, **__: Any) -> Any:
        raise AssertionError("nobody spoke")

    async def warmup(self) -> None: ...

    async def aclose(self) -> None: ...


async def test_a_device_that_is_open_only_when_nobody_wants_it_any_more_is_closed() -> None:
    machine, found = Machine(), []
    wished = Wished(slowly)

    async def open_it() -> None:
        found.append(await wished.opened(machine.open))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(open_it)
        await anyio.sleep(OPENS_S / 2)
        wished.take_back()

    assert ([None], 1, 0) == (found, machine.opens, machine.open_now)


async def test_of_two_wishes_the_newest_counts() -> None:
    machine = Machine()
    wished = Wished(slowly)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(wished.opened, machine.open)
        await anyio.sleep(OPENS_S / 2)
        tasks.start_soon(wished.opened, machine.open)

    assert (2, 1) == (machine.opens, machine.open_now)


async def test_an_unmute_that_fails_can_be_tried_again() -> None:
    machine = Machine()
    listener = MicrophoneListener(NoRecogniser(), Engine(machine))
    await listener.mute(True)
    machine.refuses = True
    with pytest.raises(DeviceError):
        await listener.mute(False)
    machine.refuses = False
    await listener.mute(False)

    assert 1 == machine.open_now


async def test_one_that_was_unmuted_before_anybody_listens_is_opened_once() -> None:
    machine = Machine()
    listener = MicrophoneListener(NoRecogniser(), Engine(machine))
    await listener.mute(True)
    await listener.mute(False)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_listen, listener)
        await anyio.sleep(2 * OPENS_S)
        tasks.cancel_scope.cancel()

    assert (1, 1) == (machine.opens, machine.open_now)


ENDS = st.sampled_from([None, "close", "cancel"])
STEPS = st.lists(st.tuples(st.booleans(), st.sampled_from([0.0, 0.1, 0.2, 0.5])), max_size=6)


@given(STEPS, st.integers(0, 6), ENDS, st.sampled_from([0.05, 0.4]))
@settings(max_examples=100, deadline=None)
def test_whoever_mutes_when_ever_the_last_word_counts_and_nothing_is_open_behind_the_end(
    steps: list[tuple[bool, float]], before: int, end: str | None, end_s: float
) -> None:
    """The first `before` of them say so before anybody listens."""

    async def main() -> None:
        machine = Machine()
        listener = MicrophoneListener(NoRecogniser(), Engine(machine))
        async with anyio.create_task_group() as tasks:
            for number, (on, pause_s) in enumerate([*steps, (None, 0.0)]):
                if number == min(before, len(steps)):
                    tasks.start_soon(_listen, listener)
                if on is not None:
                    tasks.start_soon(listener.mute, on)
                await anyio.sleep(pause_s)
            if end is None:
                await anyio.sleep(OPENS_S * (len(steps) + 2))
                assert (not steps or not steps[-1][0]) == machine.open_now
            await anyio.sleep(end_s)
            if end == "cancel":
                tasks.cancel_scope.cancel()
            await listener.aclose()
        assert 0 == machine.open_now

    anyio.run(main, backend="asyncio", backend_options={"loop_factory": VirtualTimeLoop})


async def _listen(listener: MicrophoneListener) -> None:
    async for _ in listener.utterances():
        raise AssertionError("nobody spoke")
