"""Who is let in, how often somebody may ask, and what a new token ends."""

import json
from collections import Counter
from collections.abc import Callable
from typing import Any

import anyio
import httpx
import pytest
from starlette.applications import Starlette

from discussion_helper.web import Limits, rates
from discussion_helper.web.audit import Audit
from discussion_helper.web.door import Door
from discussion_helper.web.keys import Keys
from discussion_helper.web.passwords import Password
from discussion_helper.web.security import Guard

pytestmark = pytest.mark.anyio

AppOf = Callable[..., Starlette]
ClientOf = Callable[..., Any]
TOKEN = "a-token-for-tests"
LONG = "a-token-of-which-nobody-guesses-the-rest"
PASSWORD = "horse staple battery"
BEARER = {"Authorization": f"Bearer {TOKEN}"}
OWN = {"Origin": "http://127.0.0.1:7654"}


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


async def test_the_cookie_is_not_the_token_and_says_nothing_of_it(app_of: AppOf, client_of: ClientOf) -> None:
    cookies = []
    for _ in range(2):
        async with client_of(app_of(token=TOKEN)) as client:
            await client.get(f"/?token={TOKEN}")
            cookies.append(dict(client.cookies)["discussion-helper-7654"])
            assert 200 == (await client.get("/sessions")).status_code
            client.cookies.clear()
            assert 401 == (await client.get("/sessions", headers=bearer(cookies[-1]))).status_code

    assert cookies[0] != cookies[1]
    assert all(TOKEN not in cookie and len(cookie) >= 32 for cookie in cookies)


async def test_the_cookie_is_secure_under_tls(app_of: AppOf, client_of: ClientOf) -> None:
    for scheme, secure in (("http", False), ("https", True)):
        async with client_of(app_of(token=TOKEN), base_url=f"{scheme}://127.0.0.1:7654") as client:
            cookie = (await client.get(f"/?token={TOKEN}")).headers["set-cookie"].lower()
        assert secure == ("; secure" in cookie)


async def test_a_new_token_is_told_once_and_the_old_one_and_its_cookies_are_worth_nothing(
    app_of: AppOf, client_of: ClientOf
) -> None:
    app = app_of(token=TOKEN)
    async with client_of(app) as owner, client_of(app) as other:
        for client in (owner, other):
            await client.get(f"/?token={TOKEN}")
        stranger = await httpx.AsyncClient(transport=httpx.ASGITransport(app)).post("http://127.0.0.1/token/rotate")
        rotated = (await owner.post("/token/rotate", headers=OWN)).json()
        statuses = [
            (await client.get("/sessions", headers=headers)).status_code
            for client, headers in ((owner, {}), (other, {}), (other, BEARER), (other, bearer(rotated["token"])))
        ]
        linked = await other.get(rotated["link"])
        told = (await owner.get("/audit")).json()

    assert 401 == stranger.status_code
    assert [200, 401, 401, 200, 303] == [*statuses, linked.status_code]
    assert "token_rotated" in [entry["kind"] for entry in told]
    assert TOKEN not in json.dumps(told)
    assert rotated["token"] not in json.dumps(told)


async def test_another_sites_page_rotates_nothing(app_of: AppOf, client_of: ClientOf) -> None:
    async with client_of(app_of(token=TOKEN)) as client:
        await client.get(f"/?token={TOKEN}")
        crossed = await client.post("/token/rotate", headers={"Origin": "null"})
        assert (403, 200) == (crossed.status_code, (await client.get("/sessions")).status_code)
    async with client_of(app_of(token=None)) as client:
        assert 409 == (await client.post("/token/rotate")).status_code


async def test_a_new_token_ends_the_streams_of_the_old_one(app_of: AppOf, serving: Any) -> None:
    app = app_of(token=TOKEN)
    async with serving(app) as served:
        client = served.client
        url = (await client.post("/sessions", json={"transport": "fake"}, headers=BEARER)).json()["url"]
        async with client.stream("GET", f"{url}/events", headers=BEARER) as events:
            lines = events.aiter_lines()
            await anext(lines)
            token = (await client.post("/token/rotate", headers=BEARER)).json()["token"]
            with anyio.fail_after(5):
                rest = [line async for line in lines]
        open_still = (await client.get("/sessions", headers=bearer(token))).json()

    assert not any("ended" in line for line in rest)  # the session goes on: its watcher alone was sent away
    assert [url.rpartition("/")[2]] == open_still


async def test_a_new_token_closes_websockets_of_the_old_one() -> None:
    keys = Keys(TOKEN)
    sent: list[Any] = []
    accepted = anyio.Event()

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "websocket.accept"})
        accepted.set()
        assert 1008 == (await receive())["code"]
        assert 1008 == (await receive())["code"]

    async def send(message: Any) -> None:
        sent.append(message)

    headers = [(b"host", b"127.0.0.1:7654"), (b"authorization", BEARER["Authorization"].encode())]
    scope = {"type": "websocket", "path": "/", "headers": headers, "query_string": b""}
    guard: Any = Guard(app, door=Door(keys, None, Limits(), Audit()))
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(guard, scope, anyio.sleep_forever, send)
        await accepted.wait()
        keys.rotate()

    assert ["websocket.accept", "websocket.close"] == [message["type"] for message in sent]


async def test_who_asks_too_often_is_told_when_to_come_back(app_of: AppOf, client_of: ClientOf) -> None:
    limits = Limits(rate=2.0, rate_of_all=20.0, burst_s=2.0)
    async with client_of(app_of(token=TOKEN, limits=limits)) as client:
        answers = [await client.get("/sessions", headers=BEARER) for _ in range(5)]

    assert [200, 200, 200, 200, 429] == [answer.status_code for answer in answers]
    assert "1" == answers[-1].headers["retry-after"]
    assert {"error", "fix"} == answers[-1].json().keys()


async def test_strangers_keep_nobody_out(app_of: AppOf, client_of: ClientOf) -> None:
    limits = Limits(rate=10.0, rate_of_all=20.0, burst_s=2.0)  # 20 at once; 2 of a stranger
    async with client_of(app_of(token=LONG, limits=limits)) as client:
        strangers = [(await client.get("/sessions")).status_code for _ in range(4)]
        evil = await client.get("/sessions", headers={"Host": "evil.example"})
        owner = await client.get("/sessions", headers=bearer(LONG))

    assert [401, 401, 429, 429, 429, 200] == [*strangers, evil.status_code, owner.status_code]


@pytest.mark.parametrize(("token", "after"), [(TOKEN, 429), (LONG, 200)])
async def test_after_many_wrong_tokens_none_is_looked_at_that_could_be_guessed(
    app_of: AppOf, client_of: ClientOf, token: str, after: int
) -> None:
    app = app_of(token=token, limits=Limits(wrong_a_minute=3.0))
    async with client_of(app) as browser, client_of(app) as client:
        await browser.get(f"/?token={token}")
        wrong = [await client.get("/sessions", headers=bearer(f"wrong{n}")) for n in range(4)]
        link = await client.get("/?token=wrong")
        right = await client.get("/sessions", headers=bearer(token))
        cookie = await browser.get("/sessions")
        told = [entry for entry in app.state.audit.entries if entry["kind"] == "login_failed"]

    assert [401, 401, 401, 429, 429] == [answer.status_code for answer in (*wrong, link)]
    assert 10 < int(wrong[-1].headers["retry-after"]) <= 20
    assert (after, 200) == (right.status_code, cookie.status_code)
    assert 3 == len(told)
    assert "wrong" not in json.dumps(told)


async def test_watchers_of_all_sessions_are_limited(app_of: AppOf, serving: Any) -> None:
    async with serving(app_of(limits=Limits(all_watchers=2))) as served:
        client = served.client
        urls = [(await client.post("/sessions", json={"transport": "fake"})).json()["url"] for _ in range(3)]
        async with client.stream("GET", f"{urls[0]}/events"), client.stream("GET", f"{urls[1]}/events"):
            refused = await client.get(f"{urls[2]}/events")

    fix = "Close one of them, or raise the limit (create_app: Limits.all_watchers)."
    assert (503, fix) == (refused.status_code, refused.json()["fix"])


async def test_headers_are_limited(app_of: AppOf, client_of: ClientOf) -> None:
    async with client_of(app_of(token=TOKEN)) as client:
        answer = await client.get("/sessions", headers=BEARER | {"X-Long": "x" * 40_000})

    assert 431 == answer.status_code


async def test_a_password_lets_browsers_in_by_a_form(app_of: AppOf, client_of: ClientOf) -> None:
    app = app_of(token=LONG, password=Password(PASSWORD))
    async with client_of(app) as client:
        sent_there = await client.get("/", headers={"Accept": "text/html"})
        program = await client.get("/sessions")
        form = await client.get("/login")
        wrong = await client.post("/login", data={"password": "<b>not it</b>"}, headers=OWN)
        empty = await client.post("/login", headers=OWN)
        crossed = await client.post("/login", data={"password": PASSWORD}, headers={"Origin": "null"})
        assert 401 == (await client.get("/sessions")).status_code
        right = await client.post("/login", data={"password": PASSWORD}, headers=OWN)
        let_in = await client.get("/sessions")
        told = (await client.get("/audit")).text

    assert (303, "/login") == (sent_there.status_code, sent_there.headers["location"])
    assert [401, 200, 401, 401, 403, 303, 200] == [
        answer.status_code for answer in (program, form, wrong, empty, crossed, right, let_in)
    ]
    assert "form-action 'self'" in form.headers["content-security-policy"]
    assert "script" not in form.text + form.headers["content-security-policy"]
    assert "not it" not in wrong.text
    assert PASSWORD not in told
    assert "login_failed" in told


async def test_guesses_of_a_password_are_counted_before_they_are_looked_at(app_of: AppOf, client_of: ClientOf) -> None:
    app = app_of(token=LONG, password=Password(PASSWORD), limits=Limits(wrong_a_minute=3.0))
    statuses: list[int] = []
    async with client_of(app) as client:

        async def guess() -> None:
            statuses.append((await client.post("/login", data={"password": "wrong"}, headers=OWN)).status_code)

        async with anyio.create_task_group() as tasks:
            for _ in range(8):
                tasks.start_soon(guess)
        right = await client.post("/login", data={"password": PASSWORD}, headers=OWN)

    assert [401] * 3 + [429] * 5 == sorted(statuses)
    assert 429 == right.status_code


async def test_wrong_passwords_from_many_addresses_keep_out_no_address_that_sent_none(
    app_of: AppOf, client_of: ClientOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rates, "now", lambda: 0.0)
    app = app_of(token=LONG, password=Password(PASSWORD), limits=Limits(wrong_a_minute=3.0))
    answers: list[httpx.Response] = []

    async def guess(address: str, password: str) -> httpx.Response:
        transport = httpx.ASGITransport(app, client=(address, 50_000))
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:7654") as guesser:
            return await guesser.post("/login", data={"password": password}, headers=OWN)

    async with client_of(app):
        for _ in range(3):
            answers += [await guess(f"127.0.0.{number}", "wrong") for number in range(2, 10)]
        right = await guess("127.0.0.1", PASSWORD)

    told = {answer.json()["error"] for answer in answers if answer.status_code == 429}
    assert {401: 23, 429: 1} == Counter(answer.status_code for answer in answers)
    assert {"Too many wrong passwords come, from many addresses."} == told
    assert 303 == right.status_code


async def test_without_a_password_there_is_no_form(app_of: AppOf, client_of: ClientOf) -> None:
    async with client_of(app_of(token=TOKEN)) as client:
        assert 401 == (await client.get("/login")).status_code
        assert 404 == (await client.get("/login", headers=BEARER)).status_code


@pytest.mark.parametrize("text", ["", "short", "x" * 1025, "two lines\nof words"])
async def test_a_bad_password_is_refused_without_being_named(text: str) -> None:
    with pytest.raises(ValueError, match="password: ") as refused:
        Password(text)

    assert not text or text not in str(refused.value)


async def test_wrong_tokens_take_nothing_from_who_has_the_password(app_of: AppOf, client_of: ClientOf) -> None:
    app = app_of(token=TOKEN, password=Password(PASSWORD), limits=Limits(wrong_a_minute=3.0))
    async with client_of(app) as client:
        wrong = [(await client.get("/sessions", headers=bearer("wrong"))).status_code for _ in range(5)]
        right = await client.post("/login", data={"password": PASSWORD}, headers=OWN)

    assert [401, 401, 401, 429, 429] == wrong
    assert 303 == right.status_code


async def test_what_is_no_form_is_a_wrong_password_and_no_fault(app_of: AppOf, client_of: ClientOf) -> None:
    app = app_of(token=LONG, password=Password(PASSWORD))
    async with client_of(app) as client:
        many = await client.post("/login", data={f"field{n}": "x" for n in range(50)}, headers=OWN)

    assert (401, True) == (many.status_code, "not the password" in many.text)


async def test_a_link_leaves_the_address_bar_also_of_a_browser_that_is_let_in_already(
    app_of: AppOf, client_of: ClientOf
) -> None:
    async with client_of(app_of(token=TOKEN)) as client:
        first, again = [await client.get(f"/?token={TOKEN}") for _ in range(2)]

    assert [(303, "/"), (303, "/")] == [(it.status_code, it.headers["location"]) for it in (first, again)]
