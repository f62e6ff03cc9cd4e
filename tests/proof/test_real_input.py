"""The main job on real input: recorded people speak into a microphone, and what leaves the loudspeaker is heard."""

import json
import os
import re
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

import anyio
import numpy as np
import pytest

from discussion_helper.audio.clips import load_clips
from discussion_helper.audio.resample import resample
from discussion_helper.bench.barge_in_run import barge_in_row, reply_span
from discussion_helper.bench.clips import Saying, barge_ins, load_all, turns
from discussion_helper.bench.echo_run import AFTER_S, DELAY_S, GAIN_DB, echo_row
from discussion_helper.bench.over_reply import said_over
from discussion_helper.bench.room import Room
from discussion_helper.bench.take import Reply, Take
from discussion_helper.bench.talk_handle import TalkHandle
from discussion_helper.bench.texts import TEXTS
from discussion_helper.models import Store, load_manifest
from discussion_helper.stt.whisper import WhisperRecogniser

jiwer: Any = pytest.importorskip("jiwer", reason="comes with the bench extra, which make test installs")

pytestmark = [pytest.mark.devices, pytest.mark.models, pytest.mark.timeout(240)]

WORD = re.compile(r"""["'(]*([A-Za-z]([A-Za-z'’-]{0,14})|[0-9]{1,3})[.,;:!?"')]*""")


def answered(room: Room, talk: TalkHandle, saying: Saying) -> Take:
    """What was to be heard while somebody spoke to the agent and it answered to the end."""
    mark = talk.mark
    with room.taking(talk, saying.name) as trial:
        trial.say(saying)
        talk.expect(lambda told: told.means("utterance", speaker="agent"), since=mark, timeout=60.0)
        talk.calm(quiet_s=1.5, reply_s=60.0, timeout=90.0)
    return trial.take


@pytest.fixture
def listener() -> WhisperRecogniser:
    """The larger model, whose own mistakes are fewer."""
    return WhisperRecogniser(Store().path_of(load_manifest().model("base")), language="en")


def transcribed(take: Take, reply: Reply, recogniser: WhisperRecogniser) -> str:
    """What a recogniser hears at the loudspeaker."""
    span = reply_span(take, reply)
    sound = resample(take.loudspeaker[span.start : span.end], take.rate, 16_000)
    padded = np.concatenate((np.zeros(4_800, np.float32), sound, np.zeros(4_800, np.float32)))
    return anyio.run(recogniser.recognise, padded).text


def plain(text: str) -> str:
    """Lower-case words alone."""
    return " ".join("".join(c if c.isalnum() or c == "'" else " " for c in text.lower()).split())


def error_rate(said: str, heard: str) -> float:
    """Wrong letters per letter: "sun sets" and "sunsets" sound the same, and a short reply has few words."""
    return float(jiwer.cer(plain(said), plain(heard)))


def test_people_are_answered_and_what_is_heard_is_the_reply(
    room: Room, talk: TalkHandle, clips_folder: Path, listener: WhisperRecogniser
) -> None:
    takes: list[Take] = []
    worded: list[tuple[Take, Reply]] = []
    # The small model sometimes answers what is no word ("P@sssss"), which nobody could read back: then one more speaks.
    for saying in turns(load_all(clips_folder), "en", 10):
        if len(takes) >= 4 and len(worded) >= 6:  # of fewer one "Bobby Riffel Ledger" decides
            break
        takes.append(answered(room, talk, saying))
        replies = [reply for reply in takes[-1].replies if not reply.interrupted]
        worded += [(takes[-1], reply) for reply in replies if all(map(WORD.fullmatch, reply.said.split()))]
    compared = [(reply.said, transcribed(take, reply, listener)) for take, reply in worded]

    assert 4 <= len(worded)
    assert all(take.user_text for take in takes)
    # The median, because the recogniser leaves out what the small model says twice, as a guard against its own circles.
    assert statistics.median(error_rate(*pair) for pair in compared) <= 0.15, compared


def test_a_person_who_talks_over_a_reply_silences_it(room: Room, talk: TalkHandle, clips_folder: Path) -> None:
    for saying, text in zip(barge_ins(load_all(clips_folder), "en", 2), TEXTS, strict=False):
        take = said_over(room, talk, text, saying, 2.0)
        row = barge_in_row(take, saying, text).row
        reply = take.replies[0]

        assert row.interrupted, row
        assert not row.resumed, row
        assert reply.said.startswith(reply.heard.split()[0]), row
        assert 0 < len(reply.heard.split()) < len(text.split()), row


@pytest.mark.parametrize("number", [1, *(pytest.param(it, marks=pytest.mark.slow) for it in (2, 3, 4, 5))])
def test_the_agents_own_voice_never_interrupts_it_and_is_never_answered(
    room: Room, talk: TalkHandle, number: int
) -> None:
    with room.devices.echo(gain_db=GAIN_DB, delay_s=DELAY_S), room.taking(talk, "echo") as trial:
        mark = talk.mark
        talk.order("speak", text=TEXTS[number - 1])
        talk.expect(lambda told: told.means("utterance", speaker="agent"), since=mark, timeout=60.0)
        talk.calm(quiet_s=AFTER_S, reply_s=60.0, timeout=60.0)
    row = echo_row(trial.take, number)

    assert (False, 0, 0) == (row.interrupted, row.interruptions, row.user_turns), row
    assert row.seconds > 8.0, row
    assert -13.0 < row.echo_db < -7.0, row


def test_talk_holds_a_conversation_with_recordings(tmp_path: Path, clips_folder: Path) -> None:
    demo = [clip.path for clip in sorted(load_clips(clips_folder), key=lambda clip: clip.demo) if clip.demo][:2]
    output = tmp_path / "reply.wav"
    command = ["talk", "--json", "--input", *map(str, demo), "--output", str(output)]
    done = subprocess.run(
        [sys.executable, "-m", "discussion_helper", *command],
        capture_output=True,
        text=True,
        timeout=180,
        env=os.environ,
        check=False,
    )

    assert 0 == done.returncode, done.stderr
    document = json.loads(done.stdout)
    speakers = [utterance["speaker"] for utterance in document["utterances"]]
    assert 2 <= speakers.count("user")
    assert 2 <= speakers.count("agent")
    assert len(document["timings"]) == speakers.count("agent")
    assert {"utterances", "timings", "interruption_rate"} == set(document)
    assert output.stat().st_size > 48_000
