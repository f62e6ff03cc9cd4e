"""The background handle."""

import asyncio
from contextvars import Context, ContextVar

import anyio
import pytest

from discussion_helper.background import Background, CancelledWithin, unwrapped

pytestmark = pytest.mark.anyio


async def test_wait_returns_the_result_every_time() -> None:
    async def main() -> object:
        return result

    result = object()
    background = Background(main).start()

    assert await background.wait() is await background.wait() is result
    assert not background.running


async def test_a_failure_is_raised_unwrapped() -> None:
    async def main() -> None:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(fail)

    async def fail() -> None:
        raise OSError("inside a group")

    with pytest.raises(OSError, match="inside a group"):
        await Background(main).start().wait()


async def test_cancelling_a_wait_leaves_the_task_running() -> None:
    async def main() -> str:
        await anyio.sleep(5.0)
        return "done"

    background = Background(main).start()
    with anyio.move_on_after(1.0) as scope:
        await background.wait()

    assert scope.cancelled_caught
    assert "done" == await background.wait()


async def test_stop_waits_for_the_end_within_its_limit() -> None:
    released = []

    async def main() -> None:
        try:
            await anyio.sleep_forever()
        finally:
            with anyio.CancelScope(shield=True):
                await anyio.sleep(0.1)
            released.append(True)

    background = Background(main).start()
    await anyio.sleep(0.01)

    assert await background.stop(within_s=1.0) is True
    assert [True] == released
    with pytest.raises(RuntimeError, match="before it had a result"):
        await background.wait()


async def test_stop_gives_up_on_a_task_that_does_not_let_go() -> None:
    async def main() -> None:
        with anyio.CancelScope(shield=True):
            await held.wait()

    held = anyio.Event()
    background = Background(main).start()
    await anyio.sleep(0.01)
    before = anyio.current_time()

    assert await background.stop(within_s=0.5) is False
    assert 0.5 == pytest.approx(anyio.current_time() - before)
    held.set()
    await background.finished()


async def test_cancelled_before_it_ran_does_nothing() -> None:
    ran = []

    async def main() -> None:
        ran.append(True)

    background = Background(main).start()
    background.cancel()
    await background.finished()

    assert [] == ran


async def test_waiting_before_the_start_raises() -> None:
    async def main() -> None: ...

    with pytest.raises(RuntimeError, match="not started"):
        await Background(main).wait()


def test_starting_off_a_loop_creates_no_coroutine() -> None:
    async def main() -> None: ...

    background = Background(main, name="thing")
    with pytest.raises(RuntimeError, match=r"thing must be started from a running event loop"):
        background.start()
    assert not background.started


def test_groups_of_one_are_unwrapped_and_larger_ones_are_not() -> None:
    inner = ValueError("x")
    pair = ExceptionGroup("two", [inner, KeyError("y")])

    assert inner is unwrapped(ExceptionGroup("a", [ExceptionGroup("b", [inner])]))
    assert pair is unwrapped(pair)


def test_what_a_callback_of_the_loop_started_can_be_stopped_by_its_tasks() -> None:
    async def main() -> bool:
        started = anyio.Event()
        background: Background[None] = Background(anyio.sleep_forever)

        def callback() -> None:
            background.start()
            started.set()

        asyncio.get_running_loop().call_soon(callback)
        await started.wait()
        return await background.stop(within_s=1.0)

    assert asyncio.run(main())


async def test_who_waits_for_the_ending_is_told_of_the_request_before_the_end() -> None:
    may_end = anyio.Event()

    async def main() -> None:
        with anyio.CancelScope(shield=True):
            await may_end.wait()

    background = Background(main).start()
    await anyio.wait_all_tasks_blocked()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(background.finished)
        tasks.start_soon(background.ending)
        await anyio.wait_all_tasks_blocked()
        background.cancel()
        await background.ending()
        still_running = background.running
        may_end.set()
    await background.ending()

    assert still_running
    assert not background.running


async def test_who_waits_for_the_ending_is_told_of_an_end_that_nobody_asked_for() -> None:
    async def main() -> str:
        await anyio.sleep(1.0)
        return "done"

    background = Background(main).start()
    await background.ending()

    assert "done" == background.result


async def test_a_task_has_the_context_that_it_is_given() -> None:
    who: ContextVar[str] = ContextVar("who", default="nobody")
    who.set("the starter")

    async def tell() -> str:
        return who.get()

    given = Context()
    given.run(who.set, "somebody")
    contexts = {"the starter": None, "nobody": Context(), "somebody": given}

    assert list(contexts) == [await Background(tell, context=each).start().wait() for each in contexts.values()]
    assert "the starter" == who.get()


@pytest.mark.parametrize("grouped", [False, True])
async def test_an_old_cancellation_that_is_raised_again_is_a_failure(grouped: bool) -> None:
    kept = list[BaseException]()
    with anyio.CancelScope() as scope:
        scope.cancel()
        try:
            await anyio.sleep_forever()
        except BaseException as error:
            kept.append(error)
            raise

    async def fails() -> None:
        raise BaseExceptionGroup("one", kept) if grouped else kept[0]

    with pytest.raises(CancelledWithin):
        await Background(fails).start().wait()
