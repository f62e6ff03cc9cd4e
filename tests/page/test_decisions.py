"""Decisions as a person reads them: a plain sentence, and the figures behind it with their units."""

import re
from typing import Any

import pytest
from playwright.async_api import expect

from discussion_helper.session import Session
from discussion_helper.testing import EchoResponder, ScriptedListener, SilentVoice
from discussion_helper.web import Wish, create_app

pytestmark = [pytest.mark.anyio, pytest.mark.browser]

OPEN = "async body => (await (await fetch('/sessions', {method: 'POST', body})).json()).id"
IGNORED = {
    "what": "ignored",
    "why": "no words in it",
    "started_s": 23.519,
    "ended_s": 23.569,
    "voiced_s": 0,
    "level_dbfs": -31.5,
    "over_echo_db": 12.5,
    "ducked_s": 0.43,
    "score": 0,
}
STOPPED = {"what": "interruption", "why": "a stop word", "text": "stop", "score": 0.25, "new_thing_s": 1}


def open_fake(wish: Wish) -> Session:
    return Session(ScriptedListener((), stays_open=True), EchoResponder(), SilentVoice(0.01), wish.policy)


def sentence(text: str) -> re.Pattern[str]:
    """With the time before it."""
    return re.compile(rf"^\d:\d\d {re.escape(text)}$")


async def test_a_decision_is_a_sentence_with_its_figures_behind_it(serving: Any, browsing: Any) -> None:
    app = create_app(token="a-token-for-the-page", open_fake=open_fake)
    async with serving(app) as served, browsing(served) as (open_page, _):
        page = await open_page()
        session_id = await page.evaluate(OPEN, '{"transport": "fake"}')
        page = await open_page(session_id)
        record = app.state.sessions.get(session_id).discussion._record
        for decision in (IGNORED, STOPPED):
            record.tell("decision", decision)
        await page.click("#decisions > summary")
        items = page.locator("#decision-list > li")
        await expect(items.locator("> p")).to_have_text(
            [
                sentence("Cut the agent off: you said a word that stops the agent."),
                sentence("Not taken as a turn: there were no words in it. The agent was turned down for 0.43 s."),
            ]
        )
        await expect(items.first.locator("dl")).to_be_hidden()
        await items.first.locator("summary").click()
        await expect(items.first.locator("dl > div")).to_have_text(
            ["Words that the agent had just said25 %", "new thing s1"]
        )
        await items.last.locator("summary").click()
        figures = items.last.locator("dd")
        shown = ["0:23.5", "0:23.6", "0 ms", "-31.5 dBFS", "12.5 dB", "0.43 s", "0 %"]
        await expect(figures).to_have_text(shown)

        record.tell("decision", {"what": "turn", "why": "words"})
        await expect(items).to_have_count(3)
        await expect(items.first).to_have_text(sentence("Taken as your turn: there were words in it."))
        await expect(figures).to_have_text(shown)
        await expect(items.last.locator("dl")).to_be_visible()  # it stays open
        await app.state.sessions.aclose()
