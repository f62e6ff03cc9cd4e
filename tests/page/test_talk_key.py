"""Push to talk in the page: a key that was pressed is let go of in the session where it was pressed, once."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest
from playwright.async_api import Page, expect
from starlette.applications import Starlette

from discussion_helper.session import Session
from discussion_helper.testing import EchoResponder, ScriptedListener, SilentVoice
from discussion_helper.web import Wish, create_app

pytestmark = [pytest.mark.anyio, pytest.mark.browser]

TOKEN = "a-token-for-the-page"
SLOW_S = 10
ONCE = ["press", "release"]
HIDE = "Object.defineProperty(document, 'hidden', { value: true, configurable: true })"
SEEN = "document.dispatchEvent(new Event('visibilitychange'))"
OPEN = """async () => {
  const body = JSON.stringify({ transport: 'local', turn_policy: 'push_to_talk' });
  return (await (await fetch('/sessions', { method: 'POST', body })).json()).id;
}"""
FOLLOWED = "async id => (await import('/page/main.js')).following.state.session?.id === id"
OTHER_POLICY = """async () => {
  const { following } = await import('/page/main.js');
  const session = { ...following.state.session, turn_policy: 'open' };
  following.state = { ...following.state, session };
}"""


class Key(ScriptedListener):
    """A microphone with a key, and what happened to it. While `stuck` a press is not answered."""

    def __init__(self) -> None:
        super().__init__((), stays_open=True)
        self.told: list[str] = []
        self._changed = anyio.Event()
        self.stuck = anyio.Event()
        self.stuck.set()

    def report(self, kind: str, **data: Any) -> None:
        assert self._reporter is not None
        self._reporter.report(kind, **data)

    async def press(self) -> None:
        self._take("press")
        await self.stuck.wait()

    async def release(self) -> None:
        self._take("release")

    def _take(self, what: str) -> None:
        self.told.append(what)
        self.report("attention", state=f"{what}d" if what == "release" else "pressed", why="key")
        self._changed.set()
        self._changed = anyio.Event()

    async def until(self, count: int) -> list[str]:
        """What it was told, once that are so many."""
        with anyio.move_on_after(SLOW_S):
            while len(self.told) < count:
                await self._changed.wait()
        return self.told


def app_of() -> Starlette:
    @asynccontextmanager
    async def open_voice(wish: Wish) -> AsyncIterator[Session]:
        async with anyio.create_task_group():
            yield Session(Key(), EchoResponder(), SilentVoice(0.01), wish.policy)

    return create_app(token=TOKEN, open_voice=open_voice)


@pytest.fixture
def keyed(serving: Any, browsing: Any) -> Any:
    """`async with keyed(**options) as (page, first, second, go, watch)`: two sessions' keys, the page on the first one.

    `await go(1)` leads to the second.
    """

    @asynccontextmanager
    async def opening(**options: Any) -> AsyncIterator[Any]:
        app = app_of()
        async with serving(app) as served, browsing(served, **options) as (open_page, watch):
            page = await open_page()
            ids = [await page.evaluate(OPEN) for _ in range(2)]
            keys = [app.state.sessions.get(one).discussion.listener for one in ids]

            async def go(number: int) -> None:
                await page.evaluate("id => { location.hash = id }", ids[number])
                await expect(page.locator(f"[data-id='{ids[number]}'][aria-current]")).to_have_count(1)
                await page.wait_for_function(FOLLOWED, arg=ids[number])
                await expect(page.locator("#talk")).to_be_visible()

            await go(0)
            yield page, *keys, go, watch

    return opening


async def down(page: Page, holder: str) -> None:
    if holder == "mouse":
        await page.hover("#talk")
        await page.mouse.down()
    else:
        await page.focus("#talk" if holder == "Enter" else "#said")
        await page.keyboard.down(holder)


async def up(page: Page, holder: str) -> None:
    await (page.mouse.up() if holder == "mouse" else page.keyboard.up(holder))


@pytest.mark.parametrize("holder", ["Space", "Enter", "mouse"])
async def test_a_key_that_is_held_while_another_session_is_chosen_is_let_go_of_in_its_own(
    keyed: Any, holder: str
) -> None:
    async with keyed() as (page, first, second, go, _):
        await down(page, holder)
        assert ["press"] == await first.until(1)
        await go(1)
        assert ONCE == await first.until(2)
        await up(page, holder)
        await down(page, holder)
        assert ["press"] == await second.until(1)
        await up(page, holder)
        assert ONCE == await second.until(2)
        assert ONCE == first.told


@pytest.mark.slow
async def test_a_key_that_is_held_on_presses_nothing_in_the_session_that_comes(keyed: Any) -> None:
    async with keyed() as (page, first, second, go, _):
        await down(page, "Space")
        assert ["press"] == await first.until(1)
        await go(1)
        await first.until(2)
        await page.keyboard.down("Space")  # the keyboard repeats it
        await page.keyboard.up("Space")
        await page.locator("#text").press_sequentially("a b")
        await expect(page.locator("#text")).to_have_value("a b")
        await page.keyboard.press("Escape")
        assert [ONCE, []] == [first.told, second.told]


LEAVING = [
    pytest.param("window.dispatchEvent(new Event('blur'))", id="blur"),
    pytest.param(f"{HIDE}; {SEEN}", id="hidden"),
    pytest.param("reload", id="reload"),
    pytest.param("goto", id="another-page"),
    pytest.param("history.back()", id="back"),
    pytest.param("location.hash = ''", id="no-session"),
]


@pytest.mark.parametrize("leaving", LEAVING)
@pytest.mark.parametrize("holder", ["Space", pytest.param("mouse", marks=pytest.mark.slow)])
async def test_a_key_is_let_go_of_when_nobody_would_see_it_come_up(keyed: Any, leaving: str, holder: str) -> None:
    async with keyed() as (page, first, second, _, _):
        await down(page, holder)
        assert ["press"] == await first.until(1)
        await expect(page.locator("#state-note")).to_have_text("You have the floor until you let go.")
        if leaving == "reload":
            await page.reload()
        elif leaving == "goto":
            await page.goto(page.url.replace("/#", "/?another#"))
        else:
            await page.evaluate(leaving)
        assert ONCE == await first.until(2)
        await up(page, holder)
        assert ONCE == first.told
        assert [] == second.told


@pytest.mark.slow
async def test_a_press_that_is_not_answered_when_the_page_goes_is_let_go_of_all_the_same(keyed: Any) -> None:
    async with keyed() as (page, first, _, _, _):
        first.stuck = anyio.Event()
        await down(page, "Space")
        assert ["press"] == await first.until(1)
        await up(page, "Space")  # its release waits for the press
        await page.reload()
        assert ONCE == await first.until(2)
        first.stuck.set()


@pytest.mark.slow
async def test_a_key_is_let_go_of_when_its_session_has_none_any_more(keyed: Any) -> None:
    async with keyed() as (page, first, _, _, _):
        await down(page, "mouse")
        assert ["press"] == await first.until(1)
        await page.evaluate(OTHER_POLICY)
        first.report("level", dbfs=-20.0)
        assert ONCE == await first.until(2)
        await expect(page.locator("#talk")).to_be_hidden()
        await up(page, "mouse")
        assert ONCE == first.told


@pytest.mark.slow
async def test_a_key_whose_session_ends_asks_for_nothing(keyed: Any) -> None:
    async with keyed() as (page, first, _, _, _):
        await down(page, "Space")
        assert ["press"] == await first.until(1)
        await page.evaluate("document.getElementById('end').click()")
        await expect(page.locator("#connection")).to_have_text("Ended")
        await up(page, "Space")
        await expect(page.locator("#alert")).to_be_hidden()
        assert ["press"] == first.told


async def test_repeats_and_further_fingers_press_once(keyed: Any) -> None:
    async with keyed(has_touch=True, viewport={"width": 390, "height": 844}) as (page, first, _, _, _):
        await page.focus("#said")
        for _ in range(3):  # the keyboard repeats it
            await page.keyboard.down("Space")
        box = await page.locator("#talk").bounding_box()
        assert box is not None
        fingers = [{"x": box["x"] + x, "y": box["y"] + 10, "id": at} for at, x in enumerate((10, 60))]
        touch = await page.context.new_cdp_session(page)
        for points in (fingers[:1], fingers, fingers[1:]):
            kind = "touchEnd" if points == fingers[1:] else "touchStart"
            await touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
        await page.keyboard.up("Space")
        assert ["press"] == await first.until(1)
        assert ["press"] == first.told  # a finger holds it still
        await touch.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
        assert ONCE == await first.until(2)


@pytest.mark.slow
async def test_enter_that_comes_up_elsewhere_lets_go(keyed: Any) -> None:
    async with keyed() as (page, first, _, _, _):
        await down(page, "Enter")
        assert ["press"] == await first.until(1)
        await page.focus("#text")
        await page.keyboard.up("Enter")
        assert ONCE == await first.until(2)


@pytest.mark.slow
async def test_a_release_that_got_lost_is_sent_again(keyed: Any) -> None:
    async with keyed() as (page, first, _, _, watch):
        watch.expected = ("ERR_FAILED",)  # what the browser itself logs
        await page.route("**/release", lambda route: route.abort(), times=1)
        await down(page, "Space")
        assert ["press"] == await first.until(1)
        await up(page, "Space")
        assert ONCE == await first.until(2)
