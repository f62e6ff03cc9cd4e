"""The lag of an event loop."""

import time

import anyio
import pytest

from discussion_helper.bench.lag import PERIOD_S, LagMeter, with_missed

pytestmark = pytest.mark.anyio


async def test_a_loop_that_is_held_up_is_seen_for_as_long_as_it_was() -> None:
    meter = LagMeter()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(meter.run)
        await anyio.wait_all_tasks_blocked()
        time.sleep(0.2)  # noqa: ASYNC251 - this is what is to be seen
        await anyio.sleep(2 * PERIOD_S)
        lags, again = meter.take(), meter.take()
        tasks.cancel_scope.cancel()
    longest = max(lag for _, lag in lags)
    assert 0.2 - PERIOD_S - 0.005 <= longest < 2.0
    assert again == []


def test_what_would_have_been_measured_meanwhile_counts_too() -> None:
    assert with_missed([0.0, 0.05]) == pytest.approx([0.0, 0.05, 0.03, 0.01])
