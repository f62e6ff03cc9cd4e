"""The endpoint responder and discovery against a real server: llama.cpp's own."""

from collections.abc import Iterator
from typing import Any

import anyio
import pytest

from discussion_helper.errors import EndpointRefused
from discussion_helper.models import Store, load_manifest
from discussion_helper.responder.discovery import find_local_servers
from discussion_helper.responder.endpoint import EndpointResponder
from discussion_helper.types import Message

pytestmark = [pytest.mark.anyio, pytest.mark.models]

KEY = "a-key-of-the-test"
FRANCE: list[Message] = [{"role": "user", "content": "What is the capital of France?"}]


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    import xllamacpp

    parameters = xllamacpp.CommonParams()
    [path] = Store().path_of(load_manifest().model("SmolLM2-135M")).glob("*.gguf")
    parameters.model.path = str(path)
    parameters.n_ctx = 1024
    parameters.n_batch = parameters.n_ubatch = 32
    parameters.n_parallel = 1
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = 1
    parameters.verbosity = -1
    parameters.api_keys = [KEY]
    running = xllamacpp.Server(parameters)
    running.handle_completions({"prompt": "a", "n_predict": 0}, lambda _: False)  # its loop has begun
    yield f"{running.listening_address}/v1"
    del running


def responder(server: str, *, api_key: str | None = KEY) -> EndpointResponder:
    return EndpointResponder(
        base_url=server, model="whatever is loaded", api_key=api_key, options={"temperature": 0, "max_tokens": 60}
    )


async def test_it_answers(server: str) -> None:
    asked = responder(server)
    await asked.warmup()
    assert "Paris" in " ".join([clause async for clause in asked.reply(FRANCE)])
    await asked.aclose()


@pytest.mark.parametrize("key", ["another", None])
async def test_a_bad_key_is_told_at_once(server: str, key: str | None) -> None:
    asked = responder(server, api_key=key)
    with pytest.raises(EndpointRefused, match="key"):
        await asked.warmup()
    with pytest.raises(EndpointRefused, match="401"):
        await anext(asked.reply(FRANCE))
    await asked.aclose()


async def test_closing_frees_the_server_for_the_next(server: str) -> None:
    asked = responder(server)
    clauses: Any = asked.reply([{"role": "user", "content": "Tell me a long story about a dog."}])
    await anext(clauses)
    await clauses.aclose()
    with anyio.fail_after(20):
        assert [clause async for clause in asked.reply(FRANCE)]
    await asked.aclose()


async def test_a_server_that_wants_a_key_is_not_offered(server: str) -> None:
    assert await find_local_servers([("llama.cpp", server)], timeout_s=5) == []
