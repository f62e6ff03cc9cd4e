"""A session at a client's devices without models: whatever is louder than -45 dBFS is a voice."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import anyio

from discussion_helper.parts import Responder, Thread
from discussion_helper.policy import Policy
from discussion_helper.stt.base import Recogniser
from discussion_helper.testing.fakes import EchoResponder
from discussion_helper.testing.room.detectors import NoEchoPath, cheap_detectors
from discussion_helper.testing.room.recognisers import ScriptedRecogniser
from discussion_helper.testing.room.synthesisers import CutSynthesiser
from discussion_helper.tts.base import Synthesiser
from discussion_helper.voice.assembly import hearing_of, overlap_of, session_on
from discussion_helper.voice.devices import remote_devices
from discussion_helper.voice.engine import AudioEngine
from discussion_helper.voice.hearing import Hearing
from discussion_helper.voice.remote_link import RemoteLink
from discussion_helper.voice.remote_talk import RemoteTalk, remote_talk

__all__ = ["fake_remote_talk"]


@asynccontextmanager
async def fake_remote_talk(
    heard: Sequence[str] = (),
    *,
    policy: Policy | None = None,
    responder: Responder | None = None,
    recogniser: Recogniser | None = None,
    synthesiser: Synthesiser | None = None,
    thread: Thread | None = None,
) -> AsyncIterator[RemoteTalk]:
    """A session that is ready to start; leaving stops it.

    `heard`: what is understood of one turn after the other. Answers with what was said, in a sound like speech. The
    others take the place of these parts.
    """
    rules, link = policy or Policy(), RemoteLink()
    devices = remote_devices(link)
    async with AudioEngine(
        inbox=devices.inbox,
        open_capture=devices.open_capture,
        open_playback=devices.open_playback,
        driver=devices.drive,
        hearing=lambda rate: _hearing(rate, rules, devices.muted_s),
    ) as engine:
        session = session_on(
            engine,
            recogniser=recogniser or ScriptedRecogniser(heard),
            responder=responder or EchoResponder(),
            synthesiser=synthesiser or CutSynthesiser(),
            policy=rules,
            language="en",
            thread=thread,
            is_read=devices.is_read,
            muted_fix=devices.muted_fix,
        )
        try:
            async with remote_talk(session, link) as talk:
                yield talk
        finally:
            with anyio.CancelScope(shield=True):
                await session.stop()


def _hearing(rate: int, policy: Policy, muted_s: float) -> Hearing:
    ears = cheap_detectors()
    overlap = overlap_of(policy, language="en", gate=ears.eager, clean_gate=ears.clean)
    return hearing_of(
        rate,
        gate=ears.gate,
        judge=ears.judge,
        echo=NoEchoPath(),
        policy=policy,
        overlap=overlap,
        muted_s=muted_s,
    )
