"""Phrases that the agent says by itself, in the language of the conversation."""

__all__ = ["one_moment"]

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


def one_moment(language: str) -> str:
    """What is said while a tool takes its time; "" where no phrase of `language` ("de", "pt-BR") is known."""
    return _MOMENTS.get(language.lower().replace("_", "-").partition("-")[0], "")
