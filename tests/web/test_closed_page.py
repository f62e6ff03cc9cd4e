"""What a browser sees that is not let in."""

from collections.abc import Callable
from typing import Any

import pytest
from starlette.applications import Starlette

from discussion_helper.web.limits import Limits
from discussion_helper.web.passwords import Password

pytestmark = pytest.mark.anyio

AppOf = Callable[..., Starlette]
ClientOf = Callable[..., Any]
TOKEN = "a-token-of-which-nobody-guesses-the-rest"
HTML = {"Accept": "text/html,application/xhtml+xml"}
UNKNOWN = ["/", "/sessions", "/?token=an-old-one"]


@pytest.mark.parametrize("path", UNKNOWN)
async def test_a_browser_is_told_in_a_page_which_link_to_open(app_of: AppOf, client_of: ClientOf, path: str) -> None:
    async with client_of(app_of(token=TOKEN)) as client:
        answer = await client.get(path, headers=HTML)

    policy = answer.headers["content-security-policy"]
    assert (401, "Bearer") == (answer.status_code, answer.headers["www-authenticate"])
    assert "text/html; charset=utf-8" == answer.headers["content-type"]
    assert "newest link that the server printed" in answer.text
    assert "kill -USR1" in answer.text
    assert "script" not in answer.text + policy
    assert "default-src 'none'" in policy
    assert "form-action 'none'" in policy
    assert TOKEN not in answer.text
    assert "an-old-one" not in answer.text


@pytest.mark.parametrize("path", UNKNOWN)
async def test_with_a_password_it_is_led_to_the_form(app_of: AppOf, client_of: ClientOf, path: str) -> None:
    async with client_of(app_of(token=TOKEN, password=Password("horse staple battery"))) as client:
        answer = await client.get(path, headers=HTML)

    assert (303, "/login") == (answer.status_code, answer.headers["location"])


@pytest.mark.parametrize("headers", [{}, {"Accept": "*/*"}, {**HTML, "Authorization": "Bearer an-old-one"}])
async def test_a_program_gets_json(app_of: AppOf, client_of: ClientOf, headers: dict[str, str]) -> None:
    for options in ({}, {"password": Password("horse staple battery")}):
        async with client_of(app_of(token=TOKEN, **options)) as client:
            answer = await client.get("/", headers=headers)

        assert (401, "Bearer") == (answer.status_code, answer.headers["www-authenticate"])
        assert {"error", "fix"} == answer.json().keys()


REFUSED = {
    "host": (403, "POST", {"Host": "elsewhere.example"}, "not known by that name", "--allow-host NAME"),
    "origin": (403, "POST", {"Origin": "http://elsewhere.example"}, "Another site", "open the address in the browser"),
    "wrong": (429, "POST", {"Origin": "http://127.0.0.1:7654"}, "Too many wrong passwords", "Ask again in"),
    "often": (429, "GET", {}, "Requests come too fast", "Ask again in"),
}


@pytest.mark.parametrize("why", REFUSED)
async def test_a_browser_that_is_refused_is_told_in_a_page_and_a_program_in_json(
    app_of: AppOf, client_of: ClientOf, why: str
) -> None:
    status, method, headers, what, fix = REFUSED[why]
    limits = Limits(wrong_a_minute=1.0, rate=0.1, burst_s=1.0) if why == "often" else Limits(wrong_a_minute=1.0)
    async with client_of(app_of(token=TOKEN, password=Password("horse staple battery"), limits=limits)) as client:

        async def ask(shown: dict[str, str]) -> Any:
            return await client.request(method, "/login", data={"password": "wrong"}, headers=headers | shown)

        await ask(HTML)  # counted
        page, told = await ask(HTML), await ask({"Accept": "application/json"})

    assert (status, "text/html; charset=utf-8") == (page.status_code, page.headers["content-type"])
    assert what in page.text
    assert fix in page.text
    assert "script" not in page.text
    assert ("retry-after" in page.headers) == (status == 429)
    assert (status, {"error", "fix"}) == (told.status_code, told.json().keys())
    assert ("retry-after" in told.headers) == (status == 429)
