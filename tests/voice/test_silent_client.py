"""A client's microphone that gives nothing but zeros: one that is muted, and a browser between two sentences."""

import anyio
import numpy as np
import pytest

from discussion_helper.audio.frames import Frame, Samples
from discussion_helper.audio.inbox import Captured
from discussion_helper.testing.remote import fake_remote_talk
from discussion_helper.voice.remote_client import RemoteClient

pytestmark = pytest.mark.anyio

RATE = 16_000
BLOCK_S = 0.1


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"  # the audio thread is a real one


async def deliver(client: RemoteClient, start: int, samples: Samples) -> int:
    """Block by block, as soon as they are taken."""
    assert client.source is not None
    size = round(BLOCK_S * RATE)
    for at in range(0, len(samples), size):
        block = Frame(samples[at : at + size], RATE, start + at)
        client.source.take(Captured(block, (start + at) / RATE))
        await anyio.lowlevel.checkpoint()
    return start + len(samples)


async def test_a_pause_is_no_fault_and_a_muted_headset_is_told_without_the_server_s_tools() -> None:
    told: list[tuple[str, str]] = []
    room, loud = np.full(RATE, 1e-4), np.resize([0.5, -0.5], RATE)
    samples = np.concatenate((room, np.zeros(9 * RATE), room, np.zeros(11 * RATE), room, loud, room, room))
    with anyio.fail_after(20):
        async with fake_remote_talk(["hello"]) as talk, talk.session.events("device", "utterance") as events:
            client = RemoteClient("page", RATE, anyio.current_time(), send=lambda _: None, taken=lambda: None)
            talk.session.start()
            await talk.attach(client, take=False)
            async for event in events:
                if event.kind == "utterance":
                    break
                told.append((event.data["state"], event.data.get("fix", "")))
                if event.data["state"] == "open" and [state for state, _ in told].count("open") == 1:
                    await deliver(client, 0, samples.astype(np.float32))

    [fix] = [fix for state, fix in told if state == "silent"]
    assert "mute switch of the headset" in fix
    assert "pactl" not in fix
