"""A key of a terminal: held or tapped, by nothing but strokes."""

from collections.abc import Iterator

import anyio
import pytest

from discussion_helper.commands.held_key import HeldKey
from discussion_helper.testing import VirtualTimeLoop


def changes(strokes: Iterator[float] | list[float], *, until_s: float = 10.0) -> list[tuple[float, bool]]:
    """When it went down and came up, for strokes at these seconds."""
    told: list[tuple[float, bool]] = []

    async def press() -> None:
        key = HeldKey(lambda down: told.append((round(anyio.current_time() - zero_s, 2), down)))
        zero_s = anyio.current_time()
        for at_s in strokes:
            await anyio.sleep_until(zero_s + at_s)
            key.strike()
        await anyio.sleep_until(zero_s + until_s)

    anyio.run(press, backend_options={"loop_factory": VirtualTimeLoop})
    return told


@pytest.mark.parametrize("first_s", [0.25, 0.5, 0.66])
def test_held_it_is_down_until_the_repeats_end(first_s: float) -> None:
    repeats = [1.0 + first_s + 0.03 * number for number in range(50)]

    assert [(1.0, True), (round(repeats[-1] + 0.25, 2), False)] == changes([1.0, *repeats])


def test_tapped_it_is_down_until_the_next_tap() -> None:
    assert [(1.0, True), (4.0, False), (6.0, True), (8.0, False)] == changes([1.0, 4.0, 6.0, 8.0])


def test_a_second_tap_that_might_be_a_repeat_ends_it_as_well() -> None:
    assert [(1.0, True), (1.65, False)] == changes([1.0, 1.5])
