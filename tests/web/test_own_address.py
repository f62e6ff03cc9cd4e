"""The addresses by which a server is asked: its own ones, a proxy's clients, and nobody else's names."""

import argparse
import re
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio
import httpx
import pytest
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from discussion_helper.command_line import told
from discussion_helper.commands import serve
from discussion_helper.commands.serve_door import checked_entrance
from discussion_helper.commands.serve_link import Link
from discussion_helper.errors import SettingError
from discussion_helper.web import Server, bound_socket
from discussion_helper.web.origins import is_host_known

pytestmark = pytest.mark.anyio

AppOf = Callable[..., Starlette]
TOKEN = "a-token-for-tests"
BEARER = {"Authorization": f"Bearer {TOKEN}"}


@pytest.mark.parametrize(
    ("host", "own", "is_known"),
    [
        ("192.168.7.3", "192.168.7.3", True),
        ("192.168.7.3:7654", "192.168.7.3", True),
        ("192.168.7.3", "::ffff:192.168.7.3", True),
        ("[2001:db8::5]:80", "2001:db8:0::5", True),
        ("[fe80::5]", "fe80::5%eth0", True),
        ("192.168.7.4", "192.168.7.3", False),
        ("evil.example", "192.168.7.3", False),
        ("192.168.7.3.evil.example", "192.168.7.3", False),
        ("192.168.7.3", "", False),
        ("192.168.7.3", "/run/a.sock", False),
        ("0.0.0.0", "0.0.0.0", False),
        ("[::]", "::", False),
        ("evil.example", "evil.example", False),
    ],
)
def test_the_address_that_a_connection_came_to_names_this_server(host: str, own: str, is_known: bool) -> None:
    assert is_known is is_host_known(Headers({"host": host}), (), own)


async def test_it_does_so_at_the_door_and_names_led_there_do_not(app_of: AppOf, client_of: Any) -> None:
    async with client_of(app_of(token=TOKEN), base_url="http://192.168.7.3:7654") as client:
        own = await client.get("/sessions", headers=BEARER)
        led_here = await client.get("/sessions", headers=BEARER | {"Host": "evil.example:7654"})

    assert (200, 403) == (own.status_code, led_here.status_code)
    assert "--allow-host" in led_here.json()["fix"]


async def where(request: Request) -> Response:
    return JSONResponse([request.scope["server"][0], request.client and request.client.host, request.url.scheme])


@asynccontextmanager
async def served(app: Starlette, host: str = "127.0.0.1", **options: Any) -> AsyncIterator[httpx.AsyncClient]:
    started = anyio.Event()
    server = Server(app, started=started.set, **options)
    with bound_socket(host, 0) as listening:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(server.serve, [listening])
            await started.wait()
            url = f"http://127.0.0.1:{listening.getsockname()[1]}"
            async with httpx.AsyncClient(base_url=url, timeout=20.0) as client:
                yield client
            server.should_exit = True


async def test_at_every_interface_a_server_knows_at_which_it_was_asked(app_of: AppOf) -> None:
    async with served(app_of(routes=[Route("/where", where)]), "0.0.0.0") as client:
        assert "127.0.0.1" == (await client.get("/where")).json()[0]


def entrance(*options: str) -> Any:
    return checked_entrance(parsed(*options))


def parsed(*options: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    serve.add_parser(parser.add_subparsers())
    return parser.parse_args(["serve", *options])


@pytest.mark.parametrize("host", ["0.0.0.0", "::", ""])
def test_this_machines_name_is_known_where_other_machines_ask(monkeypatch: pytest.MonkeyPatch, host: str) -> None:
    monkeypatch.setattr(socket, "gethostname", lambda: "Kitchen")
    assert ("home.lan", "Kitchen") == entrance("--host", host, "--insecure", "--allow-host", "home.lan").hosts
    assert ("127.0.0.1",) == entrance().hosts


@pytest.mark.parametrize("host", ["0.0.0.0", "::"])
async def test_the_links_for_other_machines_are_printed_too(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], host: str
) -> None:
    monkeypatch.setattr(socket, "gethostname", lambda: "kitchen")
    monkeypatch.setattr("discussion_helper.commands.serve_link.outer_address", lambda _: "192.168.7.3")
    with bound_socket(host, 0) as listening:
        port = listening.getsockname()[1]
        Link(listening, [], encrypted=True).print(Any, TOKEN)  # type: ignore[arg-type]
    links = re.findall(r"https://\S+", capsys.readouterr().out)

    local = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}[host]
    assert [f"https://{name}:{port}/?token={TOKEN}" for name in (local, "192.168.7.3", "kitchen")] == links


# -- behind a proxy


async def test_the_link_is_that_of_the_proxy(capsys: pytest.CaptureFixture[str]) -> None:
    with bound_socket("127.0.0.1", 0) as listening:
        Link(listening, ["talk.example.org"], encrypted=False, is_behind=True).print(Any, TOKEN)  # type: ignore[arg-type]
        port = listening.getsockname()[1]
        Link(listening, [], encrypted=False, is_behind=True).print(Any, TOKEN)  # type: ignore[arg-type]
    links = re.findall(r"https?://\S+", capsys.readouterr().out)

    assert [f"https://talk.example.org/?token={TOKEN}", f"http://127.0.0.1:{port}/?token={TOKEN}"] == links


FORWARDED = {"X-Forwarded-For": "192.0.2.66, 203.0.113.5", "X-Forwarded-Proto": "https"}


@pytest.mark.parametrize(
    ("proxies", "seen"),
    [([], ["127.0.0.1", "http"]), (["192.0.2.9"], ["127.0.0.1", "http"]), (["127.0.0.1"], ["203.0.113.5", "https"])],
)
async def test_only_a_proxy_that_is_trusted_tells_who_asks(app_of: AppOf, proxies: list[str], seen: list[str]) -> None:
    app = app_of(routes=[Route("/where", where)])
    async with served(app, proxies=proxies) as client:
        assert seen == (await client.get("/where", headers=FORWARDED)).json()[1:]


async def test_behind_it_strangers_have_rates_of_their_own_and_the_audit_names_them(app_of: AppOf) -> None:
    app = app_of(token=TOKEN)
    async with served(app, proxies=["127.0.0.1"]) as client:
        wrong = BEARER | {"Authorization": "Bearer wrong", "X-Forwarded-For": "203.0.113.5"}
        guesses = [(await client.get("/sessions", headers=wrong)).status_code for _ in range(12)]
        owner = await client.get(f"/?token={TOKEN}", headers={**FORWARDED, "X-Forwarded-For": "203.0.113.6"})

    assert ([401] * 10, 429) == (guesses[:10], guesses[-1])
    assert 303 == owner.status_code
    assert "; Secure" in owner.headers["set-cookie"]
    assert ["203.0.113.6", "203.0.113.5"] == [entry["address"] for entry in app.state.audit.entries[:2]]


@pytest.mark.parametrize("address", ["*", "proxy.lan", "", "10.0.0.0/33"])
def test_what_is_no_address_is_not_trusted(address: str) -> None:
    arguments = parsed("--trust-proxy", address)
    with pytest.raises(SettingError) as refused:
        checked_entrance(arguments)
    assert told(refused.value, arguments).startswith("--trust-proxy: ")
    assert (("127.0.0.1", "10.0.0.0/8"),) == (
        entrance("--trust-proxy", "127.0.0.1", "--trust-proxy", "10.0.0.0/8").proxies,
    )
