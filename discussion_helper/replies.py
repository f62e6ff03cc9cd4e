"""Where a discussion's replies come from: the model, what was not heard of the last one, or given words."""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from typing import Any

import anyio

from discussion_helper.anticipation import Anticipation
from discussion_helper.background import LET_GO_S
from discussion_helper.generation import CLOSE_REPLY_S, Generation
from discussion_helper.going_on import asks_to_go_on, rest_of, with_rest_said
from discussion_helper.iteration import closing, each
from discussion_helper.parts import CutsText, LooksAhead, Remembers, Responder, Thread, Voice
from discussion_helper.record import Record
from discussion_helper.reply import Reply
from discussion_helper.speculation import Speculation, Tally
from discussion_helper.storing import store
from discussion_helper.types import Floor, Message, without_revised

__all__ = ["Replies"]


class Replies:
    """Makes them, and has the one that was cut and may go on."""

    def __init__(
        self,
        responder: Responder,
        voice: Voice,
        record: Record,
        thread: Thread | None,
        *,
        max_sentences: int,
        generate: Callable[[Generation], object],
        tally: Tally,
    ) -> None:
        """`max_sentences`: of one that the model gives; 0 = no cap. `generate` starts the task of a generation.

        `tally` says whether replies are begun ahead of time, and counts them.
        """
        self._responder = responder
        self._voice = voice
        self._record = record
        self._thread = thread
        self._max_sentences = max_sentences
        self._generate = generate
        self._anticipation = Anticipation(responder)
        self._speculation = Speculation(responder, voice, tally, generate=generate)
        self._cut: Reply | None = None
        self._asked: Generation | None = None  # of the newest reply, if it is the model's
        self._with_words = False
        self.reopened = ""
        """The text of a turn that the user goes on with; what was read of it then begins with that."""
        record.on_partial = self._anticipate
        record.on_decision = self._decided

    @property
    def may_go_on(self) -> bool:
        """One was cut, and nothing has taken its place yet."""
        return self._cut is not None

    async def answer(self, text: str) -> Reply:
        """To a turn that is on record."""
        rest = self._rest_asked_for(text)
        return await (self._go_on(rest) if rest else self._ask())

    async def of(self, text: str) -> Reply:
        """One that says this."""
        await self._speculation.stop()
        return self._begin(each(self._cut_up(text)))

    async def resumed(self) -> Reply | None:
        """What a false alarm cut, with the words that were not heard; None when nothing is left of it."""
        await self._speculation.stop()
        reply, self._cut = self._cut, None
        if reply is None or not (reply.generation.has_more or reply.generation.broken_off):
            return None
        self._record.tell("decision", {"what": "resumed", "why": "no words followed the sound that cut the reply"})
        return self._and_more(reply.generation.ahead) if reply.generation.broken_off else reply

    def hold(self, reply: Reply) -> None:
        """It is not to be spoken yet, for the user seems to go on; if that is nothing, `answer` gives it again."""
        self._speculation.hold(self._messages(), reply.generation, ahead=reply.ahead)

    async def keep_uses(self, text: str) -> None:
        """Tools that were called for a reply which is not to be said: they are cancelled, and on record from now on.

        Not if who says this wants what is left of the reply that was cut.
        """
        if self._record.uses_tools and not self._rest_asked_for(text):
            await self._drop()
            if (uses := self._record.add_uses()) is not None:
                await store(self._thread, uses)

    async def stop_tools(self, text: str) -> bool:
        """Those that still run for a turn which the user goes on with, at once; whether any did."""
        runs = bool(self.reopened) and self._record.runs_tools
        if runs:
            await self.keep_uses(text)
        return runs

    async def _drop(self) -> None:
        """Nothing more is to come of what was begun for earlier turns."""
        cut = self._cut
        self.keep(None)
        await self._speculation.stop()
        if cut is not None:
            with anyio.move_on_after(CLOSE_REPLY_S + LET_GO_S):
                await cut.generation.closed.wait()

    def keep(self, reply: Reply | None) -> None:
        """The cut reply that may go on is this one, and no other.

        Where words cut it, which are no false alarm, nothing more of it is asked of the model.
        """
        if self._cut is not None:
            self._cut.generation.abandon()
        self._cut = reply
        if reply is not None and reply.generation is self._asked and self._with_words:
            reply.generation.abandon()
        self._with_words = False

    def _decided(self, decision: Mapping[str, Any]) -> None:
        """An interruption that was decided by its words has a text."""
        self._with_words = decision.get("what") == "interruption" and bool(decision.get("text"))

    async def stop(self) -> None:
        """Nothing more is asked of the responder."""
        await self._anticipation.stop()
        await self._speculation.close()

    async def _ask(self) -> Reply:
        """The model, about all that was said."""
        self.keep(None)
        messages = self._messages()
        begun = await self._speculation.take(messages)
        await self._anticipation.settle(messages)
        if begun is not None:
            self._asked = begun
            return self._reply(begun, ahead=True)
        return self._begin(self._responder.reply(messages), max_sentences=self._max_sentences, asks=True)

    async def _go_on(self, rest: str) -> Reply:
        """With what was not heard of the last reply, and all that may still come of it."""
        await self._anticipation.stop()
        await self._speculation.stop()
        self._record.tell("decision", {"what": "resumed", "why": "the user asked to go on"})
        reply, self._cut = self._cut, None
        ahead = reply.generation.ahead if reply is not None else []
        if self._asked is not None and self._asked.broken_off:
            return self._and_more(ahead or self._cut_up(rest))
        return reply if reply is not None and ahead else await self.of(rest)

    def _and_more(self, pieces: Sequence[str]) -> Reply:
        """These, which are all that came of the last reply, and then what the model has to say further."""
        left = len(pieces) + self._max_sentences - self._asked.count if self._asked and self._max_sentences else 0
        messages = with_rest_said(self._messages())
        sentences = _then(pieces, lambda: self._responder.reply(messages))
        return self._begin(sentences, max_sentences=left, asks=True)

    def _rest_asked_for(self, text: str) -> str:
        """What was not heard of the last reply, if it was cut and the user says to go on with it; else ""."""
        rest = rest_of(self._messages())
        return rest if rest and asks_to_go_on(text) else ""

    def _anticipate(self, partial: Mapping[str, Any]) -> None:
        """The user has said this, and may be about to say more.

        What was read in a `pause` is answered ahead of time. Of what goes on the beginning is mostly right, and need
        not be read again.
        """
        text = str(partial.get("pause", partial.get("text", "")))
        if self._record.conversation.floor is not Floor.LISTENING or not text.strip() or self._rest_asked_for(text):
            return
        before = without_revised(self._messages(), self.reopened) if self.reopened else self._messages()
        messages: list[Message] = [*before, {"role": "user", "content": text}]
        if "pause" not in partial or not self._speculation.begin(messages, max_sentences=self._max_sentences):
            self._anticipation.begin(messages)

    def _messages(self) -> list[Message]:
        if isinstance(self._thread, Remembers):
            return self._thread.messages()
        return self._record.conversation.as_messages()

    def _cut_up(self, text: str) -> list[str]:
        return self._voice.clauses(text) if isinstance(self._voice, CutsText) else [text]

    def _begin(self, sentences: AsyncIterator[str], *, max_sentences: int = 0, asks: bool = False) -> Reply:
        holds = asks and isinstance(self._voice, LooksAhead)
        generation = Generation(sentences, max_sentences=max_sentences, holds=holds)
        self._asked = generation if asks else None
        self._generate(generation)
        return self._reply(generation)

    def _reply(self, generation: Generation, *, ahead: bool = False) -> Reply:
        return Reply(generation, self._voice, begins=self._tell_sentence, ahead=ahead)

    def _tell_sentence(self, sentence: str) -> None:
        self._record.tell("partial", {"speaker": "agent", "text": sentence})


async def _then(pieces: Sequence[str], ask: Callable[[], AsyncIterator[str]]) -> AsyncIterator[str]:
    """These, then those that are asked for when these were taken."""
    for piece in pieces:
        yield piece
    async with closing(ask(), within_s=CLOSE_REPLY_S) as sentences:
        async for sentence in sentences:
            yield sentence
