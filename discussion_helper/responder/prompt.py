"""The system prompt: asks a language model for speech."""

__all__ = ["system_prompt"]

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
