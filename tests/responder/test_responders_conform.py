"""Both responders keep every rule of their port, with models that are played and with the real one."""

import json
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from discussion_helper.models import Store, load_manifest
from discussion_helper.responder import embedded_model
from discussion_helper.responder.embedded import EmbeddedResponder
from discussion_helper.responder.endpoint import EndpointResponder
from discussion_helper.testing.conformance import Limits, check_responder

pytestmark = pytest.mark.anyio

SAYS = "Hello there. How are you"
QUICK = Limits(patience_s=0.3, blocked_s=1.0, let_go_s=1.0)
Take = Callable[[str], bool]


class Played:
    """Stands where llama.cpp stands; says the same every time, a word in a millisecond."""

    def chat(self, request: Mapping[str, Any], take: Take) -> str:
        if not request["max_tokens"]:
            return "length"
        stopped = threading.Event()
        for word in SAYS.split(" "):
            stopped.wait(0.001)
            if take(f"{word} "):
                return ""
        return "stop"


class Slow:
    """Looks at the stop flag at every token, of which none comes."""

    def chat(self, request: Mapping[str, Any], take: Take) -> str:
        while not take(""):
            threading.Event().wait(0.01)
        return ""


def no_memory(*_: object, **__: object) -> Played:
    raise MemoryError


async def test_the_embedded_responder_conforms_around_its_model(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path, slow = tmp_path / "model.gguf", tmp_path / "slow.gguf"
    for file in (path, slow):
        file.write_bytes(b"GGUF and more")
    monkeypatch.setattr(embedded_model, "Llama", lambda file, **_: Slow() if file == slow else Played())

    report = await check_responder(
        lambda: EmbeddedResponder(path, context=20_000),
        says=SAYS,
        make_dead=lambda: EmbeddedResponder(tmp_path / "gone.gguf"),
        make_slow=lambda: EmbeddedResponder(slow),
        limits=QUICK,
    )

    assert () == report.unchecked


async def test_the_endpoints_responder_conforms(endpoint: Any) -> None:
    async def answer(exchange: Any) -> None:
        if exchange.body and exchange.body["model"] == "slow":
            await exchange.gone.wait()
        elif exchange.path.endswith("/models"):
            await exchange.respond(200, json.dumps({"object": "list", "data": []}).encode())
        else:
            await exchange.stream("Hello ", "there. How ", "are you")

    endpoint.answer = answer
    report = await check_responder(
        lambda: EndpointResponder(base_url=endpoint.base_url, model="m"),
        says=SAYS,
        make_dead=lambda: EndpointResponder(base_url="http://127.0.0.1:9/v1", model="m"),
        make_slow=lambda: EndpointResponder(base_url=endpoint.base_url, model="slow"),
        limits=QUICK,
    )

    assert ["responder.anticipation-can-be-left"] == [finding.rule.name for finding in report.unchecked]


@pytest.mark.models
@pytest.mark.slow
@pytest.mark.timeout(400)  # two minutes on a busy machine
async def test_the_real_model_conforms(tmp_path: Path) -> None:
    (path,) = Store().path_of(load_manifest().model("SmolLM2-135M")).glob("*.gguf")
    damaged = tmp_path / "damaged.gguf"
    damaged.write_bytes(b"GGUF and nothing that follows from it")
    report = await check_responder(
        lambda: EmbeddedResponder(path, max_tokens=16, seed=1),
        make_dead=lambda: EmbeddedResponder(damaged),
        limits=Limits(patience_s=1.0, let_go_s=2.0, close_s=2.0, blocked_s=1.0, call_s=60.0),
    )
    unchecked = [finding.rule.name for finding in report.unchecked]
    assert ["responder.the-end-is-given", "responder.slow-can-be-left"] == unchecked
