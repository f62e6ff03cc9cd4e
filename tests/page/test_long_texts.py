"""Texts without an end and without a space: the page stays as wide as the screen, and its controls stay on it."""

from typing import Any

import pytest
from playwright.async_api import expect

from discussion_helper.registry import Sessions
from discussion_helper.session import Session
from discussion_helper.testing import EchoResponder, ScriptedListener, SilentVoice
from discussion_helper.types import Utterance
from discussion_helper.web import create_app

pytestmark = [pytest.mark.anyio, pytest.mark.browser]

TOKEN = "a-token-for-the-page"
LONG = "Abc" * 1_700
HIGHEST = 200
WIDER = """() => {
  const width = document.documentElement.clientWidth;
  const wide = element => {
    const { left, right } = element.getBoundingClientRect();
    return right > width + 1 || left < -1;
  };
  const seen = element => !element.closest('.unseen, .skip, .scroll, svg') && element.checkVisibility();
  const all = [...document.body.querySelectorAll('*')].filter(element => seen(element) && wide(element));
  const over = document.documentElement.scrollWidth - width;
  return all.map(element => `${element.tagName} ${element.id} ${element.className}`).concat(over ? [`${over} px`] : []);
}"""
INSIDE = """ids => ids.filter(id => {
  const { scrollWidth, clientWidth } = document.getElementById(id);
  return scrollWidth > clientWidth;
})"""


@pytest.mark.parametrize("width", [320, 768, 1280])
async def test_whatever_is_told_the_page_is_as_wide_as_the_screen(serving: Any, browsing: Any, width: int) -> None:
    sessions = Sessions[Session]()
    session = sessions.add(Session(ScriptedListener((), stays_open=True), EchoResponder(), SilentVoice(0.01)))
    session.start()
    record = session.discussion._record
    record.add(Utterance("user", LONG, 1.0, 2.0))
    record.add(Utterance("agent", LONG[:2_000], 3.0, 4.0, interrupted=True, said=LONG))
    app = create_app(sessions, token=TOKEN)
    async with (
        serving(app) as served,
        browsing(served, viewport={"width": width, "height": 700}) as (open_page, watch),
    ):
        watch.expected = ("status of 503",)  # what the browser itself logs
        page = await open_page(session.id)
        await page.route("**/say", lambda route: route.fulfill(status=503, json={"error": LONG, "fix": LONG}), times=1)
        record.tell("floor", {"floor": "listening", "reason": "failed", "error": LONG})
        record.tell("device", {"which": "microphone", "state": "lost", "reason": LONG, "fix": LONG})
        record.tell("partial", {"speaker": "user", "text": LONG, "stable": LONG[:9]})
        record.tell("tool", {"id": "1", "name": LONG, "state": "called", "arguments": LONG})
        record.tell("decision", {"what": LONG, "why": LONG, "text": LONG, "fix": LONG, "heard": LONG})
        await page.evaluate("for (const each of document.querySelectorAll('details')) each.open = true")
        await page.fill("#text", LONG)
        await page.press("#text", "Enter")
        await expect(page.locator("#alert")).to_be_visible()
        await expect(page.locator("#state-note")).to_contain_text(LONG)
        await expect(page.locator("#decision-list li")).to_have_count(1)
        await expect(page.locator("#sessions .title")).to_contain_text(LONG[:10])
        await expect(page.locator(".note")).to_have_count(2)

        assert [] == await page.evaluate(WIDER)
        assert [] == await page.evaluate(INSIDE, ["alert", "state-note", "said", "decision-list", "drawer"])
        for bounded in ("#alert", "#state-note", ".note:not([aria-hidden])"):
            box = await page.locator(bounded).bounding_box()
            assert box is not None
            assert box["height"] <= HIGHEST
            await page.locator(f"{bounded}[tabindex], {bounded} [tabindex]").focus()  # the keyboard can scroll it
        await page.focus("#end")
        await expect(page.locator("#end")).to_be_in_viewport(ratio=1)
    await sessions.aclose()
