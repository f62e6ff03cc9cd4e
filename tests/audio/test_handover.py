"""The hand-over: from any thread to the loop, and never back into a loop that is gone."""

import asyncio
from collections.abc import Callable
from threading import Thread, get_ident

import anyio
import pytest

from discussion_helper.audio.handover import LoopHandover


def in_a_thread(call: Callable[[], object]) -> None:
    thread = Thread(target=call)
    thread.start()
    thread.join(10.0)
    assert not thread.is_alive()


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.mark.anyio
async def test_calls_run_on_the_loop_in_their_order() -> None:
    handover = LoopHandover()
    seen: list[tuple[int, int]] = []
    done = anyio.Event()

    def send() -> None:
        for number in range(100):
            handover.call(lambda n: seen.append((n, get_ident())), number)
        handover.call(done.set)

    in_a_thread(send)
    assert not seen
    with anyio.fail_after(10):
        await done.wait()

    assert seen == [(number, get_ident()) for number in range(100)]


@pytest.mark.anyio
async def test_nothing_runs_after_closing_not_even_what_was_sent_before() -> None:
    handover, other = LoopHandover(), LoopHandover()
    seen: list[str] = []
    done = anyio.Event()

    in_a_thread(lambda: handover.call(seen.append, "before"))
    handover.close()
    handover.close()
    in_a_thread(lambda: handover.call(seen.append, "after"))
    in_a_thread(lambda: other.call(done.set))
    with anyio.fail_after(10):
        await done.wait()

    assert seen == []


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_a_loop_that_is_gone_is_ignored(backend: str) -> None:
    async def make() -> LoopHandover:
        return LoopHandover()

    handover = anyio.run(make, backend=backend)
    seen: list[int] = []

    in_a_thread(lambda: handover.call(seen.append, 1))
    in_a_thread(lambda: handover.call(seen.append, 2))

    assert seen == []


def test_it_cannot_be_made_where_no_loop_runs() -> None:
    with pytest.raises(RuntimeError, match="running event loop"):
        LoopHandover()


def test_a_loop_that_is_idle_does_not_count() -> None:
    loop = asyncio.new_event_loop()
    try:
        with pytest.raises(RuntimeError, match="running event loop"):
            LoopHandover()
    finally:
        loop.close()
