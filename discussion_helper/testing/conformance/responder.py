"""The rules of responders."""

from collections.abc import AsyncIterator, Sequence
from copy import deepcopy
from functools import partial
from typing import Any

from discussion_helper.background import Background
from discussion_helper.iteration import closing
from discussion_helper.parts import Anticipates, Responder
from discussion_helper.testing.conformance.bench import Bench, Make
from discussion_helper.testing.conformance.calls import accepted, result_of
from discussion_helper.testing.conformance.course import (
    CANCEL,
    LATER,
    course_checks,
    left_anywhere,
    left_long,
    works_still,
)
from discussion_helper.testing.conformance.ending import closing_checks, ending_checks
from discussion_helper.testing.conformance.limits import Limits
from discussion_helper.testing.conformance.port import ANSWERS, Port
from discussion_helper.testing.conformance.report import Report
from discussion_helper.testing.conformance.rule import Unchecked, expect
from discussion_helper.testing.conformance.suite import Check
from discussion_helper.testing.conformance.texts import LONG_TEXTS, NOTHING, ODD
from discussion_helper.types import Message

__all__ = ["RESPONDER_RULES", "check_responder"]


async def check_responder(
    make: Make[Responder],
    *,
    says: str | None = None,
    make_dead: Make[Responder] | None = None,
    make_slow: Make[Responder] | None = None,
    limits: Limits | None = None,
    raises: bool = True,
) -> Report:
    """Whether what `make()` gives is a responder as a talk needs it. Several are made, some in other threads.

    `says`: the whole of what it answers to "Hello?", where that is known, as of one whose model is played; it should
    end without a mark. `make_dead` and `make_slow` make one that cannot work, and one that takes a minute. Without
    them those rules are told as unchecked. Raises NotConforming with the report, unless `raises` is False.
    """
    suite = _PORT.suite(*_checks(says))
    return await suite(make, make_dead=make_dead, make_slow=make_slow, limits=limits, raises=raises)


def _user(text: str) -> list[Message]:
    return [{"role": "user", "content": text}]


async def _reply(part: Responder, messages: Sequence[Message]) -> list[Any]:
    async with closing(part.reply(messages), within_s=1.0) as clauses:
        return [clause async for clause in clauses]


async def _ask(part: Responder, messages: Sequence[Message]) -> list[Any]:
    """With messages that are its own: those here are asked again."""
    return await _reply(part, deepcopy(messages))


def _fits(clauses: list[Any], messages: Sequence[Message]) -> None:
    expect(len(clauses) > 0, f"to {messages[-1]['content']!r} it gave no clause")


_PORT = Port(
    name="responder",
    call=_ask,
    given=(_user("Hello?"), _user("What is the largest animal?"), _user("Where do cats live?")),
    fits=_fits,
)


async def _of(bench: Bench[Responder], messages: Sequence[Message]) -> list[Any]:
    clauses: list[Any] = await result_of(partial(_ask, bench.part, messages), within_s=bench.limits.call_s)
    return clauses


async def _answers(bench: Bench[Responder]) -> None:
    for messages in _PORT.given:
        _fits(await _of(bench, messages), messages)


async def _texts(bench: Bench[Responder]) -> None:
    for clause in await _of(bench, _PORT.given[1]):
        expect(isinstance(clause, str), f"it gave {clause!r}")


async def _whole(says: str | None, bench: Bench[Responder]) -> None:
    if says is None:
        raise Unchecked('give says, what the responder answers to "Hello?"')
    said = "".join(await _of(bench, _PORT.given[0]))
    expect("".join(said.split()) == "".join(says.split()), f"of {says!r} it gave {said!r}")


async def _empty(bench: Bench[Responder]) -> None:
    for messages in ([], *map(_user, NOTHING)):
        call = partial(_reply, bench.part, messages)
        await accepted(call, f"asked with {messages!r}", within_s=bench.limits.call_s)


async def _odd(bench: Bench[Responder]) -> None:
    for text in ODD:
        await accepted(partial(_reply, bench.part, _user(text)), repr(text), within_s=bench.limits.call_s)


async def _leaves(bench: Bench[Responder]) -> None:
    cut: Message = {"role": "assistant", "content": "It is", "interrupted": True}
    messages = [*_user("What is it?"), cut, *_user("Go on.")]
    before = deepcopy(messages)
    await result_of(partial(_reply, bench.part, messages), within_s=bench.limits.call_s)
    expect(messages == before, "it changed the messages that it was given")


async def _closes(bench: Bench[Responder]) -> None:
    """After the first clause; what is left of it must not be in the next reply's way."""
    limits = bench.limits

    async def first() -> AsyncIterator[str]:
        clauses = bench.part.reply(deepcopy(_PORT.given[1]))
        async for _ in clauses:
            break
        return clauses

    clauses = await result_of(first, within_s=limits.call_s)
    close = getattr(clauses, "aclose", None)
    if close is not None:
        await result_of(close, within_s=limits.let_go_s)
    await works_still(_PORT)(bench)


async def _long(bench: Bench[Responder]) -> None:
    many: list[Message] = [*_user("Tell me more."), {"role": "assistant", "content": "There is more."}] * 500
    for messages in (*map(_user, LONG_TEXTS), [*many, *_user("And then?")]):
        size = sum(len(message["content"]) for message in messages)
        await left_long(bench, partial(_reply, bench.part, messages), f"in {size} characters")
    await works_still(_PORT)(bench)


async def _anticipates(bench: Bench[Responder]) -> None:
    part = bench.part
    if not isinstance(part, Anticipates):
        raise Unchecked("it has no anticipate, which is optional")
    await left_anywhere(bench, partial(part.anticipate, deepcopy(_PORT.given[1])))
    beside = Background(partial(part.anticipate, deepcopy(_PORT.given[1])), name="anticipating").start()
    try:
        await works_still(_PORT)(bench)
    finally:
        await beside.stop(within_s=bench.limits.let_go_s)


def _checks(says: str | None) -> tuple[Check, ...]:
    rule = _PORT.rule
    return (
        Check(
            rule(
                ANSWERS,
                "reply(messages) gives at least one clause for a user's turn.",
                "Yield clauses of text; raise a ResponderError where there is nothing to say.",
            ),
            _answers,
        ),
        Check(
            rule("clauses-are-text", "Every item is a str.", "Decode bytes, and leave out what is None."),
            _texts,
            (ANSWERS,),
        ),
        Check(
            rule(
                "the-end-is-given",
                "All of the reply is given, its end too where no mark ends it.",
                "Yield what is left in the buffer when the model's stream ends.",
            ),
            partial(_whole, says),
            (ANSWERS, "clauses-are-text"),
        ),
        Check(
            rule(
                "empty-text-is-answered-or-refused",
                "No messages, or an empty one, are answered or refused with a ResponderError.",
                "Raise ResponderError for what the model cannot take.",
            ),
            _empty,
            (ANSWERS,),
        ),
        Check(
            rule(
                "messages-are-left-alone",
                "The messages are not changed; `interrupted` and `unheard` are taken.",
                "Make new messages for the request.",
            ),
            _leaves,
            (ANSWERS,),
        ),
        *course_checks(_PORT),
        Check(
            rule(
                "closing-a-reply-ends-it",
                "Closing the iterator after the first clause ends soon, and the next reply is as before.",
                "Stop the model and release what it holds in a finally block of the generator.",
            ),
            _closes,
            (CANCEL, LATER),
        ),
        Check(
            rule(
                "odd-text-is-answered-or-refused",
                "Signs, emoji, NUL, half a surrogate pair: answered, or refused with a ResponderError.",
                "Wrap the library's errors in ResponderError.",
            ),
            _odd,
            (ANSWERS,),
        ),
        Check(
            rule(
                "long-text-can-be-left",
                "10,000 characters, or 1,001 turns, are answered, refused, or can be cancelled; then it works still.",
                "Leave out the oldest turns that do not fit.",
            ),
            _long,
            (LATER,),
        ),
        Check(
            rule(
                "anticipation-can-be-left",
                "anticipate, where there is one, can be cancelled at any time, and keeps no reply from coming.",
                "Let a reply stop what is being read ahead of it.",
            ),
            _anticipates,
            (LATER, "calls-at-once-keep-apart"),
        ),
        *closing_checks(_PORT),
        *ending_checks(_PORT),
    )


RESPONDER_RULES = tuple(check.rule for check in _checks(None))
"""In the order in which they are looked at."""
