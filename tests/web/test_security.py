"""Who may ask, and from where."""

from collections.abc import Callable
from typing import Any

import httpx
import pytest
from starlette.applications import Starlette

from discussion_helper.web import Limits, create_app
from discussion_helper.web.audit import Audit
from discussion_helper.web.door import Door
from discussion_helper.web.keys import Keys
from discussion_helper.web.origins import is_loopback
from discussion_helper.web.security import HEADERS, Guard

pytestmark = pytest.mark.anyio

AppOf = Callable[..., Starlette]
ClientOf = Callable[..., Any]
TOKEN = "a-token-for-tests"
BEARER = {"Authorization": f"Bearer {TOKEN}"}
OWN = "http://127.0.0.1:7654"


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 401),
        (BEARER, 200),
        ({"Authorization": f"bearer  {TOKEN}"}, 200),
        ({"Authorization": "Bearer wrong"}, 401),
        ({"Authorization": f"Bearer {TOKEN}x"}, 401),
        ({"Authorization": "Bearer "}, 401),
        ({"Authorization": f"Basic {TOKEN}"}, 401),
        ({"Authorization": "Bearer t\u00f6ken".encode("latin-1")}, 401),
        ({"Cookie": f"discussion-helper-7654={TOKEN}"}, 401),
        ({"Cookie": "discussion-helper-7654=wrong"}, 401),
        ({"Cookie": f"discussion-helper-80={TOKEN}"}, 401),
    ],
)
async def test_the_token_is_asked_for_everywhere(
    app_of: AppOf, client_of: ClientOf, headers: dict[str, Any], status: int
) -> None:
    async with client_of(app_of(token=TOKEN)) as client:
        for path in ("/", "/health", "/sessions", "/nothing"):
            answer = await client.get(path, headers=headers)
            assert answer.status_code == (404 if (status, path) == (200, "/nothing") else status)
            assert TOKEN not in answer.text
            if status == 401:
                assert {"error", "fix"} == answer.json().keys()
                assert "Bearer" == answer.headers["www-authenticate"]


async def test_the_link_gives_a_cookie_and_leads_to_the_page_without_the_token(
    app_of: AppOf, client_of: ClientOf
) -> None:
    async with client_of(app_of(token=TOKEN)) as client:
        wrong = await client.get("/?token=wrong")
        elsewhere = await client.get(f"/sessions?token={TOKEN}")
        linked = await client.get(f"/?token={TOKEN}")
        opened = await client.post("/sessions", json={"transport": "fake"}, headers={"Origin": OWN})

    assert [401, 401, 303, 201] == [a.status_code for a in (wrong, elsewhere, linked, opened)]
    assert "set-cookie" not in wrong.headers
    assert "/" == linked.headers["location"]
    cookie = linked.headers["set-cookie"].lower()
    assert all(word in cookie for word in ("httponly", "samesite=strict", "path=/"))
    assert "domain" not in cookie


@pytest.mark.parametrize("host", ["evil.example", "evil.example:7654", "127.0.0.1.evil.example", "", "a b", "1.2.3.4"])
@pytest.mark.parametrize("path", ["/", f"/?token={TOKEN}", "/sessions"])
async def test_another_name_for_this_server_is_refused(
    app_of: AppOf, client_of: ClientOf, host: str, path: str
) -> None:
    async with client_of(app_of(token=TOKEN)) as client:
        answer = await client.get(path, headers={**BEARER, "Host": host})

    assert 403 == answer.status_code
    assert "set-cookie" not in answer.headers


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:7654", "127.0.0.1", "127.1.2.3:80", "[::1]:7654", "home.lan"])
async def test_the_loopback_names_and_the_allowed_ones_are_known(app_of: AppOf, client_of: ClientOf, host: str) -> None:
    async with client_of(app_of(token=TOKEN, allowed_hosts=["home.lan"])) as client:
        answer = await client.get("/sessions", headers={**BEARER, "Host": host})

    assert 200 == answer.status_code


@pytest.mark.parametrize(
    ("name", "host"),
    [
        ("2001:db8:0:0::1", "[2001:db8::1]:7654"),
        ("[2001:DB8::1]", "[2001:db8::1]"),
        ("2001:db8::1", "[2001:db8:0::1]"),
        ("::ffff:10.1.2.3", "[::ffff:a01:203]"),
        ("Home.lan", "home.lan."),
        ("home.lan.", "HOME.lan:80"),
    ],
)
async def test_an_allowed_one_is_known_however_it_is_written(
    app_of: AppOf, client_of: ClientOf, name: str, host: str
) -> None:
    async with client_of(app_of(token=TOKEN, allowed_hosts=[name])) as client:
        known = await client.get("/sessions", headers={**BEARER, "Host": host})
        other = await client.get("/sessions", headers={**BEARER, "Host": "[2001:db8::2]"})

    assert (200, 403) == (known.status_code, other.status_code)


async def test_names_of_in_process_clients_are_known_only_without_a_token(app_of: AppOf, client_of: ClientOf) -> None:
    for token, status in ((None, 200), (TOKEN, 403)):
        async with client_of(app_of(token=token), base_url="http://testserver") as client:
            assert status == (await client.get("/sessions", headers=BEARER)).status_code


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "http://127.0.0.1:8000"},
        {"Origin": "null"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
)
@pytest.mark.parametrize("token", [None, TOKEN])
async def test_another_sites_page_changes_nothing(
    app_of: AppOf, client_of: ClientOf, headers: dict[str, str], token: str | None
) -> None:
    app = app_of(token=token)
    async with client_of(app) as client:
        answers = [
            await client.post("/sessions", json={"transport": "fake"}, headers=BEARER | headers),
            await client.delete("/sessions/abcdefgh", headers=BEARER | headers),
        ]

    assert [403, 403] == [answer.status_code for answer in answers]
    assert 0 == len(app.state.sessions)


async def test_a_link_on_another_site_may_lead_here_but_its_scripts_may_not_read(
    app_of: AppOf, client_of: ClientOf
) -> None:
    async with client_of(app_of(token=TOKEN)) as client:
        link = await client.get("/", headers=BEARER | {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"})
        script = await client.get("/sessions", headers=BEARER | {"Origin": "http://evil.example"})
        asks = await client.options(
            "/sessions", headers=BEARER | {"Origin": OWN, "Access-Control-Request-Method": "POST"}
        )

    assert [200, 403, 405] == [answer.status_code for answer in (link, script, asks)]
    assert not any(name.startswith("access-control") for a in (link, script, asks) for name in a.headers)


@pytest.mark.parametrize("mode", ["no-cors", "cors", "same-origin", "websocket"])
@pytest.mark.parametrize("site", ["cross-site", "same-site"])
@pytest.mark.parametrize("path", ["/sessions", "/sessions/abcdefgh/events", "/health", "/"])
async def test_a_script_an_image_and_an_event_source_of_another_page_read_nothing(
    app_of: AppOf, client_of: ClientOf, mode: str, site: str, path: str
) -> None:
    async with client_of(app_of(token=TOKEN)) as client:
        answer = await client.get(path, headers=BEARER | {"Sec-Fetch-Site": site, "Sec-Fetch-Mode": mode})
        own = await client.get("/sessions", headers=BEARER | {"Sec-Fetch-Site": "same-origin", "Sec-Fetch-Mode": mode})

    assert (403, 200) == (answer.status_code, own.status_code)


async def test_every_answer_has_the_security_headers(app_of: AppOf, client_of: ClientOf) -> None:
    async with client_of(app_of(token=TOKEN)) as client:
        answers = [
            await client.get("/sessions", headers=BEARER),
            await client.get("/sessions"),
            await client.get("/nothing", headers=BEARER),
            await client.get(f"/?token={TOKEN}"),
            await client.post("/sessions", content=b" " * 70_000, headers=BEARER),
            await client.get("/sessions", headers={"Host": "evil.example"}),
        ]

    assert [200, 401, 404, 303, 413, 403] == [answer.status_code for answer in answers]
    for answer in answers:
        assert HEADERS == {name: answer.headers.get(name) for name in HEADERS}
        assert "server" not in answer.headers
    assert "frame-ancestors 'none'" in HEADERS["Content-Security-Policy"]


@pytest.mark.parametrize(
    ("headers", "passed"),
    [
        ([(b"host", b"127.0.0.1:7654"), (b"authorization", b"Bearer a-token-for-tests")], True),
        ([(b"host", b"127.0.0.1:7654")], False),
        ([(b"host", b"evil.example"), (b"authorization", b"Bearer a-token-for-tests")], False),
        ([(b"host", b"127.0.0.1"), (b"host", b"127.0.0.1"), (b"authorization", b"Bearer a-token-for-tests")], False),
        (
            [
                (b"host", b"127.0.0.1:7654"),
                (b"authorization", b"Bearer a-token-for-tests"),
                (b"origin", b"http://evil.example"),
            ],
            False,
        ),
    ],
)
async def test_a_websocket_has_the_same_door(headers: list[tuple[bytes, bytes]], passed: bool) -> None:
    reached: list[str] = []
    sent: list[Any] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        reached.append(scope["type"])

    async def send(message: Any) -> None:
        sent.append(message)

    async def receive() -> Any:
        raise AssertionError

    scope = {"type": "websocket", "path": "/", "headers": headers, "query_string": b""}
    await Guard(app, door=Door(Keys(TOKEN), None, Limits(), Audit()))(scope, receive, send)

    assert (["websocket"] if passed else []) == reached
    assert ([] if passed else ["websocket.close"]) == [message["type"] for message in sent]


@pytest.mark.parametrize("token", ["", "two words", "t\u00f6ken", "a;b", "a\n", 5])
def test_a_token_that_no_link_carries_is_refused(token: Any) -> None:
    with pytest.raises(ValueError, match="token: ") as refused:
        create_app(token=token)

    assert not token or str(token) not in str(refused.value)


def test_the_token_must_be_named() -> None:
    with pytest.raises(TypeError):
        create_app()  # type: ignore[call-arg]


def test_what_is_this_machine() -> None:
    assert all(map(is_loopback, ("localhost", "127.0.0.1", "127.8.8.8", "::1", "[::1]")))
    assert not any(map(is_loopback, ("0.0.0.0", "::", "10.0.0.1", "localhost.evil.example", "evil.example", "")))


async def test_httpx_sends_the_host_that_is_tested(app_of: AppOf, client_of: ClientOf) -> None:
    async with client_of(app_of()) as client:
        request: httpx.Request = client.build_request("GET", "/", headers={"Host": "evil.example"})

    assert ["evil.example"] == request.headers.get_list("host")
