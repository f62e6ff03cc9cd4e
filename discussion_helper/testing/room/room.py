"""The room: a whole talk in virtual time, with the very same audio core as a real one."""

import asyncio
from collections.abc import Callable
from contextlib import AsyncExitStack
from types import TracebackType
from typing import Self, TypeVar, get_args

import anyio

from discussion_helper.audio.echo import EchoPath
from discussion_helper.audio.frames import Frame, Samples
from discussion_helper.audio.inbox import Inbox
from discussion_helper.bounds import check_one_of, check_whole
from discussion_helper.errors import SettingError
from discussion_helper.listening import hearing_with
from discussion_helper.parts import Responder, Thread
from discussion_helper.policy import Policy
from discussion_helper.session import Session
from discussion_helper.stt.base import Recogniser
from discussion_helper.testing.room.detectors import Detectors
from discussion_helper.testing.room.inline import InlineScorer
from discussion_helper.testing.room.limits import check_each, check_lasting, check_rate, check_seconds, check_type
from discussion_helper.testing.room.line import After, Line
from discussion_helper.testing.room.recognisers import MatchingRecogniser
from discussion_helper.testing.room.scene import Scene
from discussion_helper.testing.room.situation import ordinal, situation
from discussion_helper.testing.room.stepped_work import SteppedWork
from discussion_helper.testing.room.tape import MARK_KINDS, Mark, MarkKind, Tape
from discussion_helper.testing.room.troubles import Trouble
from discussion_helper.testing.room.world import LIMIT_S, RoomWorld
from discussion_helper.testing.virtual_clock import VirtualTimeLoop
from discussion_helper.tts.base import Synthesiser
from discussion_helper.tuning import Tuning
from discussion_helper.turn.pauses import PauseModel
from discussion_helper.turn.prosody import Prosody
from discussion_helper.types import Floor
from discussion_helper.voice.assembly import hearing_of, overheard_of, overlap_of, session_on
from discussion_helper.voice.audio_work import AudioWork, Tap
from discussion_helper.voice.echo_path import EchoPath as AnyEchoPath
from discussion_helper.voice.engine import AudioEngine
from discussion_helper.voice.hearing import Hearing
from discussion_helper.voice.notes import Note
from discussion_helper.voice.ports import Sink

__all__ = ["Room"]

T = TypeVar("T")


class Room:
    """Entered on a `VirtualTimeLoop`, it has an open loudspeaker, a microphone, and a talk to hold between them.

    Devices, room and people are simulated, sample by sample, while the event loop has nothing else to do at that time;
    everything from the devices on is what runs in a real talk. `now_s` and all times are room time: seconds since it
    was entered, once. The same scene and the same talk give the same samples and the same events, byte for byte.
    """

    def __init__(
        self,
        scene: Scene | None = None,
        *,
        detectors: Callable[[], Detectors] | None = None,
        echo_path: Callable[[], AnyEchoPath] = EchoPath,
        tuning: Tuning | None = None,
        tap: Tap | None = None,
        note_tap: Callable[[Note], object] | None = None,
        prosody: Prosody | None = None,
        pauses: PauseModel | None = None,
        limit_s: float = LIMIT_S,
    ) -> None:
        """`detectors` makes what hears voices, None = as in a real talk; `echo_path` makes what removes the echo. `tap`
        is shown every item, and `note_tap` every note, of the audio work. `prosody` judges how complete turns sound, in
        60 ms, and `pauses` learns how the speaker pauses; None = nobody does.

        A talk beyond `limit_s` raises RuntimeError, so that no test runs for ever. Raises SettingError.
        """
        if scene is not None:
            check_type("scene", scene, Scene, fix="Use Scene(...).")
        check_lasting("limit_s", limit_s)
        self.scene = scene or Scene()
        self._detectors, self._echo_path, self._tap = detectors, echo_path, tap
        self._tuning, self._note_tap = tuning, note_tap
        self._prosody, self._pauses = prosody, pauses
        self._limit_s = limit_s
        self._exit = AsyncExitStack()
        self._session: Session | None = None
        self._policy, self._language = Policy(), "en"

    async def __aenter__(self) -> Self:
        loop = asyncio.get_running_loop()
        if not isinstance(loop, VirtualTimeLoop):
            raise RuntimeError("A room needs virtual time; use run_in_room, or VirtualTimeLoop as the loop factory.")
        inbox = Inbox(clock=loop.time)
        self._world = RoomWorld(self.scene, loop.time, inbox, limit_s=self._limit_s)
        async with AsyncExitStack() as stack:
            stack.enter_context(loop.beside(self._world))
            self.engine = await stack.enter_async_context(self._engine(inbox))
            self._exit = stack.pop_all()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with anyio.CancelScope(shield=True):
            if self._session is not None:
                await self._session.stop()
            await self._exit.aclose()

    def _engine(self, inbox: Inbox) -> AudioEngine:
        echo = self._echo_path()
        return AudioEngine(
            inbox=inbox,
            open_capture=self._world.open_capture,
            open_playback=self._open_playback,
            hearing=lambda rate: self._hearing(rate, echo),
            driver=self._drive,
            run=self._run,
            follow=self._world.follow,
            tap=self._tap,
            note_tap=self._note_tap,
            scorer=None if self._prosody is None else InlineScorer(self._prosody),
        )

    async def _run(self, fn: Callable[[], T], /) -> T:
        """Run what would block, without being cut short; it takes no time, unless a device hangs."""
        await anyio.lowlevel.checkpoint()
        result, around = fn(), self._world.around
        blocked_s, around.blocked_s = around.blocked_s, 0.0
        if blocked_s > 0.0:
            with anyio.CancelScope(shield=True):
                await anyio.sleep(blocked_s)
        return result

    def _open_playback(self) -> Sink:
        return self._world.open_playback()

    def _drive(self, inbox: Inbox, work: AudioWork) -> SteppedWork:
        self._world.driver = SteppedWork(inbox, work)
        return self._world.driver

    def _hearing(self, rate: int, echo: AnyEchoPath) -> Hearing:
        policy, language, tuning, pauses = self._policy, self._language, self._tuning, self._pauses
        if self._detectors is None:
            return hearing_with(rate, echo, policy=policy, language=language, tuning=tuning, pauses=pauses)
        by = self._detectors()
        overlap = overlap_of(policy, language=language, gate=by.eager, clean_gate=by.clean, tuning=tuning)
        overheard = overheard_of(policy, gate=by.eager, clean_gate=by.clean, tuning=tuning)
        return hearing_of(
            rate,
            gate=by.gate,
            judge=by.judge,
            echo=echo,
            policy=policy,
            overlap=overlap,
            overheard=overheard,
            tuning=tuning,
            language=language,
            pauses=pauses,
        )

    # -- the talk

    def session(
        self,
        *,
        responder: Responder,
        recogniser: Recogniser,
        synthesiser: Synthesiser,
        policy: Policy | None = None,
        language: str = "en",
        thread: Thread | None = None,
    ) -> Session:
        """A session in this room, to be started by you; leaving the room stops it. One at most: else RuntimeError.

        The synthesiser must have the loudspeaker's rate, or be an `InlineSynthesiser`: SettingError.
        """
        if self._session is not None:
            raise RuntimeError("There is one session in a room; make another room.")
        if synthesiser.rate != self.scene.loudspeaker.rate:
            what = f"synthesiser: it makes {synthesiser.rate} Hz, the loudspeaker plays {self.scene.loudspeaker.rate}."
            raise SettingError(what, fix="Give it the loudspeaker's rate, or use an InlineSynthesiser.")
        self._policy, self._language = policy or Policy(), language
        self._session = session_on(
            self.engine,
            recogniser=recogniser,
            responder=responder,
            synthesiser=synthesiser,
            policy=self._policy,
            language=language,
            thread=thread,
        )
        return self._session

    def recogniser(self, *, delay_s: float = 0.2) -> MatchingRecogniser:
        """One that knows the lines said in this room, and finds in what it is given what is really there."""
        return MatchingRecogniser(lambda: self._world.known, delay_s=delay_s)

    # -- what happens in it

    @property
    def now_s(self) -> float:
        """Room time."""
        return self._world.around.now_s

    def say(
        self,
        sound: Samples | Frame,
        *,
        at_s: float | None = None,
        after: After | None = None,
        text: str = "",
        dbfs: float | None = -26.0,
    ) -> None:
        """Let somebody say it: now, at a time, or after something. See `Line`.

        One text may have many sounds, a sound has one text: SettingError for another, and for what `Line` refuses.
        """
        if at_s is not None and after is not None:
            raise SettingError("at_s: it is to be said after something as well.", fix="Give at_s or after, not both.")
        self._world.say(Line(sound, after or (self.now_s if at_s is None else at_s), text, dbfs))

    def trouble(self, trouble: Trouble) -> None:
        """Let something go wrong. Raises SettingError for what is none of the `troubles`."""
        check_each("trouble", [trouble], get_args(Trouble), fix="Use Unplugged(...), Stalled(...) and so on.")
        self._world.around.troubles.append(trouble)

    def move(self, *, rate: int | None = None) -> None:
        """Let other devices be the system's default ones; `rate` of the microphone in hertz, None = the same."""
        if rate is not None:
            check_rate("rate", rate)
        self._world.move(rate)

    async def until(self, condition: Callable[[], bool], *, within_s: float = 60.0) -> float:
        """Wait until `condition()` holds, which is tried after every block; when that was.

        Raises what the session failed with once it has, and TimeoutError after `within_s` seconds, which tells what has
        happened so far.
        """
        return await self._until(condition, "The condition did not hold", within_s)

    async def reached(self, kind: MarkKind, number: int = 1, *, within_s: float = 60.0) -> Mark:
        """Wait for a mark. Raises as `until`, and RuntimeError for a reply that cannot come: the session has ended."""
        check_one_of("kind", kind, MARK_KINDS)
        check_whole("number", number, 1, 10**9)
        what = f'There was no {ordinal(number)} "{kind}"'

        def is_decided() -> bool:
            return self._world.is_passed(kind, number) or self._is_impossible(kind, number)

        await self._until(is_decided, what, within_s)
        if not self._world.is_passed(kind, number):
            raise RuntimeError(f"{what}, and none will come: {situation(self._session, self._world.marks)}.")
        return self._world.mark_of(kind, number)

    async def quiet(self, for_s: float = 1.0, *, within_s: float = 60.0) -> float:
        """Wait until nobody has said anything for so long; when the loudspeaker fell silent. Raises as `until`.

        Lines that are still to come at their time, and an answer that is on its way, are waited for; lines that wait
        for a mark are not. `for_s` must be longer than the end of a turn and its recognition take, or a reply may
        follow. Where nothing was said or is to be, as right after the start, that is after `for_s` seconds.
        """
        check_seconds("for_s", for_s)

        def is_quiet() -> bool:
            answers = self._session is not None and self._session.floor in (Floor.THINKING, Floor.SPEAKING)
            return not answers and min(self._world.silent_s, self._world.unsaid_s) >= for_s

        await self._until(is_quiet, f"It was not quiet for {for_s:g} s", within_s)
        return self.now_s - self._world.silent_s

    async def _until(self, condition: Callable[[], bool], what: str, within_s: float) -> float:
        check_lasting("within_s", within_s)
        holds = False

        def is_over() -> bool:
            nonlocal holds
            holds = holds or condition()
            return holds or self._has_failed

        with anyio.move_on_after(within_s), self._world.watching(is_over) as over:
            await over.wait()
        if holds:
            return self.now_s
        if self._session is not None and self._has_failed:
            await self._session.wait()  # raises it
        raise TimeoutError(f"{what} within {within_s:g} s: {situation(self._session, self._world.marks)}.")

    def _is_impossible(self, kind: str, number: int) -> bool:
        """Of a reply, when the session has ended without failing."""
        over = self._session is not None and self._session.ended and not self._has_failed
        return over and kind in ("reply", "halt") and not self._world.has(kind, number)

    @property
    def _has_failed(self) -> bool:
        return self._session is not None and self._session.ended and self._session.discussion.reason == "failed"

    @property
    def recording(self) -> Tape:
        """What was at both devices up to now."""
        return self._world.tape()
