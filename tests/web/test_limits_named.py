"""Whoever is refused for a limit is told what raises it."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import fields
from typing import Any

import anyio
import pytest
from starlette.applications import Starlette

from discussion_helper.session import Session
from discussion_helper.testing import VirtualTimeLoop
from discussion_helper.testing.remote import fake_remote_talk
from discussion_helper.web import Limits, Wish
from discussion_helper.web.bounded import Bounded
from discussion_helper.web.limits import SLOWEST, raised_by
from discussion_helper.web.problems import Problem

AppOf = Callable[..., Starlette]
TOKEN = "a-token-of-which-nobody-guesses-the-rest"
BEARER = {"Authorization": f"Bearer {TOKEN}"}


@asynccontextmanager
async def stuck(_: Wish) -> AsyncIterator[Session]:
    await anyio.sleep_forever()
    yield Session  # type: ignore[misc]


async def never() -> AsyncIterator[bytes]:
    yield b"{"
    await anyio.sleep_forever()


FAKE, LOCAL, REMOTE = ({"json": {"transport": name}} for name in ("fake", "local", "remote"))
REFUSED: dict[str, tuple[Any, list[tuple[str, str, dict[str, Any]]]]] = {
    "sessions": (1, [("POST", "/sessions", FAKE)] * 2),
    "remote": (1, [("POST", "/sessions", REMOTE)] * 2),
    "body": (9, [("POST", "/sessions", FAKE)]),
    "body_s": (0.05, [("POST", "/sessions", {"content": never()})]),
    "request_s": (0.05, [("POST", "/sessions", LOCAL)]),
    "headers": (500, [("GET", "/sessions", {"headers": BEARER | {"X-Long": "x" * 500}})]),
    "rate": (0.1, [("GET", "/sessions", {})] * 2),
    "wrong_a_minute": (1, [("GET", "/sessions", {"headers": {"Authorization": "Bearer wrong"}})] * 2),
}
"""A limit, and requests of which the last one is one too many."""


@pytest.mark.anyio
@pytest.mark.parametrize("limit", REFUSED)
async def test_the_fix_names_the_limit(app_of: AppOf, client_of: Any, limit: str) -> None:
    value, requests = REFUSED[limit]
    app = app_of(
        token=TOKEN,
        open_voice=stuck,
        open_remote=lambda wish: fake_remote_talk((), policy=wish.policy),
        limits=Limits(**{limit: value}),
    )
    async with client_of(app) as client:
        answers = [await client.request(how, where, **({"headers": BEARER} | more)) for how, where, more in requests]

    assert answers[-1].status_code in (408, 413, 429, 431, 503)
    assert raised_by(limit) in answers[-1].json()["fix"]


def test_the_option_of_the_command_is_named_where_there_is_one() -> None:
    assert "serve --talks, create_app: Limits.remote" == raised_by("remote")
    assert all(f"Limits.{field.name}" in raised_by(field.name) for field in fields(Limits))


@pytest.mark.parametrize(("every_s", "took_s"), [(9.0, 26.0), (11.0, 10.0)])
def test_a_body_that_comes_byte_by_byte_has_the_time_of_the_whole(every_s: float, took_s: float) -> None:
    limits = Limits()
    assert (26.0, 10.0) == (limits.whole_body_s, limits.body_s)
    assert 26.0 == limits.body_s + limits.body / SLOWEST

    async def slow() -> Any:
        await anyio.sleep(every_s)
        return {"type": "http.request", "body": b"x", "more_body": True}

    async def app(_: Any, receive: Any, __: Any) -> None:
        while True:
            await receive()

    async def run() -> tuple[str, float]:
        began_s = anyio.current_time()
        bounded: Any = Bounded(app, limits=limits)
        with pytest.raises(Problem) as late:
            await bounded({"type": "http", "headers": []}, slow, anyio.sleep_forever)
        return late.value.what, anyio.current_time() - began_s

    what, after_s = anyio.run(run, backend="asyncio", backend_options={"loop_factory": VirtualTimeLoop})
    assert took_s == pytest.approx(after_s)
    assert ("26 s" in what) is (took_s == 26.0)
