"""The embedded responder on a model that is played: threads, stopping, limits and errors."""

import threading
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import anyio
import pytest
from anyio import from_thread, to_thread
from anyio.lowlevel import current_token

from discussion_helper.errors import ModelCorrupt, ModelMissing, ResponderError, SettingError
from discussion_helper.parts import Responder, WarmsUp
from discussion_helper.responder import embedded_model
from discussion_helper.responder.embedded import EmbeddedResponder
from discussion_helper.responder.history import GREETING
from discussion_helper.responder.llama import ContextFull
from discussion_helper.types import Message

pytestmark = pytest.mark.anyio

HELLO: list[Message] = [{"role": "user", "content": "Hello?"}]
Take = Callable[[str], bool]


class PlayedLlama:
    """Stands where llama.cpp stands. `script(take)` plays one completion, in the worker thread."""

    def __init__(self) -> None:
        self.loads = 0
        self.requests: list[dict[str, Any]] = []
        self.context = 0
        self.failing: Exception | None = None
        self.script: Callable[[Take], str] = saying("Hello there. How are you?")

    def load(self, path: Path, *, threads: int, context: int, template: str | None) -> "PlayedLlama":
        del path, threads, template
        self.loads += 1
        self.context = context
        if self.failing is not None:
            raise self.failing
        return self

    def chat(self, request: Mapping[str, Any], take: Take) -> str:
        self.requests.append(dict(request))
        return self.script(take)


def saying(text: str, finish: str = "stop") -> Callable[[Take], str]:
    def script(take: Take) -> str:
        return "" if any(take(piece) for piece in text) else finish

    return script


def endless(piece: str) -> Callable[[Take], str]:
    def script(take: Take) -> str:
        while not take(piece):
            pass
        return ""

    return script


def stuck(let_go: threading.Event) -> Callable[[Take], str]:
    def script(take: Take) -> str:
        take("Hm. ")
        let_go.wait(20)
        return "stop"

    return script


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def llama(monkeypatch: pytest.MonkeyPatch) -> PlayedLlama:
    llama = PlayedLlama()
    monkeypatch.setattr(embedded_model, "Llama", llama.load)
    return llama


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "model.gguf"
    path.write_bytes(b"GGUF and more")
    return path


@pytest.fixture
async def responder(llama: PlayedLlama, model: Path) -> AsyncIterator[EmbeddedResponder]:
    del llama
    responder = EmbeddedResponder(model, system="Be brief.", max_tokens=10, context=300)
    yield responder
    await responder.aclose()


async def clauses_of(responder: EmbeddedResponder, messages: Sequence[Message] = HELLO) -> list[str]:
    with anyio.fail_after(10):
        return [clause async for clause in responder.reply(messages)]


async def test_it_is_a_responder_that_warms_up(responder: EmbeddedResponder) -> None:
    assert isinstance(responder, Responder)
    assert isinstance(responder, WarmsUp)


async def test_it_gives_clauses(responder: EmbeddedResponder, llama: PlayedLlama) -> None:
    assert await clauses_of(responder) == ["Hello there.", "How are you?"]
    assert llama.requests[0]["messages"] == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Hello?"},
    ]
    assert llama.requests[0]["max_tokens"] == 10


async def test_a_clause_is_given_while_the_model_goes_on(responder: EmbeddedResponder, llama: PlayedLlama) -> None:
    go_on = threading.Event()

    def script(take: Take) -> str:
        for piece in ("Yes. ", "Well"):
            take(piece)
        go_on.wait(10)
        return "stop"

    llama.script = script
    clauses: Any = responder.reply(HELLO)
    assert await anext(clauses) == "Yes."
    go_on.set()
    assert [clause async for clause in clauses] == ["Well"]


async def test_the_model_is_loaded_once_by_whoever_comes_first(
    responder: EmbeddedResponder, llama: PlayedLlama
) -> None:
    assert llama.loads == 0
    await responder.warmup()
    await clauses_of(responder)
    assert llama.loads == 1
    assert [(len(request["messages"]), request["max_tokens"]) for request in llama.requests] == [(1, 0), (2, 10)]


async def test_reasoning_is_not_spoken(responder: EmbeddedResponder, llama: PlayedLlama) -> None:
    llama.script = saying("<think>They greet.</think>Hello.")
    assert await clauses_of(responder) == ["Hello."]


async def test_a_sentence_that_the_limit_cut_short_is_left_out(
    responder: EmbeddedResponder, llama: PlayedLlama
) -> None:
    llama.script = saying("I like dogs. I also like", "length")
    assert await clauses_of(responder) == ["I like dogs."]
    llama.script = saying("I also like", "length")
    assert await clauses_of(responder) == ["I also like"]


async def test_an_empty_reply_is_an_error(responder: EmbeddedResponder, llama: PlayedLlama) -> None:
    llama.script = saying(" \n")
    with pytest.raises(ResponderError, match="had nothing to say"):
        await clauses_of(responder)


CUT: list[Message] = [
    *HELLO,
    {"role": "assistant", "content": "Hello there, how", "interrupted": True, "unheard": "are you?"},
    {"role": "user", "content": "Fine."},
]


async def test_after_a_cut_repeated_phrases_cost_more_and_the_model_gets_what_was_heard_alone(
    responder: EmbeddedResponder, llama: PlayedLlama
) -> None:
    later: list[Message] = [*CUT, {"role": "assistant", "content": "Good."}, *HELLO]
    for messages in (HELLO, CUT, later):
        await clauses_of(responder, messages)

    usual, cut, after = llama.requests
    assert [{"role": m["role"], "content": m["content"]} for m in CUT] == cut["messages"][1:]
    assert (
        cut["messages"] == after["messages"][: len(cut["messages"])]
    )  # what the model has read, it need not read again
    assert usual["dry_multiplier"] == after["dry_multiplier"] < cut["dry_multiplier"]
    assert usual["dry_allowed_length"] == after["dry_allowed_length"] > cut["dry_allowed_length"]


async def test_where_the_agent_spoke_first_the_model_gets_a_greeting_before_it(
    responder: EmbeddedResponder, llama: PlayedLlama
) -> None:
    messages: list[Message] = [{"role": "assistant", "content": "Welcome to the hotel."}, *HELLO]
    await clauses_of(responder, messages)

    assert [{"role": "user", "content": GREETING}, *messages] == llama.requests[0]["messages"][1:]


async def test_what_is_read_ahead_after_a_cut_is_what_is_asked(
    responder: EmbeddedResponder, llama: PlayedLlama
) -> None:
    for heard in ("Hello there, how", "Hello", ""):
        messages: list[Message] = [CUT[0], {**CUT[1], "content": heard}, CUT[2]]
        await responder.anticipate(messages)
        await clauses_of(responder, messages)
        ahead, asked = llama.requests[-2:]
        assert ahead["messages"] == asked["messages"]
        assert {"role", "content"} == set(asked["messages"][-1])


# -- stopping


async def test_closing_stops_a_model_that_decodes(responder: EmbeddedResponder, llama: PlayedLlama) -> None:
    ended = threading.Event()

    def script(take: Take) -> str:
        outcome = endless("Go. ")(take)
        ended.set()
        return outcome

    llama.script = script
    clauses: Any = responder.reply(HELLO)
    assert await anext(clauses) == "Go."
    await clauses.aclose()
    assert ended.is_set()


@pytest.mark.parametrize("piece", ["", "Go. "], ids=["in the prefill", "decoding, its queue full"])
async def test_cancelling_stops_the_model_and_the_next_reply_starts(
    responder: EmbeddedResponder, llama: PlayedLlama, piece: str
) -> None:
    working, loop = anyio.Event(), current_token()

    def script(take: Take) -> str:
        from_thread.run_sync(working.set, token=loop)
        return endless(piece)(take)

    llama.script = script
    with anyio.fail_after(10):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(clauses_of, responder)
            await working.wait()
            tasks.cancel_scope.cancel()
    llama.script = saying("Next.")
    assert await clauses_of(responder) == ["Next."]


async def test_a_model_whose_reply_nobody_reads_waits(responder: EmbeddedResponder, llama: PlayedLlama) -> None:
    more = threading.Event()

    def script(take: Take) -> str:
        take("Go. ")
        while not take("Go. "):
            more.set()
        return ""

    llama.script = script
    clauses: Any = responder.reply(HELLO)
    with anyio.fail_after(10):
        await anext(clauses)
        assert not await to_thread.run_sync(more.wait, 0.2)  # the second is handed over, and nobody takes it
        await anext(clauses)
        assert await to_thread.run_sync(more.wait, 5)
    await clauses.aclose()


async def test_a_thread_that_does_not_stop_holds_nobody_up_but_the_next_reply(
    responder: EmbeddedResponder, llama: PlayedLlama
) -> None:
    let_go = threading.Event()
    llama.script = stuck(let_go)
    clauses: Any = responder.reply(HELLO)
    assert await anext(clauses) == "Hm."
    with anyio.fail_after(5):
        await clauses.aclose()
    llama.script = saying("Next.")
    after: list[str] = []
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_collect, responder, after)
        await anyio.wait_all_tasks_blocked()
        assert len(llama.requests) == 1  # never two at work
        let_go.set()
    assert after == ["Next."]


async def _collect(responder: EmbeddedResponder, into: list[str]) -> None:
    into += await clauses_of(responder)


async def test_closing_the_responder_stops_frees_and_is_bounded(
    responder: EmbeddedResponder, llama: PlayedLlama
) -> None:
    llama.script = endless("Go. ")
    clauses: Any = responder.reply(HELLO)
    await anext(clauses)
    with anyio.fail_after(5):
        await responder.aclose()
        await responder.aclose()
    assert responder._model._llama is None
    assert all([clause == "Go." async for clause in clauses])
    with pytest.raises(RuntimeError, match="closed"):
        await clauses_of(responder)
    with pytest.raises(RuntimeError, match="closed"):
        await responder.warmup()


async def test_closing_does_not_wait_for_a_stuck_thread(responder: EmbeddedResponder, llama: PlayedLlama) -> None:
    let_go = threading.Event()
    llama.script = stuck(let_go)
    clauses: Any = responder.reply(HELLO)
    await anext(clauses)
    with anyio.fail_after(5):
        await responder.aclose()
    assert responder._model._llama is not None
    let_go.set()
    with anyio.fail_after(5):
        while responder._model._llama is not None:  # freed when the thread has ended
            await anyio.lowlevel.checkpoint()
    await clauses.aclose()


async def test_an_iterator_that_was_never_begun_starts_nothing(
    responder: EmbeddedResponder, llama: PlayedLlama
) -> None:
    clauses: Any = responder.reply(HELLO)
    await clauses.aclose()
    assert llama.requests == []


# -- the context


def counting(llama: PlayedLlama, per_byte: float) -> Callable[[Take], str]:
    """Refuses requests of more tokens than the context, as llama.cpp does."""

    def script(take: Take) -> str:
        tokens = round(per_byte * sum(len(m["content"].encode()) for m in llama.requests[-1]["messages"]))
        if tokens + llama.requests[-1]["max_tokens"] > llama.context:
            raise ContextFull(tokens)
        return saying("Fine.")(take)

    return script


@pytest.mark.parametrize("per_byte", [0.25, 0.5, 1.0])
async def test_a_long_conversation_loses_its_oldest_turns(
    responder: EmbeddedResponder, llama: PlayedLlama, per_byte: float
) -> None:
    llama.script = counting(llama, per_byte)
    messages: list[Message] = []
    for number in range(60):
        messages += [{"role": "user", "content": f"Question {number}?"}]
        assert await clauses_of(responder, messages) == ["Fine."]
        messages += [{"role": "assistant", "content": "Fine."}]
    last = llama.requests[-1]["messages"]
    assert last[0] == {"role": "system", "content": "Be brief."}
    assert last[-1] == {"role": "user", "content": "Question 59?"}
    assert 5 < len(last) < len(messages)
    assert len(llama.requests) < 65  # the guess is corrected once or twice, not in every turn


async def test_a_message_longer_than_the_context_is_answered(responder: EmbeddedResponder, llama: PlayedLlama) -> None:
    llama.script = counting(llama, 1.0)
    assert await clauses_of(responder, [{"role": "user", "content": "word " * 5000 + "Why?"}]) == ["Fine."]
    assert llama.requests[-1]["messages"][-1]["content"].endswith("Why?")


async def test_a_system_prompt_that_does_not_fit_is_told(llama: PlayedLlama, model: Path) -> None:
    llama.script = counting(llama, 0.3)
    responder = EmbeddedResponder(model, system="x" * 5000, max_tokens=10, context=300)
    with pytest.raises(ResponderError, match="system prompt does not fit"):
        await clauses_of(responder)
    await responder.aclose()


# -- errors


@pytest.mark.parametrize("where", ["load", "chat"])
async def test_an_error_in_the_thread_reaches_the_caller(
    responder: EmbeddedResponder, llama: PlayedLlama, where: str
) -> None:
    def fail(take: Take) -> str:
        take("Well. ")
        raise ResponderError("It broke.")

    llama.script = fail
    llama.failing = ModelCorrupt("It is corrupt.") if where == "load" else None
    with pytest.raises((ResponderError, ModelCorrupt), match="It "):
        await clauses_of(responder)
    llama.script, llama.failing = saying("Again."), None
    assert await clauses_of(responder) == ["Again."]


async def test_a_model_that_is_missing_or_none_is_told_at_once(tmp_path: Path) -> None:
    with pytest.raises(ModelMissing, match=r"nothing\.gguf cannot be read \(No such file") as caught:
        EmbeddedResponder(tmp_path / "nothing.gguf")
    assert "models pull" in caught.value.fix
    with pytest.raises(ModelMissing):
        EmbeddedResponder(tmp_path)
    (tmp_path / "zip.gguf").write_bytes(b"PK\x03\x04")
    with pytest.raises(ModelCorrupt, match="is not a GGUF file"):
        EmbeddedResponder(str(tmp_path / "zip.gguf"))


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"threads": 0}, "threads is 0"),
        ({"max_tokens": 0}, "max_tokens is 0"),
        ({"context": 100}, "context is 100"),
        ({"temperature": -1}, "temperature is -1"),
        ({"temperature": float("nan")}, "temperature is nan"),
    ],
)
async def test_bad_settings_are_refused_by_name(model: Path, settings: dict[str, Any], says: str) -> None:
    with pytest.raises(SettingError, match=says) as caught:
        EmbeddedResponder(model, **settings)
    assert caught.value.fix


async def test_a_message_that_is_no_turn_is_refused(responder: EmbeddedResponder) -> None:
    with pytest.raises(ValueError, match="a message needs a role"):
        await clauses_of(responder, [{"role": "tool", "content": "x"}])  # type: ignore[typeddict-item]
