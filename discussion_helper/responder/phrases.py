"""Phrases that the agent says by itself, in the language of the conversation."""

from collections.abc import Callable

__all__ = ["Phrase", "let_me_see", "one_moment", "text_of"]

Phrase = str | Callable[[], str]
"""A text, or what gives it at the moment when it is to be said; "" = nothing is said."""

_MOMENTS = {
    "ar": "لحظة من فضلك.",
    "cs": "Okamžik, prosím.",
    "da": "Et øjeblik.",
    "de": "Einen Moment.",
    "el": "Μια στιγμή.",
    "en": "One moment.",
    "es": "Un momento.",
    "fi": "Hetkinen.",
    "fr": "Un instant.",
    "he": "רגע אחד.",
    "hi": "एक क्षण।",
    "hu": "Egy pillanat.",
    "id": "Sebentar.",
    "it": "Un momento.",
    "ja": "少々お待ちください。",
    "ko": "잠시만요.",
    "nl": "Een ogenblik.",
    "no": "Et øyeblikk.",
    "pl": "Chwileczkę.",
    "pt": "Um momento.",
    "ro": "Un moment.",
    "ru": "Одну минуту.",
    "sv": "Ett ögonblick.",
    "th": "สักครู่",
    "tr": "Bir dakika.",
    "uk": "Хвилинку.",
    "vi": "Xin chờ một chút.",
    "zh": "请稍等。",
}
_FILLERS = {
    "cs": "Podívám se.",
    "da": "Lad mig se.",
    "de": "Mal sehen.",
    "en": "Let me see.",
    "es": "Vamos a ver.",
    "fi": "Katsotaanpa.",
    "fr": "Voyons voir.",
    "hu": "Lássuk csak.",
    "id": "Coba saya lihat.",
    "it": "Vediamo un po'.",
    "ja": "そうですね。",
    "ko": "글쎄요.",
    "nl": "Even kijken.",
    "no": "La meg se.",
    "pl": "Niech pomyślę.",
    "pt": "Deixe-me ver.",
    "ro": "Să vedem.",
    "ru": "Дайте подумать.",
    "sv": "Få se.",
    "tr": "Bir bakayım.",
    "uk": "Дайте подумати.",
    "vi": "Để tôi xem.",
    "zh": "让我想想。",
}


def text_of(phrase: Phrase) -> str:
    """What to say now."""
    return phrase if isinstance(phrase, str) else phrase()


def one_moment(language: str) -> str:
    """What is said while a tool takes its time; "" where no phrase of `language` ("de", "pt-BR") is known."""
    return _MOMENTS.get(_code(language), "")


def let_me_see(language: str) -> str:
    """What may be said while a reply takes its time; "" where no phrase of `language` is known."""
    return _FILLERS.get(_code(language), "")


def _code(language: str) -> str:
    return language.lower().replace("_", "-").partition("-")[0]
