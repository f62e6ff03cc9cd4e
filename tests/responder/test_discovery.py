"""Discovery: servers that list models are found, everything else on their ports is left alone."""

import json
from typing import TYPE_CHECKING, Any

import anyio
import pytest

from discussion_helper.responder.base import parse_llm
from discussion_helper.responder.discovery import USUAL_SERVERS, LocalServer, find_local_servers

if TYPE_CHECKING:
    from tests.responder.conftest import Answer, Exchange, FakeEndpoint

pytestmark = pytest.mark.anyio

NOBODY = ("Nobody", "http://127.0.0.1:9/v1")


def listing(*names: Any) -> "Answer":
    body = json.dumps({"data": [{"id": name} for name in names]}).encode()
    return lambda exchange: exchange.respond(200, body)


async def found(endpoint: "FakeEndpoint") -> list[LocalServer]:
    # A generous limit where no limit is tested: the machine may be busy.
    return await find_local_servers([NOBODY, ("Ollama", endpoint.base_url)], timeout_s=5)


async def test_a_server_is_found_with_its_models(endpoint: "FakeEndpoint") -> None:
    endpoint.answer = listing("llama3.2:3b", "nomic-embed-text", "qwen3:4b")
    [server] = await found(endpoint)
    assert server == LocalServer("Ollama", endpoint.base_url, ("llama3.2:3b", "qwen3:4b"))
    assert [exchange.path for exchange in endpoint.exchanges] == ["/v1/models"]
    assert parse_llm(str(server.choices[0])) == server.choices[0]


async def test_names_that_a_terminal_could_obey_are_left_out(endpoint: "FakeEndpoint") -> None:
    endpoint.answer = listing("\x1b[2Jevil", "", 7, None, "x" * 1000, "good")
    assert [server.models for server in await found(endpoint)] == [("good",)]


@pytest.mark.parametrize(
    "body",
    [b"", b"<html>", b"[]", b"null", b'{"data": {}}', b'{"data": [1]}', b'{"data": []}', b"[" * 200_000, b"\xff"],
)
async def test_other_answers_are_ignored(endpoint: "FakeEndpoint", body: bytes) -> None:
    endpoint.answer = lambda exchange: exchange.respond(200, body)
    assert await found(endpoint) == []


@pytest.mark.parametrize("status", [302, 401, 404, 500])
async def test_other_statuses_are_ignored(endpoint: "FakeEndpoint", status: int) -> None:
    endpoint.answer = lambda exchange: exchange.respond(status, b'{"data": [{"id": "m"}]}')
    assert await found(endpoint) == []


async def test_an_endless_answer_is_not_read_to_its_end(endpoint: "FakeEndpoint") -> None:
    async def answer(exchange: "Exchange") -> None:
        await exchange.begin(chunked=False)
        while not exchange.gone.is_set():
            await exchange.send(b" " * 65536)

    endpoint.answer = answer
    with anyio.fail_after(4):  # less than the limit of the probe
        assert await found(endpoint) == []


async def test_a_silent_server_costs_no_more_than_the_limit(endpoint: "FakeEndpoint") -> None:
    endpoint.answer = lambda exchange: exchange.gone.wait()
    with anyio.fail_after(5):
        assert await find_local_servers([("Silent", endpoint.base_url)], timeout_s=0.1) == []


async def test_a_proxy_is_never_asked(endpoint: "FakeEndpoint", monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, f"http://{endpoint.host}")
    assert await find_local_servers([NOBODY], timeout_s=5) == []
    assert endpoint.exchanges == []


def test_only_this_machine_is_asked() -> None:
    assert all(base_url.startswith("http://127.0.0.1:") for _, base_url in USUAL_SERVERS)
