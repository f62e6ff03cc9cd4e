"""Twenty replies that were cut, on the real model: how much of what was heard the next reply says again."""

import re
from statistics import mean

import pytest

from discussion_helper.models import Store, load_manifest
from discussion_helper.responder.embedded import EmbeddedResponder
from discussion_helper.types import Message

pytestmark = [pytest.mark.anyio, pytest.mark.models, pytest.mark.slow]

CUTS = """
How far away is the moon? | The moon is about three hundred eighty four thousand kilometres away | And how big is it?
How do I cook rice? | Rinse the rice first, then add twice as much water | How much salt do I need?
Tell me about dogs. | Dogs are loyal animals that have lived with people | What do they eat?
What is photosynthesis? | Photosynthesis is the way in which plants turn sunlight, water and | Please tell me the rest.
Who was Albert Einstein? | Albert Einstein was a physicist born in Germany | When did he die?
What is the capital of France? | The capital of France is Paris, | And of Spain?
Give me a tip for sleeping better. | Go to bed at the same time every night, keep your room | What about coffee?
How does a car engine work? | A car engine burns small amounts of fuel in | What were you about to say?
What is a black hole? | A black hole is a place in space where | Can it swallow the earth?
Tell me a story. | Once upon a time there was a little fox who lived at the edge | What was its name?
What should I pack for the beach? | You should pack a towel, sunscreen, a | Is it going to rain?
How do planes fly? | Planes fly since their wings push | And helicopters?
What is the largest animal? | The largest animal is the blue whale, | What does it eat?
Explain gravity to me. | Gravity is the force by which all things that have | Sorry, I interrupted you. What else?
How do I learn to play guitar? | Start with a few simple chords, practise for | Which chords?
What is coffee made of? | Coffee is made of the roasted seeds of a | Is it healthy?
Why is the sky blue? | The sky is blue because the air scatters | And why is the sunset red?
What can I do in Rome? | In Rome you can visit the Colosseum, walk | How is the weather there?
What is a computer virus? | A computer virus is a program | How do I get rid of it?
How tall is Mount Everest? | | Did you hear me?
"""


def words_of(text: str) -> list[str]:
    return re.findall(r"[a-z']+", text.lower())


LITTLE = words_of(
    "the a an of to and in is it that you i for on with as are be at was this or by can do not if so have has from they"
    " their its your which what who how"
)


def threes_of(words: list[str]) -> list[tuple[str, ...]]:
    return [tuple(words[at : at + 3]) for at in range(len(words) - 2)]


def share(part: list[str] | list[tuple[str, ...]], heard: list[str] | list[tuple[str, ...]]) -> float:
    return sum(each in heard for each in part) / len(part) if part else 0.0


async def test_the_next_reply_says_little_of_what_was_heard_again_and_nothing_of_the_cut() -> None:
    [path] = Store().path_of(load_manifest().model("SmolLM2-135M")).glob("*.gguf")
    responder = EmbeddedResponder(path, seed=1, max_tokens=40)
    replies: list[tuple[str, str]] = []
    for line in CUTS.strip().splitlines():
        question, heard, then = (part.strip() for part in line.split("|"))
        cut: Message = {"role": "assistant", "content": heard, "interrupted": True, "unheard": "and so on."}
        messages: list[Message] = [{"role": "user", "content": question}, cut, {"role": "user", "content": then}]
        replies.append((heard, " ".join([clause async for clause in responder.reply(messages)])))
    await responder.aclose()

    again = [share([w for w in words_of(new) if w not in LITTLE], words_of(heard)) for heard, new in replies]
    runs = [share(threes_of(words_of(new)), threes_of(words_of(heard))) for heard, new in replies]
    assert 20 == len(replies)
    assert all(new for _, new in replies)
    # Measured with three seeds: 0.15 to 0.18, mostly the subject ("the moon"), and 0.04; the sampling is not the same
    # on every machine.
    assert mean(again) < 0.25, again
    assert mean(runs) < 0.1, runs
    assert not [new for _, new in replies if re.search("cut off|not heard|do not repeat", new.lower())]
