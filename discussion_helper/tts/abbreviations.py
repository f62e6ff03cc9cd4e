"""Abbreviations written out, per language."""

import re
from functools import cache, partial

from discussion_helper.tts.vocabulary import base_language

__all__ = ["expand_abbreviations"]

# Before a name or a word: the full stop goes.
_LEADING = {
    "en": {
        "Dr": "Doctor", "Mr": "Mister", "Mrs": "Missus", "Ms": "Miz", "Mx": "Mix", "Prof": "Professor",
        "Rev": "Reverend",
        "Hon": "Honorable", "Gen": "General", "Col": "Colonel", "Capt": "Captain", "Lt": "Lieutenant",
        "Sgt": "Sergeant",
        "Sen": "Senator", "Rep": "Representative", "Gov": "Governor", "Pres": "President", "Mt": "Mount",
        "Ft": "Fort", "Messrs": "Messers", "vs": "versus", "e.g": "for example", "i.e": "that is", "eg": "for example",
        "ie": "that is", "cf": "compare", "viz": "namely", "approx": "approximately", "esp": "especially",
        "incl": "including", "excl": "excluding", "dept": "department", "govt": "government", "misc": "miscellaneous",
    },
    "de": {
        "Dr": "Doktor", "Prof": "Professor", "Hr": "Herr", "Fr": "Frau", "St": "Sankt", "z.B": "zum Beispiel",
        "d.h": "das heißt", "u.a": "unter anderem", "bzw": "beziehungsweise", "vgl": "vergleiche",
        "ggf": "gegebenenfalls",
        "evtl": "eventuell", "ca": "circa", "inkl": "inklusive", "exkl": "exklusive", "sog": "sogenannte",
        "Mio": "Millionen", "Mrd": "Milliarden", "Nr": "Nummer", "i.d.R": "in der Regel", "v.a": "vor allem",
        "o.ä": "oder ähnliches",
    },
    "fr": {
        "M": "Monsieur", "MM": "Messieurs", "Mme": "Madame", "Mlle": "Mademoiselle", "Dr": "Docteur",
        "Pr": "Professeur", "Mgr": "Monseigneur", "Sté": "Société", "St": "Saint", "Ste": "Sainte",
        "p.ex": "par exemple", "cf": "confer", "env": "environ", "av": "avenue", "c.-à-d": "c'est-à-dire",
    },
    "es": {
        "Sr": "Señor", "Sra": "Señora", "Srta": "Señorita", "Dr": "Doctor", "Dra": "Doctora", "Ud": "usted",
        "Uds": "ustedes", "p.ej": "por ejemplo", "EE.UU": "Estados Unidos", "núm": "número", "pág": "página",
        "D": "Don", "Dña": "Doña", "Prof": "Profesor", "Profa": "Profesora",
        "aprox": "aproximadamente",
    },
    "it": {
        "Sig": "Signor", "Dott": "Dottor",
        "Dr": "Dottor", "Prof": "Professor", "Ing": "Ingegner", "Avv": "Avvocato",
        "p.es": "per esempio",
    },
    "pt": {"Sr": "Senhor", "Sra": "Senhora", "Dr": "Doutor", "Dra": "Doutora", "Prof": "Professor",
    "Profa": "Professora", "Exmo": "Excelentíssimo", "Exma": "Excelentíssima",
    "p.ex": "por exemplo"},
    "nl": {
        "drs": "doctorandus", "ir": "ingenieur", "mw": "mevrouw", "dhr": "de heer",
        "mevr": "mevrouw", "dr": "dokter", "prof": "professor", "bijv": "bijvoorbeeld",
        "o.a": "onder andere", "d.w.z": "dat wil zeggen", "m.b.t": "met betrekking tot", "ca": "circa",
    },
}  # fmt: skip

# May end a sentence: the full stop stays at the end of the text.
_TRAILING = {
    "en": {
        "etc": "et cetera", "Jr": "Junior", "Sr": "Senior", "Inc": "Incorporated", "Ltd": "Limited", "Co": "Company",
        "Corp": "Corporation", "Bros": "Brothers", "Ave": "Avenue", "Blvd": "Boulevard", "Rd": "Road",
        "a.m": "AM", "p.m": "PM", "Esq": "Esquire", "Hwy": "Highway", "Ph.D": "PhD",
    },
    "de": {
        "usw": "und so weiter", "etc": "et cetera", "usf": "und so fort", "Str": "Straße", "Std": "Std", "Min": "min",
        "Sek": "s",
    },
    "fr": {"etc": "et cetera"},
    "es": {"etc": "etcétera"},
    "it": {"ecc": "eccetera"},
    "pt": {"etc": "et cetera"},
    "nl": {"enz": "enzovoort", "etc": "et cetera"},
}  # fmt: skip

_WITHOUT_STOP = {
    "fr": {"Mme": "Madame", "Mmes": "Mesdames", "Mlle": "Mademoiselle", "Mgr": "Monseigneur", "Dr": "Docteur"},
    "it": {
        "Sig.ra": "Signora", "Sig.na": "Signorina", "Sig.re": "Signore", "Dott.ssa": "Dottoressa",
        "Prof.ssa": "Professoressa",
    },
}  # fmt: skip
"""No full stop follows them; before a name."""

_BEFORE_NUMBER = {
    "en": {
        "No": "number", "no": "number", "Nos": "numbers", "Fig": "figure", "fig": "figure", "Eq": "equation",
        "p": "page",
        "pp": "pages", "Vol": "volume", "vol": "volume", "Ch": "chapter", "ch": "chapter", "Sec": "section",
        "sec": "section", "Art": "article", "Jan": "January", "Feb": "February", "Mar": "March", "Apr": "April",
        "Jun": "June", "Jul": "July", "Aug": "August", "Sep": "September", "Sept": "September", "Oct": "October",
        "Nov": "November", "Dec": "December", "ext": "extension",
    },
    "de": {"S": "Seite", "Abb": "Abbildung", "Kap": "Kapitel", "Art": "Artikel"},
    "fr": {"p": "page", "n": "numéro", "art": "article", "chap": "chapitre"},
    "es": {"p": "página", "art": "artículo", "cap": "capítulo"},
    "it": {"p": "pagina", "n": "numero", "art": "articolo", "cap": "capitolo"},
    "pt": {"p": "página", "n": "número", "art": "artigo", "cap": "capítulo"},
    "nl": {"p": "pagina", "blz": "bladzijde", "nr": "nummer", "art": "artikel"},
}  # fmt: skip

_STREET = re.compile(r"(?<=[A-Za-z\d]) St\.(?=[\s,;]|$)")
_NAMED_STREET = re.compile(r"([A-Z]\w{0,40}|\d(?:st|nd|rd|th))$")
_SAINT = re.compile(r"(?<!\w)St\.(?=\s+[A-Z])")
_WITH = re.compile(r"(?<![\w/])w/(o(?!\w))?(?=[\s\w])")
_LETTERS = re.compile(r"(?<![\w.])((?:[^\W\d_]\.){1,8}[^\W\d_])(?:\.(?!\w)|(?![\w.]))")
_INITIAL = re.compile(r"(?<![\w.])([A-HJ-Z])\.(?=\s+[A-Z])")
_AT_END = re.compile(r"[\"')\]”’ ]*\Z")
_STILL_TO_COME = r"(?=[\s,;:)\]]|$)"


def expand_abbreviations(text: str, language: str) -> str:
    """`text` with the common abbreviations of `language` in full, and "U.S." without its stops: letters are spelt."""
    base = base_language(language)
    if base in _WITHOUT_STOP:
        pattern, words = _without_stop(base)
        text = pattern.sub(lambda match: words[match[1]], text)
    if "." not in text and "/" not in text:
        return text
    if base == "en":
        text = _english(text)
    for pattern, words, trailing in _patterns(base):
        text = pattern.sub(partial(_expand, words=words, trailing=trailing), text)
    return _INITIAL.sub(r"\1", _LETTERS.sub(_spelt, text))


@cache
def _without_stop(base: str) -> tuple[re.Pattern[str], dict[str, str]]:
    words = _WITHOUT_STOP[base]
    written = "|".join(map(re.escape, sorted(words, key=len, reverse=True)))
    return re.compile(rf"(?<![\w.])({written})(?=\s+[^\W\d_])"), words


def _english(text: str) -> str:
    text = _WITH.sub(lambda match: "without " if match[1] else "with ", text)
    text = _STREET.sub(_street, text)
    return _SAINT.sub("Saint", text)


def _street(match: re.Match[str]) -> str:
    before = match.string[max(0, match.start() - 41) : match.start()]
    if not _NAMED_STREET.search(before):
        return match[0]
    return " Street" + _stop(match)


def _expand(match: re.Match[str], *, words: dict[str, str], trailing: bool) -> str:
    expansion = words[_key(match[1])]
    return expansion + (_stop(match) if trailing else "")


def _stop(match: re.Match[str]) -> str:
    """The full stop of an abbreviation that ends the text is the sentence's too."""
    return "." if match[0].endswith(".") and _AT_END.match(match.string, match.end()) else ""


def _spelt(match: re.Match[str]) -> str:
    return match[1].replace(".", "").upper() + _stop(match)


def _key(written: str) -> str:
    return written.replace(" ", "")


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]


@cache
def _patterns(base: str) -> list[tuple[re.Pattern[str], dict[str, str], bool]]:
    patterns = []
    for table, after, trailing in (
        (_BEFORE_NUMBER, r"(?=\s*\d)", False),
        (_LEADING, _STILL_TO_COME, False),
        (_TRAILING, _STILL_TO_COME, True),
    ):
        if words := table.get(base):
            words = words | {
                _capital(word): _capital(spoken) for word, spoken in words.items() if _capital(word) not in words
            }
            written = "|".join(
                re.escape(word).replace(r"\.", r"\.[ ]?") for word in sorted(words, key=len, reverse=True)
            )
            patterns.append((re.compile(rf"(?<![\w.])({written})\.{after}"), words, trailing))
    return patterns
