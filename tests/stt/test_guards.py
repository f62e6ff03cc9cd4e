"""What is believed, and what is not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discussion_helper.stt.guards import compression_ratio, refusal, words_in


def refused(
    text: str,
    *,
    voiced_s: float | None,
    no_speech: float,
    logprob: float,
    duration_s: float | None = None,
) -> str:
    return refusal(
        text,
        duration_s=duration_s or (voiced_s or 0.5) + 0.5,
        voiced_s=voiced_s,
        no_speech_probability=no_speech,
        average_logprob=logprob,
        compression_ratio=compression_ratio(text),
    )


@pytest.mark.parametrize(
    ("text", "voiced_s", "no_speech", "logprob"),
    [  # as tiny.en read people
        ("No.", 0.35, 0.28, -0.73),
        ("7.", 0.35, 0.35, -0.84),
        ("Okay.", 0.35, 0.36, -0.64),
        ("5 5", 0.74, 0.58, -0.65),
        ("Thank you.", 0.45, 0.30, -0.60),
        ("No, no, no, no!", 1.0, 0.20, -0.40),
        ("And here are some more words, words, words, words.", 3.36, 0.24, -0.46),
        ("Can you just remind me I don't have to tick the note?", 2.5, 0.12, -0.25),
        ("I can do it, you know I can do it, you know I can do it if I have to, so let me do it.", 6.0, 0.1, -0.3),
        ("真っ昼間なのにキャンプの外れの電柱に電球がともっていた", 4.2, 0.05, -0.50),
    ],
)
def test_people_are_believed(text: str, voiced_s: float, no_speech: float, logprob: float) -> None:
    assert refused(text, voiced_s=voiced_s, no_speech=no_speech, logprob=logprob) == ""


@pytest.mark.parametrize(
    ("text", "voiced_s", "no_speech", "logprob", "why"),
    [  # as tiny.en and base read noise
        ("Thank you.", None, 0.93, -1.02, "no speech"),
        ("I'm going to go to the front.", None, 0.84, -1.75, "no speech"),
        ("I'm sorry.", 0.13, 0.67, -1.70, "no speech"),
        ("He did it.", 0.29, 0.57, -1.26, "no speech"),
        ("Music", None, 0.05, -1.59, "no speech"),
        ("Music", 0.5, 0.05, -1.59, "not understood"),
        ("You can not...", 0.16, 0.40, -0.84, "more words than voice"),
        ("8 8 8 8 8 8 8 8", 0.35, 0.42, -0.37, "repeats itself"),
        ("la" * 60, 20.0, 0.1, -0.2, "repeats itself"),
        (
            "I'm not sure if I can do this, but I'm not sure if I can do it. I'm not sure if I can do it.",
            *(12.0, 0.2, -0.7),
            "repeats itself",
        ),
        ("Thank you.", 2.0, 0.90, -0.62, "no speech"),
        ("Thank you.", 0.5, 0.70, -1.20, "no speech"),
        ("Huh? Huh? Huh?", 2.0, 0.75, -0.78, "no speech"),
        ("Thank you.", 0.05, 0.0, -0.1, "no voice"),
        ("...", 1.0, 0.0, -0.1, "no words"),
        ("", 1.0, 0.0, -0.1, "no words"),
    ],
)
def test_noise_is_not_believed(text: str, voiced_s: float | None, no_speech: float, logprob: float, why: str) -> None:
    assert refused(text, voiced_s=voiced_s, no_speech=no_speech, logprob=logprob) == why


def test_the_same_words_are_believed_with_evidence_and_not_without() -> None:
    assert refused("Thank you.", voiced_s=0.6, no_speech=0.6, logprob=-1.0) == ""
    assert refused("Thank you.", voiced_s=0.15, no_speech=0.6, logprob=-1.0) == "no speech"


@pytest.mark.parametrize(
    "text",
    [
        "Thanks for watching!",
        "시청해 주셔서 감사합니다.",
        "ご視聴ありがとうございました",
        "Untertitel der Amara.org-Community",
        "Sous-titres réalisés par la communauté d'Amara.org",
        "¡Gracias por ver el video!",
        "Субтитры сделал DimaTorzok",
        "Tack för att ni tittade!",
    ],
)
def test_what_models_make_up_is_refused_for_how_it_was_heard_not_for_what_it_says(text: str) -> None:
    assert refused(text, voiced_s=0.2, no_speech=0.7, logprob=-0.9) == "no speech"
    assert refused(text, voiced_s=1.6, no_speech=0.1, logprob=-0.4) == ""


@given(
    text=st.text(max_size=80),
    voiced_s=st.floats(0.0, 5.0),
    more_s=st.floats(0.0, 5.0),
    no_speech=st.floats(0.0, 1.0),
    logprob=st.floats(-3.0, 0.0),
)
def test_more_voice_is_a_reason_to_refuse_only_where_the_words_do_not_fill_it(
    text: str, voiced_s: float, more_s: float, no_speech: float, logprob: float
) -> None:
    if refused(text, voiced_s=voiced_s, no_speech=no_speech, logprob=logprob) == "":
        fits = voiced_s + more_s <= 0.75 * words_in(text) or no_speech - logprob < 1.3
        why = refused(text, voiced_s=voiced_s + more_s, no_speech=no_speech, logprob=logprob)
        assert why == "" or (why == "no speech" and not fits)


@pytest.mark.parametrize(
    ("text", "words"),
    [("", 0), ("- ...", 0), ("Thank you.", 2), ("電柱に電球がともって", 10 / 6), ("hahahahaha", 10 / 6)],
)
def test_how_many_words_were_said(text: str, words: float) -> None:
    assert words_in(text) == words


def test_a_loop_compresses_better_than_a_sentence() -> None:
    assert compression_ratio("") == 0.0
    assert compression_ratio("Please enter your agent number followed by the pound key.") < 1.2
    assert compression_ratio("I'm going to go. " * 12) > 2.4
