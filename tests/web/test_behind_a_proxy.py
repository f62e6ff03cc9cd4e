"""The examples of reverse proxies, where the programs are installed: they lead to a server as they are."""

import json
import re
import shutil
import socket
import ssl
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest
from starlette.applications import Starlette
from websockets.asyncio.client import connect
from websockets.typing import Subprotocol

from discussion_helper.testing.remote import fake_remote_talk
from discussion_helper.web import Server, bound_socket
from discussion_helper.web.audio_wire import SUBPROTOCOL

pytestmark = pytest.mark.anyio

AppOf = Callable[..., Starlette]
EXAMPLES = Path(__file__).parents[2] / "deploy" / "proxy"
CERT, KEY = (Path(__file__).parent / f"loopback-{what}.pem" for what in ("cert", "key"))
NAME = "talk.example.org"
TOKEN = "a-token-for-tests"
NGINX, CADDY = shutil.which("nginx"), shutil.which("caddy")
ELSEWHERE = sys.platform != "linux"
"""On Linux `make test` installs them."""
WITHIN_S = 20.0


def nginx_example(folder: Path, port: int, upstream: str) -> list[str]:
    """The command for the example, on that port and with a certificate that there is."""
    text = (EXAMPLES / "nginx.conf").read_text(encoding="utf-8")
    for pattern, instead in (
        (r"listen 443 ssl;", f"listen 127.0.0.1:{port} ssl;"),
        (r"listen \[::\]:443 ssl;", ""),
        (r"(?<=ssl_certificate )\S+;", f"{CERT};"),
        (r"(?<=ssl_certificate_key )\S+;", f"{KEY};"),
        (r"http://127\.0\.0\.1:7654", upstream),
        (r"/var/log/nginx/\S+(?= )", str(folder / "access.log")),
    ):
        text, count = re.subn(pattern, instead, text)
        assert count == 1, pattern
    kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    own = "".join(f"{kind}_temp_path {folder / kind};\n" for kind in kinds)
    whole = f"daemon off;\nmaster_process off;\npid {folder / 'pid'};\nevents {{}}\nhttp {{\n{own}{text}\n}}\n"
    (folder / "nginx.conf").write_text(whole, encoding="utf-8")
    assert NGINX is not None
    return [NGINX, "-p", str(folder), "-e", str(folder / "error.log"), "-c", str(folder / "nginx.conf")]


def caddy_example(folder: Path, port: int, upstream: str) -> list[str]:
    """The same of Caddy, which would ask the world for a certificate."""
    text = (EXAMPLES / "Caddyfile").read_text(encoding="utf-8")
    head = f"{{\n\tadmin off\n\tauto_https off\n\tstorage file_system {folder}\n}}\n"
    text = text.replace(f"{NAME} {{", f"https://{NAME}:{port}, https://127.0.0.1:{port} {{\n\ttls {CERT} {KEY}", 1)
    (folder / "Caddyfile").write_text(head + text.replace("127.0.0.1:7654", upstream.removeprefix("http://"), 1))
    assert CADDY is not None
    return [CADDY, "run", "--adapter", "caddyfile", "--config", str(folder / "Caddyfile")]


@contextmanager
def running(command: list[str], port: int, folder: Path) -> Iterator[None]:
    """Until it listens, and then until left."""
    with (folder / "out").open("wb") as out:
        process = subprocess.Popen(command, stdout=out, stderr=out, env={"HOME": str(folder), "PATH": "/usr/bin"})
        try:
            while process.poll() is None:
                try:
                    socket.create_connection(("127.0.0.1", port), timeout=WITHIN_S).close()
                    break
                except ConnectionRefusedError:
                    continue
            assert process.poll() is None, (folder / "out").read_text()
            yield
        finally:
            process.kill()
            process.wait()


@asynccontextmanager
async def proxied(app: Starlette, example: Any, folder: Path) -> AsyncIterator[int]:
    """The port of the proxy."""
    started = anyio.Event()
    server = Server(app, started=started.set, proxies=["127.0.0.1"])
    with bound_socket("127.0.0.1", 0) as listening, bound_socket("127.0.0.1", 0) as free:
        port = free.getsockname()[1]
        free.close()
        command = example(folder, port, f"http://127.0.0.1:{listening.getsockname()[1]}")
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(server.serve, [listening])
            await started.wait()
            with running(command, port, folder):
                yield port
                server.should_exit = True


def logged(folder: Path) -> str:
    return "".join(file.read_text() for file in folder.iterdir() if file.suffix == ".log" or file.name == "out")


@pytest.mark.parametrize(
    "example",
    [
        pytest.param(nginx_example, marks=pytest.mark.skipif(ELSEWHERE and NGINX is None, reason="no nginx here")),
        pytest.param(caddy_example, marks=pytest.mark.skipif(ELSEWHERE and CADDY is None, reason="no Caddy here")),
    ],
)
async def test_a_whole_visit_through_the_example(app_of: AppOf, events_in: Any, tmp_path: Path, example: Any) -> None:
    app = app_of(open_remote=lambda _: fake_remote_talk(()), token=TOKEN, allowed_hosts=[NAME])
    trust = ssl.create_default_context(cafile=str(CERT))
    async with proxied(app, example, tmp_path) as port:
        name = f"{NAME}:{port}"
        sent = {"Host": name, "Origin": f"https://{name}", "X-Forwarded-For": "203.0.113.5"}
        url = f"https://127.0.0.1:{port}"
        async with httpx.AsyncClient(base_url=url, verify=trust, headers=sent, timeout=WITHIN_S) as browser:
            linked = await browser.get(f"/?token={TOKEN}")
            browser.headers["Cookie"] = linked.headers["set-cookie"].partition(";")[0]
            session = (await browser.post("/sessions", json={"transport": "remote"})).json()
            async with browser.stream("GET", f"{session['url']}/events") as stream:
                told = events_in(stream)
                assert "snapshot" == (await anext(told)).kind
                await browser.post(f"{session['url']}/say", json={"text": "Hello."})
                assert "Hello." == (await anext(e async for e in told if e.kind == "utterance")).data["text"]
            cookie = {"Cookie": browser.headers["Cookie"]}
        where: dict[str, Any] = {"host": "127.0.0.1", "port": port, "ssl": trust, "server_hostname": "127.0.0.1"}
        where |= {"proxy": None, "origin": sent["Origin"], "additional_headers": cookie}
        async with connect(
            f"wss://{name}{session['url']}/audio", subprotocols=[Subprotocol(SUBPROTOCOL)], **where
        ) as it:
            await it.send(json.dumps({"type": "hello", "rate": 16_000}))
            assert "welcome" == json.loads(await it.recv())["type"]

    assert 303 == linked.status_code
    assert "; Secure" in linked.headers["set-cookie"]
    assert {"127.0.0.1"} == {e["address"] for e in app.state.audit.entries if "address" in e}
    assert TOKEN not in logged(tmp_path)
