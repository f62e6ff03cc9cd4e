"""J. Text into speech: scenarios of public bug reports, and what is read out stays as it was written on record."""

from collections.abc import AsyncIterator, Sequence
from typing import Any

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discussion_helper.audio.frames import Samples
from discussion_helper.models import Store, load_manifest
from discussion_helper.responder.base import Clauses
from discussion_helper.responder.clause_stream import clauses_from
from discussion_helper.responder.clauses import ClauseSplitter
from discussion_helper.testing.room import CutSynthesiser, Room, Scene
from discussion_helper.testing.room.synthesisers import WORDS_PER_S
from discussion_helper.tts.heard import heard_words
from discussion_helper.tts.origins import letters, origins_of
from discussion_helper.tts.piper import PiperSynthesiser
from discussion_helper.tts.speakable import speakable
from discussion_helper.types import Message

pytestmark = pytest.mark.anyio


def streamed(*pieces: str) -> list[str]:
    """The clauses of a text that comes in these pieces."""
    splitter = ClauseSplitter()
    return [*(clause for piece in pieces for clause in splitter.feed(piece)), *splitter.flush()]


def spoken(*pieces: str, language: str = "en") -> str:
    """What is read out of it."""
    return " ".join(filter(None, (speakable(clause, language) for clause in streamed(*pieces))))


# -- J1: Markdown

WRITTEN = """# Breakfast

You need **two eggs**, *some* butter and `salt`.

- Eggs
- [Good butter](https://example.com/butter?a=1)

1. Heat the pan.
2. Add the butter.

| Step | Minutes |
|------|---------|
| Fry | 3 |

```python
fry(eggs, "now")
```

> Enjoy ~~this~~ it!"""
READ = (
    "Breakfast. You need two eggs, some butter and salt. Eggs. Good butter. one, Heat the pan. two, Add the butter. "
    "Step, Minutes. Fry, three. Code example. Enjoy this it!"
)


def test_j1_markdown_is_read_as_its_words() -> None:
    assert spoken(WRITTEN) == READ


def test_j1_a_marker_that_two_pieces_of_the_stream_share_is_not_read_either() -> None:
    assert {spoken(WRITTEN[:at], WRITTEN[at:]) for at in range(len(WRITTEN))} == {READ}


def test_j1_the_same_one_character_at_a_time() -> None:
    assert spoken(*WRITTEN) == READ


# -- J2: emoji and drawings


@pytest.mark.parametrize(
    "written", ["🙂", "👨\u200d👩\u200d👧\u200d👦", "🇩🇪🇫🇷", "👍🏽 🎉", "→ ⇒", "┌──┐\n│  │\n└──┘", "★☆ ✓", "❤️\u200d🔥"]
)
def test_j2_emoji_flags_arrows_and_drawings_are_nothing(written: str) -> None:
    assert spoken(written) == ""


def test_j2_words_beside_them_are_read() -> None:
    assert spoken("Great 👍🏽 job, 👨\u200d👩\u200d👧 all of you → see you 🇩🇪!") == "Great job, all of you, see you!"


# -- J3 and J4: numbers and abbreviations stay whole

WHOLE = [
    ("en", "It costs $3.50 today.", "It costs three dollars fifty today."),
    ("en", "It is 98.6°F now.", "It is ninety-eight point six degrees Fahrenheit now."),
    ("en", "Use v1.2.3 of it.", "Use version one dot two dot three of it."),
    ("en", "Fruit, e.g. apples.", "Fruit, for example apples."),
    ("en", "I saw Dr. No yesterday.", "I saw Doctor No yesterday."),
    ("de", "Wir treffen uns um 10.30 Uhr.", "Wir treffen uns um zehn Uhr dreißig."),
    ("de", "Es sind 22,1 °C.", "Es sind zweiundzwanzig Komma eins Grad Celsius."),
    ("de", "Das kostet 1.234,56 € bzw. mehr.",
     "Das kostet eintausendzweihundertvierunddreißig Euro sechsundfünfzig beziehungsweise mehr."),
    ("fr", "À 10 h 30 M. Petit paie 3,50 €.", "À dix heures trente Monsieur Petit paie trois euros cinquante."),
    ("es", "El Sr. Ruiz paga 22,5 €.", "El Señor Ruiz paga veintidós euros cincuenta."),
    ("it", "Il Sig. Rossi pesa 70,5 kg.", "Il Signor Rossi pesa settanta virgola cinque chilogrammi."),
    ("nl", "Om 10.30 uur komt dr. Bakker.", "Om tien uur dertig komt dokter Bakker."),
    ("pt", "O Sr. Silva paga R$ 3,50.", "O Senhor Silva paga três reais cinquenta."),
    ("ja", "１，０００円です。", "1,000円です。"),
]  # fmt: skip


@pytest.mark.parametrize(("language", "written", "read"), WHOLE)
def test_j3_j4_a_number_or_an_abbreviation_is_one_chunk_one_character_at_a_time(
    language: str, written: str, read: str
) -> None:
    assert streamed(*written) == [written]
    assert spoken(*written, language=language) == read


def test_j4_the_decimal_comma_of_a_long_sentence_is_no_place_to_cut() -> None:
    written = "Heute sind es in Berlin und in Hamburg und in München und in Köln 22,1 °C, morgen noch mehr."
    assert [clause for clause in streamed(*written) if "22" in clause and "22,1 °C" not in clause] == []


# -- J5: scripts whose sentences end without a space


@pytest.mark.parametrize(
    ("written", "first"),
    [
        ("你好。今天天气很好。", "你好。"),
        ("はい！そうです。", "はい！"),
        ("नमस्ते। आप कैसे हैं?", "नमस्ते।"),
        ("مرحبا؟ كيف حالك؟", "مرحبا؟"),
        ("یہ اچھا ہے۔ شکریہ", "یہ اچھا ہے۔"),
    ],
)
def test_j5_the_first_sentence_is_given_at_its_stop(written: str, first: str) -> None:
    assert ClauseSplitter().feed(first) == [first]
    assert streamed(*written)[0] == first


def test_j5_thai_which_has_no_stops_is_given_at_a_space() -> None:
    clauses = streamed(*"สวัสดีครับเพื่อนๆทุกคน วันนี้อากาศดี")
    assert clauses == ["สวัสดีครับเพื่อนๆทุกคน", "วันนี้อากาศดี"]


# -- J6: a model that pauses


class Pausing:
    """A model that streams its pieces; a number is a pause of so many seconds."""

    def __init__(self, *script: str | float) -> None:
        self.script = script
        self.given_s: dict[str, float] = {}

    async def reply(self, messages: Sequence[Message]) -> AsyncIterator[str]:
        script, clauses = list(self.script), Clauses(max_chars=1000)

        async def piece() -> str | None:
            while script:
                match script.pop(0):
                    case str() as text:
                        self.given_s[text] = anyio.current_time()
                        return text
                    case seconds:
                        await anyio.sleep(float(seconds))
            return None

        async for clause in clauses_from(piece, clauses):
            yield clause
        for clause in clauses.flush():
            yield clause

    async def aclose(self) -> None: ...


async def clauses_and_times(*script: str | float) -> list[tuple[str, float]]:
    began = anyio.current_time()
    return [(clause, round(anyio.current_time() - began, 3)) async for clause in Pausing(*script).reply([])]


async def test_j6_a_last_sentence_is_audible_within_300_ms_though_the_model_is_slow_to_end(parts: Any) -> None:
    """ "Done.", and then the model pauses for three seconds."""
    async with Room(Scene()) as room:
        model = Pausing(0.5, "Done", ".", 3.0)
        session = room.session(responder=model, recogniser=parts[1](), synthesiser=CutSynthesiser())
        session.start()
        await session.say("Do it.")
        asked_s = room.now_s - anyio.current_time()
        mark = await room.reached("reply", 1)
        assert mark.at_s - (model.given_s["."] + asked_s) <= 0.3


async def test_j6_no_number_or_name_that_may_go_on_is_cut_by_a_pause() -> None:
    for text in ("It costs $3.", "It costs 22,", "Use v1.", "I met Dr.", "Fruit, e.g.", "See https://example."):
        assert await clauses_and_times(text, 3.0, "50 today") == [(f"{text}50 today", 3.0)]


async def test_j6_a_model_that_is_slow_at_every_piece_does_not_pause() -> None:
    slowly: list[str | float] = [it for piece in ("See", " the", " page", " example", ".") for it in (0.5, piece)]
    given = await clauses_and_times(*slowly, 0.7, "com.")
    assert [text for text, _ in given] == ["See the page example.com."]


async def test_j6_what_comes_after_the_pause_is_spoken_too() -> None:
    given = await clauses_and_times("Done.", 3.0, " Anything", " else?")
    assert given == [("Done.", 0.15), ("Anything else?", 3.0)]


# -- J8: nothing to say

NOTHING = ["", " ", "…", "🙂", "```"]


class Reading(CutSynthesiser):
    """Makes sound of what can be read out."""

    def __init__(self) -> None:
        super().__init__()
        self.samples: dict[str, int] = {}

    def _cut(self, text: str) -> Samples:
        made = super()._cut(speakable(text))
        self.samples[text] = len(made)
        return made


@pytest.mark.parametrize("text", NOTHING)
async def test_j8_a_reply_of_nothing_makes_no_sound_and_the_next_turn_is_answered(text: str, parts: Any) -> None:
    """Whatever the agent says of its own about having no answer."""
    async with Room(Scene()) as room:
        answers, voice = parts[0]([[text], ["Here I am."]]), Reading()
        session = room.session(responder=answers, recogniser=parts[1](), synthesiser=voice)
        session.start()
        await session.say("Say nothing.")
        await session.say("And now?")

        def said() -> list[str]:
            return [it.text for it in session.discussion.conversation.utterances]

        await room.until(lambda: "Here I am." in said(), within_s=10)
    assert voice.samples.get(text, 0) == 0
    assert [it for it in said() if it in ("Say nothing.", "And now?", "Here I am.")] == [
        "Say nothing.",
        "And now?",
        "Here I am.",
    ]


@pytest.mark.models
@pytest.mark.parametrize("text", NOTHING)
async def test_j2_j8_the_real_voice_makes_nothing_of_it_and_loads_nothing_for_it(text: str) -> None:
    voice = PiperSynthesiser(Store().path_of(load_manifest().model("joe-medium")))
    speech = await voice.synthesise(text)
    assert len(speech.samples) == 0
    assert [0] == [len(part.samples) async for part in voice.parts(text)]
    assert voice._network is None


# -- what was heard is the beginning of what was written

PIECES = {
    "en": ["It", "costs", "$3.50", "or", "98.6°F,", "Dr. No", "1,234", "2024-05-03", "**bold**", "50%", "3/4", "🙂"],
    "de": ["Es", "kostet", "3,50 €", "um 10.30 Uhr", "22,1 °C", "am 03.10.2024", "1.000 km", "z. B.", "5 %"],
    "fr": ["Il", "coûte", "3,50 €", "à 10 h 30", "22,1 °C", "Mme Petit", "le 03/10/2024", "1 000 km", "n° 5", "5 %"],
    "es": ["Cuesta", "3,50 €", "a las 10:30", "22,1 °C", "Sr. Ruiz", "el 03/10/2024", "1.000 km", "n.º 5", "5 %"],
    "it": ["Costa", "3,50 €", "ore 10.30", "22,1 °C", "Sig.ra Verdi", "il 03/10/2024", "1.000 km", "n° 5", "5 %"],
    "nl": ["Het", "kost", "€ 3,50", "om 10.30 uur", "22,1 °C", "dr. Bak", "03-10-2024", "1.000 km", "nr. 5", "5 %"],
    "pt": ["Custa", "R$ 3,50", "às 10h30", "22,1 °C", "Sra. Costa", "em 03/10/2024", "1.000 km", "nº 5", "5 %"],
    "zh": ["你好。", "今天", "２２．１", "50%", "¥50"],
    "ja": ["１，０００円", "です。", "はい"],
    "hi": ["नमस्ते।", "₹500", "5 km"],
    "ar": ["مرحبا؟", "50%", "5 km"],
    "th": ["สวัสดีครับ", "22.1", "ไปกันเถอะ"],
}  # fmt: skip


@st.composite
def written_in_a_language(draw: st.DrawFn) -> tuple[str, str]:
    language = draw(st.sampled_from(sorted(PIECES)))
    return language, " ".join(draw(st.lists(st.sampled_from(PIECES[language]), min_size=1, max_size=10)))


@given(written_in_a_language(), st.floats(0, 1))
@settings(max_examples=60)
def test_17_what_was_heard_is_a_beginning_of_what_was_written(written: tuple[str, str], share: float) -> None:
    language, text = written
    heard = heard_words(text, share * 4.0, 4.0, language=language)
    assert text.startswith(heard)
    assert heard_words(text, 4.0, 4.0, language=language) == text


@given(written_in_a_language())
@settings(max_examples=60)
def test_17_every_letter_that_is_read_out_belongs_to_a_word_that_was_written(written: tuple[str, str]) -> None:
    """The way back: up to which written word what is read out reaches, in order and to the end."""
    language, text = written
    read = speakable(text, language)
    origins = origins_of(text, read, language)
    assert [it.end for it in origins] == sorted({it.end for it in origins})
    assert [it.letters for it in origins] == sorted({it.letters for it in origins})
    assert (origins[-1].letters if origins else 0) == len(letters(read))


@pytest.mark.parametrize("cut_s", [0.0, 75.0])
async def test_a_sentence_longer_than_the_queue_of_the_loudspeaker_is_said_all_the_same(
    talk: Any, cut_s: float
) -> None:
    words = " ".join(f"word{number}" for number in range(300))
    async with talk([words], fast=True) as on:
        await on.session.say("Recite.")
        begins = await on.room.reached("reply")
        if cut_s:
            await on.room.until(lambda: on.room.now_s >= begins.at_s + cut_s, within_s=120.0)
            await on.session.interrupt()
        await on.room.quiet(1.0, within_s=200.0)
        [reply] = on.replies
        heard = reply.text.split()
        assert heard == words.split()[: len(heard)]
        assert len(heard) == (pytest.approx(WORDS_PER_S * cut_s, abs=4) if cut_s else 300)
        assert bool(cut_s) == reply.interrupted
        assert 0 == on.room.recording.dead_samples
        assert not on.session.ended
