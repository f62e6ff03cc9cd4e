"""Warming up an endpoint: what is certain ends a talk, what is only slow is told, and slow is the server alone."""

from threading import Event
from typing import TYPE_CHECKING, Any

import anyio
import anyio.lowlevel
import pytest

from discussion_helper.errors import EndpointRefused, EndpointStalled, EndpointUnreachable
from discussion_helper.responder.endpoint import EndpointResponder
from discussion_helper.responder.running_time import ends_within
from discussion_helper.types import Message

if TYPE_CHECKING:
    from tests.responder.conftest import Exchange, FakeEndpoint

pytestmark = pytest.mark.anyio

HELLO: list[Message] = [{"role": "user", "content": "Hello?"}]


class Reports:
    """What a session is told."""

    def __init__(self) -> None:
        self.told: list[dict[str, Any]] = []

    def now(self) -> float:
        return 0.0

    def of(self, monotonic_s: float) -> float:
        return monotonic_s

    def report(self, kind: str, /, **data: Any) -> None:
        self.told.append({"kind": kind, **data})


@pytest.fixture
def limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("discussion_helper.responder.endpoint._WARMUP_LIMIT_S", 0.3)


def attached(base_url: str) -> tuple[EndpointResponder, Reports]:
    responder, reports = EndpointResponder(base_url=base_url, model="m"), Reports()
    responder.attach(reports)
    return responder, reports


def hold_up_the_loop() -> None:
    Event().wait(0.8)


async def test_time_in_which_this_process_is_held_up_is_not_the_servers(limit: None, endpoint: "FakeEndpoint") -> None:
    async def answer(exchange: "Exchange") -> None:
        hold_up_the_loop()  # after the request came: the other end of it is in this process too
        await exchange.respond(200, b'{"data": []}')

    endpoint.answer = answer
    responder = EndpointResponder(base_url=endpoint.base_url, model="m")

    await responder.warmup()

    assert len(endpoint.exchanges) == 1
    await responder.aclose()


async def test_what_is_held_up_again_and_again_still_ends() -> None:
    async def held_up() -> None:
        for _ in range(3):
            hold_up_the_loop()
            await anyio.lowlevel.checkpoint()
        await anyio.sleep_forever()

    with anyio.fail_after(10):
        assert not await ends_within(0.3, held_up)


async def test_a_server_that_keeps_the_list_back_is_told_of_and_ends_nothing(
    limit: None, endpoint: "FakeEndpoint"
) -> None:
    endpoint.answer = lambda exchange: exchange.gone.wait()
    responder, reports = attached(endpoint.base_url)

    await responder.warmup()

    (told,) = reports.told
    assert (told["kind"], told["which"], told["state"]) == ("device", "server", "slow")
    assert told["fix"].startswith(f"{endpoint.host} does not answer within 0.3 s. Check the server")
    endpoint.answer = lambda exchange: exchange.stream("Here I am.")
    assert [clause async for clause in responder.reply(HELLO)] == ["Here I am."]
    assert reports.told[1:] == [{"kind": "device", "which": "server", "state": "answering"}]
    await responder.aclose()


async def test_without_a_session_it_is_an_error(limit: None, endpoint: "FakeEndpoint") -> None:
    endpoint.answer = lambda exchange: exchange.gone.wait()
    responder = EndpointResponder(base_url=endpoint.base_url, model="m")
    with pytest.raises(EndpointStalled, match=r"does not answer within 0\.3 s"):
        await responder.warmup()
    await responder.aclose()


@pytest.mark.parametrize("refuses", [False, True], ids=["stalls", "refuses"])
async def test_nothing_of_it_ends_a_talk_in_which_a_reply_has_begun(
    limit: None, endpoint: "FakeEndpoint", refuses: bool
) -> None:
    begun = anyio.Event()

    async def answer(exchange: "Exchange") -> None:
        if not exchange.path.endswith("/models"):
            await exchange.begin()
            await exchange.delta(content="Well. ")
            await exchange.gone.wait()
        await begun.wait()
        await (exchange.refuse(401) if refuses else exchange.gone.wait())

    endpoint.answer = answer
    responder, reports = attached(endpoint.base_url)
    clauses: Any = responder.reply(HELLO)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(responder.warmup)
        assert await anext(clauses) == "Well."
        begun.set()
    await clauses.aclose()
    await responder.aclose()
    assert not reports.told


async def test_what_is_certain_ends_it(endpoint: "FakeEndpoint") -> None:
    endpoint.answer = lambda exchange: exchange.refuse(401)
    refused, _ = attached(endpoint.base_url)
    with pytest.raises(EndpointRefused):
        await refused.warmup()
    await refused.aclose()
    nobody, _ = attached("http://127.0.0.1:9/v1")
    with pytest.raises(EndpointUnreachable):
        await nobody.warmup()
    await nobody.aclose()
