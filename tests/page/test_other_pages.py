"""A real browser that was let in: what pages of other origins can do with its cookie, and the login form."""

from collections.abc import Callable
from typing import Any

import pytest
from playwright.async_api import async_playwright
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from discussion_helper.web import create_app
from discussion_helper.web.passwords import Password

pytestmark = [pytest.mark.anyio, pytest.mark.browser]

TOKEN = "a-token-for-the-page"
PASSWORD = "horse staple battery"
_ATTACK = """async (url) => {
    const told = {};
    const asked = (name, promise) => promise.then((text) => { told[name] = text }, () => { told[name] = "refused" });
    const loaded = (name, tag, source) => new Promise((done) => {
        const made = document.createElement(tag);
        made.onload = () => { told[name] = "loaded"; done() };
        made.onerror = () => { told[name] = "refused"; done() };
        made.src = source;
        document.body.append(made);
    });
    const opened = (name, made) => new Promise((done) => {
        made.onopen = () => { told[name] = "open"; done() };
        made.onerror = () => { told[name] = "refused"; done() };
    });
    const post = { method: "POST", credentials: "include", body: '{"transport": "fake"}' };
    await asked("read", fetch(`${url}/sessions`, { credentials: "include" }).then((answer) => answer.text()));
    await asked("blind", fetch(`${url}/sessions`, { ...post, mode: "no-cors" }).then(() => "sent"));
    await asked("rotate", fetch(`${url}/token/rotate`, { ...post, mode: "no-cors" }).then(() => "sent"));
    await loaded("script", "script", `${url}/page/main.js`);
    await loaded("image", "img", `${url}/health`);
    await opened("events", new EventSource(`${url}/sessions/SESSION/events`, { withCredentials: true }));
    await opened("socket", new WebSocket(`${url.replace("http", "ws")}/sessions/SESSION/audio`));
    const events = `${url.replace("http", "ws")}/sessions/SESSION/events`;
    await opened("told", new WebSocket(events, "discussion-helper.events.v1"));
    return told;
}"""
_OPEN = """async () => {
    const answer = await fetch("/sessions", { method: "POST", body: '{"transport": "fake"}' });
    return (await answer.json()).id;
}"""
_FREE = {
    "Content-Security-Policy": "default-src * 'unsafe-inline'; form-action *",
    "Cross-Origin-Opener-Policy": "unsafe-none",
    "Referrer-Policy": "unsafe-url",
}
_FORM = """<!doctype html><body><form method="post" action="{url}/token/rotate"><button>Win a prize</button></form>"""


def other_pages(url: str) -> Starlette:
    async def page(_: Request) -> Response:
        return HTMLResponse(_FORM.format(url=url), headers=_FREE)

    return Starlette(routes=[Route("/", page)])


@pytest.mark.parametrize("name", ["127.0.0.1", pytest.param("localhost", marks=pytest.mark.slow)])
async def test_a_page_of_another_origin_gets_nothing_of_a_browser_that_is_let_in(
    serving: Callable[..., Any], chromium: Any, name: str
) -> None:
    """127.0.0.1 with another port is the same site: its requests bring the cookie along."""
    app = create_app(token=TOKEN)
    async with serving(app) as served, async_playwright() as playwright:
        evil = create_app(token=None, routes=other_pages(served.url).routes)
        browser = await playwright.chromium.connect_over_cdp(chromium.address)
        context = await browser.new_context()
        page = await context.new_page()
        await page.goto(f"{served.url}/?token={TOKEN}")
        assert f"{served.url}/" == page.url  # without the token
        opened = await page.evaluate(_OPEN)
        async with serving(evil) as elsewhere:
            await page.goto(f"http://{name}:{elsewhere.port}/")
            told = await page.evaluate(_ATTACK.replace("SESSION", opened), served.url)
            await page.click("button")
            await page.wait_for_url(f"{served.url}/token/rotate")
            refused = await page.inner_text("body")
            await page.goto(served.url)
            still = await page.evaluate("async () => (await (await fetch('/sessions')).json()).length")
        await context.close()

    assert "Another site's page asks for this." in refused
    assert {"refused"} == {told[what] for what in ("read", "script", "image", "events", "socket", "told")}
    assert 1 == still  # nothing was opened, and the cookie is worth as much as before
    assert "token_rotated" not in [entry["kind"] for entry in app.state.audit.entries]


async def test_the_login_form_lets_a_browser_in(serving: Callable[..., Any], chromium: Any) -> None:
    app = create_app(token=TOKEN, password=Password(PASSWORD))
    async with serving(app) as served, async_playwright() as playwright:
        browser = await playwright.chromium.connect_over_cdp(chromium.address)
        context = await browser.new_context()
        page = await context.new_page()
        said: list[str] = []
        page.on("console", lambda message: said.append(message.text))
        await page.goto(served.url)
        assert f"{served.url}/login" == page.url
        assert [] == said
        assert "password" == await page.evaluate("document.activeElement.id")
        assert "0px" != await page.evaluate("getComputedStyle(document.querySelector('main')).paddingLeft")
        await page.get_by_label("Password").fill("not the password")
        await page.keyboard.press("Enter")
        told = await page.get_by_role("alert").inner_text()
        await page.get_by_label("Password").fill(PASSWORD)
        await page.get_by_role("button").click()
        await page.wait_for_url(f"{served.url}/")
        let_in = await page.evaluate("async () => (await fetch('/sessions')).status")
        shown = await page.evaluate("document.cookie")
        await context.close()

    assert ("That is not the password.", 200, "") == (told, let_in, shown)
