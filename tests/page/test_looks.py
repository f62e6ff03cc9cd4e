"""The page for everybody's eyes: no serious fault for axe-core, phone width, dark and light, no motion."""

from importlib.resources import files
from typing import Any

import pytest
from playwright.async_api import Page, expect

from discussion_helper.registry import Sessions
from discussion_helper.session import Session
from discussion_helper.testing import EchoResponder, ScriptedListener, SilentVoice
from discussion_helper.types import Utterance
from discussion_helper.web import create_app

pytestmark = [pytest.mark.anyio, pytest.mark.browser]

TOKEN = "a-token-for-the-page"
DESKTOP = {"width": 1280, "height": 800}
PHONE = {"width": 390, "height": 844}
BACKGROUND = "getComputedStyle(document.body).backgroundColor"


async def spoken() -> tuple[Any, str]:
    """An app, and a session in it with a cut reply, interim words, a decision and a timing."""
    sessions = Sessions[Session]()
    session = sessions.add(Session(ScriptedListener((), stays_open=True), EchoResponder(), SilentVoice(0.01)))
    async with session.events("floor", "timing") as events:
        session.start()
        await session.say("Tell me about the rivers of France, and be brief, for I have to leave in a moment.")
        async for event in events:
            if event.kind == "timing":
                break
    record = session.discussion._record
    record.add(Utterance("agent", "The Loire", 3.0, 4.0, interrupted=True, said="The Loire is long."))
    record.tell("partial", {"speaker": "user", "text": "And the", "stable": "And"})
    record.tell("decision", {"what": "interruption", "why": "words", "text": "And the"})
    return create_app(sessions, token=TOKEN), session.id


async def faults(page: Page) -> list[str]:
    """What axe-core finds that is serious or worse. It runs as scripts of a debugger do, past the page's policy."""
    await page.evaluate(files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8"))
    found = await page.evaluate("async () => (await axe.run()).violations")
    worse = [fault for fault in found if fault["impact"] in ("serious", "critical")]
    return [f"{fault['id']}: {node['html']}" for fault in worse for node in fault["nodes"]]


@pytest.mark.parametrize(
    ("scheme", "size"),
    [
        ("light", DESKTOP),
        ("dark", PHONE),
        pytest.param("dark", DESKTOP, marks=pytest.mark.slow),
        pytest.param("light", PHONE, marks=pytest.mark.slow),
    ],
)
async def test_axe_finds_nothing_serious(serving: Any, browsing: Any, scheme: str, size: Any) -> None:
    app, session_id = await spoken()
    async with (
        serving(app) as served,
        browsing(served, color_scheme=scheme, viewport=size, reduced_motion="reduce") as (open_page, _),
    ):
        page = await open_page()
        assert [] == await faults(page)
        page = await open_page(session_id)
        await page.evaluate("for (const each of document.querySelectorAll('details')) each.open = true")
        await expect(page.locator("#transcript .turn:not(.live)")).to_have_count(3)
        for under_the_mouse in ("#end", "#send", "#theme [aria-pressed=true]"):
            await page.hover(under_the_mouse)
            assert [] == await faults(page)
    await app.state.sessions.aclose()


async def test_on_a_phone_everything_is_as_wide_as_the_screen(serving: Any, browsing: Any) -> None:
    app, session_id = await spoken()
    async with serving(app) as served, browsing(served, viewport=PHONE, has_touch=True) as (open_page, _):
        page = await open_page(session_id)
        await expect(page.locator("#transcript .turn:not(.live)")).to_have_count(3)
        await expect(page.locator("#send")).to_be_in_viewport()
        await expect(page.locator("#drawer")).not_to_have_attribute("open", "")
        width = await page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert 0 == width  # nothing to scroll to the right
    await app.state.sessions.aclose()


async def test_dark_and_light_follow_the_system_until_somebody_chooses(serving: Any, browsing: Any) -> None:
    async with serving(create_app(token=TOKEN)) as served, browsing(served, color_scheme="dark") as (open_page, _):
        page = await open_page()
        dark = await page.evaluate(BACKGROUND)
        await page.emulate_media(color_scheme="light")
        light = await page.evaluate(BACKGROUND)
        await page.click("#theme [data-theme=dark]")
        chosen = await page.evaluate(BACKGROUND)
        await page.reload()
        assert dark != light
        assert [dark, dark] == [chosen, await page.evaluate(BACKGROUND)]
        await expect(page.locator("#theme [data-theme=dark]")).to_have_attribute("aria-pressed", "true")


async def test_who_wants_no_motion_sees_none(serving: Any, browsing: Any) -> None:
    app, session_id = await spoken()
    moves = "getComputedStyle(document.querySelector('.light')).animationName"
    async with serving(app) as served, browsing(served, reduced_motion="reduce") as (open_page, _):
        page = await open_page(session_id)
        still = await page.evaluate(moves)
        await page.emulate_media(reduced_motion="no-preference")
        assert ["none", "breathe"] == [still, await page.evaluate(moves)]
    await app.state.sessions.aclose()
