"""What would end in silence, in the simulated room: it is said, once, and by nothing but a voice."""

from typing import Any

import anyio
import pytest

from discussion_helper.audio.frames import Samples
from discussion_helper.stt.base import Recognised

pytestmark = pytest.mark.anyio


@pytest.fixture
def garbling(ears: Any) -> Any:
    """Hears speech, and does not believe its own words."""

    class Garbles(ears):  # type: ignore[misc]
        async def recognise(self, samples: Samples, *, voiced_s: float | None = None) -> Recognised:
            found = await super().recognise(samples, voiced_s=voiced_s)
            return found if "clear" in found.text else Recognised("", refused="not understood")

    return Garbles()


async def test_who_is_not_understood_hears_so_within_two_seconds(talk: Any, garbling: Any) -> None:
    async with talk(["Fine."], ears=garbling) as on:
        on.say("speech/praatio_bobby.wav", "mumble", at_s=0.5)
        reply = await on.room.reached("reply")
        assert reply.at_s <= 0.5 + 1.15 + 2.0
        await on.room.quiet(3.0)
        assert ["Sorry, I didn't understand that."] == [turn.text for turn in on.said]
        on.say("speech/sphinx_cards_004.wav", "this is clear")
        await on.room.quiet(2.0)
        assert ["this is clear", "Fine."] == [turn.text for turn in on.said[1:]]
        assert 1 == len(await on.told("decision", what="unclear"))


async def test_it_is_said_in_the_language_that_the_session_was_found_to_have(talk: Any, garbling: Any) -> None:
    garbling.session_language = "de"
    async with talk(["Fine."], ears=garbling, language="auto") as on:
        on.say("speech/praatio_bobby.wav", "mumble", at_s=0.5)
        await on.room.reached("reply")
        await on.room.quiet(3.0)
        assert ["Entschuldigung, das habe ich nicht verstanden."] == [turn.text for turn in on.said]


@pytest.mark.parametrize("name", ["noise/sonicpi_misc_burp.flac", "backchannel/mfa_uhum.flac"])
async def test_a_sound_is_told_nothing(talk: Any, garbling: Any, name: str) -> None:
    async with talk(["Fine."], ears=garbling) as on:
        on.say(name, at_s=0.5)
        await on.passed(6.0)
        assert [] == on.said


@pytest.fixture
def stuck(ears: Any) -> Any:
    """Never gives the first texts; later ones it does."""

    class Sticks(ears):  # type: ignore[misc]
        asked = 0

        async def recognise(self, samples: Samples, *, voiced_s: float | None = None) -> Recognised:
            self.asked += 1
            if self.asked == 1:
                await anyio.sleep_forever()
            return await super().recognise(samples, voiced_s=voiced_s)  # type: ignore[no-any-return]

    return Sticks()


async def test_a_recogniser_that_never_answers_silences_nobody(talk: Any, stuck: Any) -> None:
    async with talk(["Fine."], ears=stuck) as on:
        on.say("speech/praatio_bobby.wav", "are you there", at_s=0.5)
        await on.room.reached("reply")
        await on.room.quiet(1.0)
        assert ["Sorry, I didn't understand that."] == [turn.text for turn in on.said]
        on.say("speech/sphinx_cards_004.wav", "this is clear")
        await on.room.reached("reply", 2)
        await on.room.quiet(1.0)
        assert ["this is clear", "Fine."] == [turn.text for turn in on.said[1:]]
