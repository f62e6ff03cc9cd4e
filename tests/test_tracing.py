"""Spans of turns and their stages, as an SDK of OpenTelemetry gets them."""

import sys
from collections.abc import Iterator
from typing import Any

import pytest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from discussion_helper.registry import Sessions
from discussion_helper.session import Session
from discussion_helper.taps import Taps
from discussion_helper.testing import EchoResponder, ScriptedListener, SilentVoice
from discussion_helper.text import Manager, MemoryThreads, ProcessError, Step, TextDelta, UserMessageEvent
from discussion_helper.text.providers.scripted import ScriptedProvider
from discussion_helper.tracing import spans_of, tracer_here
from discussion_helper.types import SpokenUtterance

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend(virtual_backend: tuple[str, dict[str, Any]]) -> tuple[str, dict[str, Any]]:
    return virtual_backend


@pytest.fixture
def exported() -> InMemorySpanExporter:
    return InMemorySpanExporter()


@pytest.fixture
def sessions(exported: InMemorySpanExporter) -> Iterator[Sessions[Any]]:
    """Each one that is added is traced."""
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exported))
    sessions: Sessions[Any] = Sessions()
    taps = Taps(sessions, spans_of(provider.get_tracer("test")))
    yield sessions
    taps.close()


def seconds(span: ReadableSpan) -> float:
    assert span.start_time is not None
    assert span.end_time is not None
    return round((span.end_time - span.start_time) / 1e9, 3)


def by_name(exported: InMemorySpanExporter) -> dict[str, ReadableSpan]:
    return {span.name: span for span in exported.get_finished_spans()}


async def test_a_turn_by_voice_is_a_trace_with_its_stages(
    sessions: Sessions[Any], exported: InMemorySpanExporter
) -> None:
    heard = SpokenUtterance("user", "One.", 0.0, 1.0, endpoint_s=0.4, recognise_s=0.2)
    session = Session(ScriptedListener([heard]), EchoResponder(delay_s=0.3), SilentVoice(2.0, first_audio_s=0.1))
    await sessions.add(session).start().wait()
    spans = by_name(exported)
    turn = spans["turn"]
    stages = [spans[name] for name in ("endpoint", "recognise", "think", "speak")]

    assert 5 == len(exported.get_finished_spans())
    assert [0.4, 0.2, 0.3, 0.1] == [seconds(span) for span in stages]
    assert {turn.context.span_id} == {span.parent.span_id for span in stages if span.parent}
    assert turn.parent is None
    assert [turn.start_time, *(span.end_time for span in stages[:-1])] == [span.start_time for span in stages]
    assert seconds(turn) >= 0.9 + 2.0
    assert turn.attributes is not None
    assert (session.id, "voice") == (turn.attributes["session.id"], turn.attributes["session.kind"])
    assert "endpoint" == turn.attributes["discussion_helper.slowest_stage"]
    assert not any("One" in str(value) for span in (turn, *stages) for value in (span.attributes or {}).values())


async def test_a_turn_that_was_cut_says_by_what(sessions: Sessions[Any], exported: InMemorySpanExporter) -> None:
    listener = ScriptedListener(["One.", "Two."], interrupt_after_s=0.5)
    await sessions.add(Session(listener, EchoResponder(), SilentVoice(2.0))).start().wait()
    turns = [span for span in exported.get_finished_spans() if span.name == "turn"]

    assert 2 == len(turns)
    cut = [span.attributes["discussion_helper.interrupted"] for span in turns if span.attributes]
    assert True in cut
    first = turns[cut.index(True)].attributes
    assert first is not None
    assert "onset" == first["discussion_helper.interrupted_by"]


async def test_a_message_in_writing_is_a_trace_too(sessions: Sessions[Any], exported: InMemorySpanExporter) -> None:
    provider = ScriptedProvider([0.5, TextDelta("Yes"), 1.0, TextDelta(".")], [0.25, ValueError("broke")])
    async with Manager(MemoryThreads(), provider, lambda _: Step(), sessions=sessions) as manager:
        stream = await manager.create()
        await stream.process(UserMessageEvent("Is it?"))
        answered = by_name(exported)
        exported.clear()
        with pytest.raises(ProcessError):
            await stream.process(UserMessageEvent("And now?"))
        failed = by_name(exported)

    assert [1.5, 0.5, 1.0] == [seconds(answered[name]) for name in ("turn", "think", "answer")]
    assert {"turn", "think"} == failed.keys()
    assert "ValueError" == failed["turn"].status.description
    assert not failed["turn"].status.is_ok


async def test_without_the_api_there_is_no_tracer(monkeypatch: pytest.MonkeyPatch) -> None:
    assert tracer_here() is not None
    monkeypatch.setitem(sys.modules, "opentelemetry", None)
    assert tracer_here() is None
