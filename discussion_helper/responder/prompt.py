"""What a language model is told beside the turns: that it is to speak, and where it was cut off."""

__all__ = ["LAST_WORDS", "LONGEST_REST", "cut_note", "system_prompt"]

LAST_WORDS = 60
"""Characters of what was heard that are repeated in a note, at most: enough to find the place."""
LONGEST_REST = 400
"""Characters of what was not heard that stand in a note, at most: some 70 words, about 25 seconds of speech."""

_PERSON = "You are a helpful AI assistant."
_SPEECH = "Your answers are spoken aloud, so answer in one or two short sentences, without lists or symbols."
"""Short, because every token of it is read before the first reply. Of the wordings tried on the default model, a very
small one, those that begin as it was trained ("a helpful AI assistant") kept it in English and on the question."""

_LANGUAGES = {
    "ar": "Arabic",
    "bg": "Bulgarian",
    "ca": "Catalan",
    "cs": "Czech",
    "da": "Danish",
    "de": "German",
    "el": "Greek",
    "en": "English",
    "es": "Spanish",
    "et": "Estonian",
    "fa": "Persian",
    "fi": "Finnish",
    "fr": "French",
    "he": "Hebrew",
    "hi": "Hindi",
    "hr": "Croatian",
    "hu": "Hungarian",
    "id": "Indonesian",
    "is": "Icelandic",
    "it": "Italian",
    "ja": "Japanese",
    "ka": "Georgian",
    "ko": "Korean",
    "lt": "Lithuanian",
    "lv": "Latvian",
    "ne": "Nepali",
    "nl": "Dutch",
    "no": "Norwegian",
    "pl": "Polish",
    "pt": "Portuguese",
    "ro": "Romanian",
    "ru": "Russian",
    "sk": "Slovak",
    "sl": "Slovenian",
    "sr": "Serbian",
    "sv": "Swedish",
    "sw": "Swahili",
    "th": "Thai",
    "tr": "Turkish",
    "uk": "Ukrainian",
    "vi": "Vietnamese",
    "zh": "Chinese",
}


def system_prompt(language: str = "en", *, text: str = "") -> str:
    """Who the assistant is, that it speaks, and its language (a code such as "de" or "pt-BR"; "" = the user's).

    `text` replaces who the assistant is; the request for speech and the language stay, since a voice reads it out.
    """
    code = language.lower().replace("_", "-").partition("-")[0]
    parts = [text.strip() or _PERSON, _SPEECH]
    if not code:
        parts.append("Answer in the user's language.")
    elif code != "en" or text:
        parts.append(f"Answer in {_LANGUAGES.get(code, f'the language with the code {code}')}.")
    return " ".join(parts)


def cut_note(heard: str, unheard: str = "") -> str:
    """Tells a model that the user cut its last answer off, after `heard` and before `unheard`; on one line, bounded.

    It stands in brackets before the user's next words, for many models' templates refuse a system's message there.
    """
    words, rest = " ".join(heard.split()), " ".join(unheard.split())
    where = f'after "{_end_of(words)}"' if words else "before a word of it was heard"
    parts = [f"Your last answer was cut off {where}."]
    if rest:
        parts.append(f'Not heard: "{_beginning_of(rest)}"')
    if words:
        parts.append("Do not repeat what was heard.")
    return f"[{' '.join(parts)}]"


def _end_of(text: str) -> str:
    """At most LAST_WORDS characters, from a word's beginning where there is one."""
    if len(text) <= LAST_WORDS:
        return text
    end = text[-LAST_WORDS - 1 :]
    return end.partition(" ")[2] or end[1:]


def _beginning_of(text: str) -> str:
    """At most LONGEST_REST characters, to a word's end where there is one."""
    if len(text) <= LONGEST_REST:
        return text
    beginning = text[: LONGEST_REST + 1]
    return beginning.rpartition(" ")[0] or beginning[:-1]
