"""What a browser sees that is not let in."""

from collections.abc import Callable
from typing import Any

import pytest
from starlette.applications import Starlette

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
