"""The audio engine: two devices, and the thread between them."""

import logging
from collections.abc import Awaitable, Callable
from functools import partial
from types import TracebackType
from typing import Literal, Self, TypeVar

import anyio

from discussion_helper.audio.inbox import Call, DeviceLost, Inbox
from discussion_helper.audio.player import Player
from discussion_helper.background import LET_GO_S, Background
from discussion_helper.errors import DeviceError
from discussion_helper.voice.audio_thread import AudioThread
from discussion_helper.voice.audio_work import AudioWork, Cut, HalfDuplex, Listening, Reopened, TalkKey, Tap
from discussion_helper.voice.deciding import Words
from discussion_helper.voice.health import Health, Lag
from discussion_helper.voice.hearing import Hearing
from discussion_helper.voice.marks import Marks
from discussion_helper.voice.moving import Together
from discussion_helper.voice.notes import Note
from discussion_helper.voice.pauses import Pauses
from discussion_helper.voice.ports import Device, Driver, Ears, Runner, Sink, Source
from discussion_helper.voice.reopening import Reopening, opened_again
from discussion_helper.voice.scoring import Scorer
from discussion_helper.voice.wished import Wished

__all__ = ["FADED_S", "HANGS_S", "AudioEngine"]

FADED_S = 0.07
"""After so long a reply that was halted has faded out in the room: a block under way, the fade of 10 ms, the next block
and a device's latency of 20 to 40 ms. A device that is closed before it clicks."""
HANGS_S = 0.25
"""A device that takes longer to close is told of by its name. The part that owns it has 0.4 s, and is all that is told
of in the end."""

_log = logging.getLogger(__name__)
D = TypeVar("D", bound=Device)
T = TypeVar("T")
_Asks = Callable[[], bool]
_Which = Literal["capture", "playback"]
_NAMES: dict[_Which, str] = {"capture": "microphone", "playback": "loudspeaker"}
_MOVED = "the default device is another one now, or the device came back or changed its rate"
_FOLLOWING, _MOVING = "following", "moving"


class AudioEngine:
    """Entered, it has an open loudspeaker, an audio thread, and a microphone to open. Left, nothing of them is there.

    A device that goes away is opened again as soon as it is back. Without the microphone nothing is heard until then;
    without the loudspeaker the reply waits, and goes on from where it was. After 30 s the talk is over. In the next
    pause both devices are opened anew, wherever they are then, when `follow` says so. They are also closed one by one,
    by the parts that own them.
    """

    def __init__(
        self,
        *,
        inbox: Inbox,
        open_capture: Callable[[], Source],
        open_playback: Callable[[], Sink],
        hearing: Callable[[int], Hearing],
        driver: Callable[[Inbox, AudioWork], Driver] = AudioThread,
        run: Runner = anyio.to_thread.run_sync,
        follow: Callable[[Callable[[], object]], Awaitable[None]] | None = None,
        tap: Tap | None = None,
        note_tap: Callable[[Note], object] | None = None,
        scorer: Scorer | None = None,
    ) -> None:
        """`inbox`: what the devices feed. `hearing` makes what listens, from the microphone's rate.

        The openers block; they raise DeviceError. That of the loudspeaker gives the same `playback` each time.
        `driver` makes what drives the audio work, `run` runs what blocks. `follow` calls what it is given, on the event
        loop and until cancelled, when a device should be opened anew. `tap` is shown every item on its way, `note_tap`
        every note. `scorer` judges how complete turns sound; None = nobody does.
        """
        self._open_capture = open_capture
        self._open_playback = open_playback
        self._make_hearing = hearing
        self._inbox = inbox
        self._wished = Wished(run)
        self._capture: Source | None = None
        self._sink: Sink | None = None
        self._ears: Ears | None = None
        self._on_lost: Callable[[Exception], None] = _log.error
        self._run = run
        self._follow = follow
        self._is_moved = False
        self._scorer = scorer
        self._work = AudioWork(
            noted=self._noted,
            lost=self._lost,
            failed=partial(self._give_up, "playback"),
            tap=tap,
            note_tap=note_tap,
            ask=None if scorer is None else scorer.ask,
        )
        self._driver = driver(inbox, self._work)
        self._reopening = Reopening()
        self._losses = self._overflows = self._underflows = self._told = 0

    async def __aenter__(self) -> Self:
        self._sink = await self._run(self._open_playback)
        self._playback = self._sink.playback
        self.marks = Marks(self._playback)
        self._pauses = Pauses(self._playback, self.marks)
        if self._scorer is not None:
            self._scorer.start(partial(self._order, self._work.scored))
        self._driver.start(self.marks)
        self._reopening.start()
        if (follow := self._follow) is not None:
            self._reopening.begin(_FOLLOWING, lambda _: follow(self._move_soon))
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with anyio.CancelScope(shield=True):
            await self._reopening.stop(_FOLLOWING)
            await self._reopening.stop(_MOVING)
            await self.close_microphone()
            await self.close_loudspeaker()
            await self._run(self._driver.close)  # also where the loudspeaker hangs
            if self._scorer is not None:
                await self._run(self._scorer.close)
            await self._reopening.close()

    @property
    def playback(self) -> Player:
        """Where the voice writes."""
        return self._playback

    def on_loudspeaker_lost(self, tell: Callable[[Exception], None]) -> None:
        """Who is told, on the event loop, when the loudspeaker is gone for good."""
        self._on_lost = tell

    def lag(self) -> Lag:
        """How late it was since this was asked last; for one who asks, the governor."""
        underflows = self._underflows + (self._sink.underflows if self._sink else 0)
        before, self._told = self._told, underflows
        return Lag(self._driver.lateness.take_s(), self._driver.loop.take_s(), underflows - before)

    def health(self) -> Health:
        """How the audio was doing so far."""
        lateness = self._driver.lateness
        return Health(
            blocks=lateness.blocks,
            late_p99_s=lateness.percentile_s(99.0),
            late_worst_s=lateness.worst_s,
            woken_p99_s=self._driver.woken.percentile_s(99.0),
            dropped=self._inbox.dropped,
            overflows=self._overflows + (self._capture.overflows if self._capture else 0),
            underflows=self._underflows + (self._sink.underflows if self._sink else 0),
            queued_most=self._inbox.most,
            losses=self._losses,
            judges_prosody=self._scorer is not None,
        )

    # -- the devices

    async def open_microphone(self, ears: Ears) -> str:
        """Open it and tell `ears` of what is heard; its name, "" where it was closed meanwhile. Raises DeviceError."""
        self._ears = ears
        capture = await self._wished.opened(self._open_capture)
        return "" if capture is None else self._listen_to(capture)

    def words(self, words: Words) -> None:
        """What a recogniser made of the turn that is open, for deciding about an interruption."""
        self._order(self._work.words, words)

    def go_half_duplex(self) -> None:
        """From now on only a loud voice is heard over the agent; until the microphone is opened anew."""
        self._inbox.put(Call(self._work.go_half_duplex, HalfDuplex()))

    def key(self, *, down: bool, at_s: float) -> None:
        """The key of push to talk went down, or came up, at `at_s` on the clock of the event loop."""
        self._order(self._work.key, TalkKey(down, at_s))

    def cut(self, generation: int) -> None:
        """The reply was stopped: what is heard over it interrupts nothing any more."""
        self._order(self._work.cut, Cut(generation))

    def reopened(self) -> None:
        """The newest turn goes on with the one before it, though the agent had begun to answer: a pause to learn."""
        self._inbox.put(Call(self._work.reopened, Reopened()))

    def _order(self, fn: Callable[[T], object], about: T) -> None:  # also from the scorer's thread
        self._inbox.put(Call(partial(fn, about), about))

    @property
    def speaking(self) -> bool:
        """Something of a reply is still to be played, or is heard fading."""
        return not self._playback.idle

    async def close_microphone(self) -> None:
        """Close it; a turn that is open ends. Idempotent."""
        self._wished.take_back()
        await self._reopening.stop("capture")
        capture, self._capture = self._capture, None
        if capture is not None:
            self._overflows += capture.overflows
            await self._release("capture", capture)
            self._listen(None, Listening())

    async def close_loudspeaker(self) -> None:
        """Close it, and end the audio thread. Idempotent."""
        await self._reopening.stop("playback")
        sink, self._sink = self._sink, None
        if sink is not None:
            if not self._playback.idle and self._playback.is_cut:
                await anyio.sleep(FADED_S)
            self._underflows += sink.underflows
            await self._release("playback", sink)
            await self._run(self._driver.close)

    async def _release(self, which: _Which, device: Device) -> None:
        """Close it. It is told of if it hangs."""
        late = Background(partial(self._tell_of_hanging, which, device.name), name="a device that hangs").start()
        try:
            await self._run(device.close)
        finally:
            await late.stop(within_s=LET_GO_S)

    async def _tell_of_hanging(self, which: _Which, name: str) -> None:
        await anyio.sleep(HANGS_S)
        self._tell(which, "hanging", reason=f'"{name}" does not let itself be closed', fix="Wait, or connect it anew.")

    def _listen_to(self, capture: Source) -> str:
        self._capture = capture
        self._listen(self._make_hearing(capture.rate), Listening(capture.name, capture.rate))
        return capture.name

    def _listen(self, hearing: Hearing | None, about: Listening) -> None:
        self._inbox.put(Call(lambda: self._work.change(hearing, about.microphone), about))

    # -- told by the audio thread, on the event loop

    def _noted(self, note: Note) -> None:
        self._pauses.noted(note)
        if self._ears is not None:
            self._ears.noted(note)

    def _lost(self, item: DeviceLost) -> None:
        recover = self._recovery_of(item.which)
        if recover is None or self._reopening.works_on(item.which):
            return
        self._losses += 1
        error = DeviceError(f"{item.reason.rstrip('.')}.", fix=item.fix)
        if not item.returns:
            self._give_up(item.which, error)
            return
        self._tell(item.which, "lost", reason=error.what, fix=error.fix)
        self._reopening.begin(item.which, partial(recover, error))

    def _recovery_of(self, which: _Which) -> Callable[..., Awaitable[None]] | None:
        """What opens that device again; None if it was closed meanwhile."""
        if which == "capture":
            return None if self._capture is None else partial(self._recover_microphone, self._capture)
        return None if self._sink is None else partial(self._recover_loudspeaker, self._sink)

    def _give_up(self, which: _Which, error: Exception) -> None:
        if which == "playback":
            self._on_lost(error)
        if self._ears is not None:  # the listener is waited for at any time, so that it can end the talk
            self._ears.lost(error)

    def _tell(self, which: _Which, state: str, **more: str) -> None:
        if self._ears is not None:
            self._ears.device(_NAMES[which], state, **more)

    # -- moving to other devices

    def _move_soon(self) -> None:
        self._is_moved = True
        if not self._reopening.works_on(_MOVING):
            self._reopening.begin(_MOVING, self._move)

    async def _move(self, is_wanted: _Asks) -> None:
        while self._is_moved and is_wanted():
            await self._pauses.wait(speaks=not self._reopening.works_on("playback"))
            self._is_moved = False
            await self._open_anew()

    async def _open_anew(self) -> None:
        """Close what is open, then open it again. What is lost is opened by those who are at it already."""
        error = DeviceError(f"{_MOVED.capitalize()}, and cannot be opened.", fix="Choose one with --device.")
        whiches: tuple[_Which, ...] = ("playback", "capture")
        found = {which: self._recovery_of(which) for which in whiches if not self._reopening.works_on(which)}
        moves = {which: recover for which, recover in found.items() if recover is not None}
        together = Together(len(moves))
        for which, recover in moves.items():
            self._reopening.begin(which, partial(recover, error, together=together))
        for which in moves:
            await self._reopening.wait(which)

    # -- opening a lost device again

    async def _recover_microphone(
        self, lost: Source, error: DeviceError, is_wanted: _Asks, *, together: Together | None = None
    ) -> None:
        self._listen(None, Listening())
        found = await self._again("capture", lost, self._open_capture, error, is_wanted, together)
        if found is not None:
            self._overflows += lost.overflows
            self._listen_to(found)

    async def _recover_loudspeaker(
        self, lost: Sink, error: DeviceError, is_wanted: _Asks, *, together: Together | None = None
    ) -> None:
        found = await self._again("playback", lost, self._open_playback, error, is_wanted, together)
        if found is not None:
            self._underflows += lost.underflows
            self._sink = found

    async def _opened_elsewhere(self, which: _Which, opener: Callable[[], D], together: Together) -> D | None:
        """It once all are closed; None if it refuses, which is told."""
        await together.closed()
        try:
            return await self._run(opener)
        except DeviceError as error:
            self._tell(which, "lost", reason=error.what, fix=error.fix)
            return None

    async def _again(
        self,
        which: _Which,
        lost: D,
        opener: Callable[[], D],
        error: DeviceError,
        is_wanted: _Asks,
        together: Together | None,
    ) -> D | None:
        try:
            await self._release(which, lost)
            found = None if together is None else await self._opened_elsewhere(which, opener, together)
            if found is None:
                found = await opened_again(opener, run=self._run)
        except Exception as failure:
            self._give_up(which, failure)
            return None
        if found is None:
            self._give_up(which, error)
        elif not is_wanted():  # it was closed meanwhile
            with anyio.CancelScope(shield=True):
                await self._run(found.close)
            return None
        else:
            self._tell(which, "open", name=found.name, **({"reason": _MOVED} if together is not None else {}))
        return found
