"""The embedded responder on the real model: it answers, remembers the prefix, stops, prints nothing, leaves nothing."""

import importlib
import os
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest

from discussion_helper.errors import ModelCorrupt, ResponderError
from discussion_helper.models import Store, load_manifest
from discussion_helper.responder.embedded import EmbeddedResponder
from discussion_helper.responder.llama import ContextFull, Llama
from discussion_helper.types import Message

pytestmark = [pytest.mark.anyio, pytest.mark.models]

FRANCE: list[Message] = [{"role": "user", "content": "What is the capital of France?"}]
A_FEW = 6
"""Most reports on a prompt of which only the last turns had to be read: beginning, two batches, role, end, a spare."""
SPINS = "GOMP_SPINCOUNT"
LONG = "one of many words in a very long message that " * 150  # 1500 words


@pytest.fixture(scope="module")
def model() -> Path:
    [path] = Store().path_of(load_manifest().model("SmolLM2-135M")).glob("*.gguf")
    return path


@pytest.fixture
async def responder(model: Path) -> AsyncIterator[EmbeddedResponder]:
    responder = EmbeddedResponder(model, seed=1, context=4096)
    await responder.warmup()
    yield responder
    await responder.aclose()


async def clauses_of(responder: EmbeddedResponder, messages: list[Message]) -> list[str]:
    return [clause async for clause in responder.reply(messages)]


async def test_it_answers_in_plain_short_sentences(responder: EmbeddedResponder) -> None:
    assert "Paris" in " ".join(await clauses_of(responder, FRANCE))
    for question in ("Give me a list of five fruits.", "Write some Python code that prints hello."):
        reply = " ".join(await clauses_of(responder, [{"role": "user", "content": question}]))
        assert 0 < len(reply.split()) < 80
        assert not set("*#`\n") & set(reply)


CUTS = (
    ("What is the largest animal?", "The largest animal is the blue whale, which", "can be long.", "What does it eat?"),
    (
        "How do I cook rice?",
        "Rinse the rice first, then add twice as much",
        "water as rice.",
        "How much salt do I need?",
    ),
    ("How far away is the moon?", "", "The moon is far away.", "Do you hear me?"),
    ("Why is the sky blue?", "The sky is blue because the air scatters", "blue light.", "And why is the sunset red?"),
)


@pytest.mark.parametrize(("question", "heard", "unheard", "then"), CUTS)
async def test_after_a_cut_it_answers_and_neither_tells_of_it_nor_begins_again(
    responder: EmbeddedResponder, question: str, heard: str, unheard: str, then: str
) -> None:
    messages: list[Message] = [
        {"role": "user", "content": question},
        {"role": "assistant", "content": heard, "interrupted": True, "unheard": unheard},
        {"role": "user", "content": then},
    ]
    reply = " ".join(await clauses_of(responder, messages))

    words = reply.lower().split()
    again = {" ".join(words[at : at + 5]) for at in range(len(words) - 4)}
    assert words
    assert not any(each in heard.lower() for each in again)
    assert not any(told in reply.lower() for told in ("cut off", "interrupt", "not heard"))


async def test_the_conversation_so_far_is_not_read_again(model: Path) -> None:
    llama = Llama(model, threads=2, context=1024)
    request: dict[str, Any] = {"max_tokens": 1, "messages": [{"role": "user", "content": LONG[:1200]}]}
    assert _read(llama, request) > 2 * A_FEW
    request["messages"] += [{"role": "assistant", "content": "Yes."}, {"role": "user", "content": "Why?"}]
    assert _read(llama, request) <= A_FEW
    request["messages"] = [{"role": "user", "content": "Hello."}, *request["messages"][1:]]
    assert _read(llama, request) <= A_FEW  # the oldest turn is gone: the rest is moved, not read


def _read(llama: Llama, request: dict[str, Any]) -> int:
    """How many times llama.cpp reported on reading the prompt."""
    steps = 0

    def take(piece: str) -> bool:
        nonlocal steps
        steps += not piece
        return False

    llama.chat(request, take)
    return steps


@pytest.mark.parametrize("text", ["Tell me a long story.", LONG], ids=["decoding", "in a cold prefill"])
async def test_it_stops_and_the_next_reply_starts_at_once(responder: EmbeddedResponder, text: str) -> None:
    clauses: Any = responder.reply([{"role": "user", "content": text}])
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_swallow, clauses)
        await anyio.sleep(0.2)
        began = time.perf_counter()
        tasks.cancel_scope.cancel()
    assert time.perf_counter() - began < 1  # the goal is 0.1 s; the machine may be busy
    with anyio.fail_after(20):
        assert await clauses_of(responder, FRANCE)


async def _swallow(clauses: AsyncIterator[str]) -> None:
    async for _ in clauses:
        pass


async def test_the_event_loop_goes_on_while_the_model_works(responder: EmbeddedResponder) -> None:
    ticks = 0

    async def tick() -> None:
        nonlocal ticks
        while True:
            await anyio.sleep(0.005)
            ticks += 1

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(tick)
        await clauses_of(responder, FRANCE)
        tasks.cancel_scope.cancel()
    assert ticks > 5


async def test_what_goes_wrong_in_the_callback_is_not_lost(model: Path) -> None:
    llama = Llama(model, threads=1, context=512)

    def fail(piece: str) -> bool:
        raise KeyError(piece)

    with pytest.raises(KeyError):
        llama.chat({"messages": [*FRANCE], "max_tokens": 5}, fail)
    with pytest.raises(ContextFull) as full:
        llama.chat({"messages": [{"role": "user", "content": LONG}], "max_tokens": 5}, lambda _: False)
    assert full.value.tokens > 1500
    with pytest.raises(ResponderError, match="cannot take this conversation"):
        llama.chat({"messages": [{"role": "user"}], "max_tokens": 5}, lambda _: False)


@pytest.mark.parametrize("own", [{}, {"GOMP_SPINCOUNT": "7"}, {"OMP_WAIT_POLICY": "ACTIVE"}])
async def test_its_threads_wait_briefly_unless_the_user_says_otherwise(
    model: Path, monkeypatch: pytest.MonkeyPatch, own: dict[str, str]
) -> None:
    seen: list[str | None] = []
    load = importlib.import_module

    def noting(name: str) -> object:
        seen.append(os.environ.get(SPINS))
        return load(name)

    monkeypatch.setattr(importlib, "import_module", noting)
    for name in (SPINS, "OMP_WAIT_POLICY"):
        monkeypatch.delenv(name, raising=False)
    for name, value in own.items():
        monkeypatch.setenv(name, value)
    Llama(model, threads=1, context=512)
    assert seen == [own.get(SPINS) if own else "1000"]
    assert os.environ.get(SPINS) == own.get(SPINS)


async def test_its_port_is_locked(model: Path) -> None:
    llama = Llama(model, threads=1, context=512)
    async with httpx.AsyncClient(base_url=llama._server.listening_address, trust_env=False) as client:
        for path in ("/slots", "/props", "/v1/models", "/"):
            assert (await client.get(path)).status_code in (401, 403, 404)


@pytest.mark.parametrize("spoil", [lambda data: data[:1_000_000], lambda data: b"GGUF" + bytes(10_000)])
async def test_a_spoilt_file_is_told(model: Path, tmp_path: Path, spoil: Callable[[bytes], bytes]) -> None:
    responder = EmbeddedResponder(_spoilt(model, tmp_path, spoil))
    with pytest.raises(ModelCorrupt, match=r"cannot load the language model .*spoilt\.gguf"):
        await responder.warmup()
    await responder.aclose()


def _spoilt(model: Path, folder: Path, spoil: Callable[[bytes], bytes]) -> Path:
    path = folder / "spoilt.gguf"
    path.write_bytes(spoil(model.read_bytes()))
    return path


async def test_it_can_be_closed_in_any_state(model: Path) -> None:
    threads = threading.active_count()
    for warm in (False, True):
        responder = EmbeddedResponder(model)
        if warm:
            with anyio.move_on_after(0.05):  # in the middle of loading
                await responder.warmup()
        await responder.aclose()
    assert threading.active_count() <= threads + 1  # anyio keeps a worker thread for reuse


def test_it_prints_nothing(model: Path) -> None:
    script = (
        "import anyio, sys\n"
        "from discussion_helper.responder.embedded import EmbeddedResponder\n"
        "async def main():\n"
        "    responder = EmbeddedResponder(sys.argv[1], max_tokens=3)\n"
        "    async for clause in responder.reply([{'role': 'user', 'content': 'Hello.'}]):\n"
        "        assert clause\n"
        "    await responder.aclose()\n"
        "anyio.run(main)\n"
    )
    done = subprocess.run([sys.executable, "-W", "error", "-c", script, str(model)], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
