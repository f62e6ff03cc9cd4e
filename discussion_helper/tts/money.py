"""Money: amounts with a currency, in the order of speech; their numbers stay digits."""

import re
from dataclasses import dataclass

from discussion_helper.tts.vocabulary import Vocabulary

__all__ = ["read_money"]


@dataclass(frozen=True, slots=True)
class _Currency:
    one: str
    many: str
    minor: tuple[str, str] = ("", "")


_LETTERS = ("USD", "EUR", "GBP", "CHF", "JPY", "CAD", "AUD", "INR", "CNY", "BRL")
_CODES = {
    "$": "USD", "US$": "USD", "C$": "CAD", "CA$": "CAD", "A$": "AUD", "AU$": "AUD", "€": "EUR", "£": "GBP", "¥": "JPY",
    "R$": "BRL", "₹": "INR", "₩": "KRW", "₽": "RUB",
    **{code: code for code in _LETTERS},
}  # fmt: skip

_NAMES = {
    "en": {
        "USD": _Currency("dollar", "dollars", ("cent", "cents")),
        "EUR": _Currency("euro", "euros", ("cent", "cents")),
        "GBP": _Currency("pound", "pounds", ("penny", "pence")),
        "CAD": _Currency("Canadian dollar", "Canadian dollars", ("cent", "cents")),
        "AUD": _Currency("Australian dollar", "Australian dollars", ("cent", "cents")),
        "CHF": _Currency("Swiss franc", "Swiss francs"),
        "JPY": _Currency("yen", "yen"),
        "CNY": _Currency("yuan", "yuan"),
        "BRL": _Currency("real", "reais", ("centavo", "centavos")),
        "INR": _Currency("rupee", "rupees"),
        "KRW": _Currency("won", "won"),
        "RUB": _Currency("ruble", "rubles"),
    },
    "de": {
        "USD": _Currency("Dollar", "Dollar", ("Cent", "Cent")),
        "EUR": _Currency("Euro", "Euro", ("Cent", "Cent")),
        "GBP": _Currency("Pfund", "Pfund", ("Penny", "Pence")),
        "CHF": _Currency("Franken", "Franken", ("Rappen", "Rappen")),
        "JPY": _Currency("Yen", "Yen"),
    },
    "fr": {
        "USD": _Currency("dollar", "dollars", ("cent", "cents")),
        "EUR": _Currency("euro", "euros", ("centime", "centimes")),
        "GBP": _Currency("livre", "livres", ("penny", "pence")),
        "CHF": _Currency("franc suisse", "francs suisses", ("centime", "centimes")),
        "JPY": _Currency("yen", "yens"),
    },
    "es": {
        "USD": _Currency("dólar", "dólares", ("centavo", "centavos")),
        "EUR": _Currency("euro", "euros", ("céntimo", "céntimos")),
        "GBP": _Currency("libra", "libras", ("penique", "peniques")),
        "CHF": _Currency("franco suizo", "francos suizos", ("céntimo", "céntimos")),
        "JPY": _Currency("yen", "yenes"),
        "BRL": _Currency("real", "reales", ("centavo", "centavos")),
    },
    "it": {
        "USD": _Currency("dollaro", "dollari", ("centesimo", "centesimi")),
        "EUR": _Currency("euro", "euro", ("centesimo", "centesimi")),
        "GBP": _Currency("sterlina", "sterline", ("penny", "pence")),
        "CHF": _Currency("franco svizzero", "franchi svizzeri", ("centesimo", "centesimi")),
        "JPY": _Currency("yen", "yen"),
    },
    "pt": {
        "USD": _Currency("dólar", "dólares", ("centavo", "centavos")),
        "EUR": _Currency("euro", "euros", ("cêntimo", "cêntimos")),
        "GBP": _Currency("libra", "libras", ("péni", "pence")),
        "CHF": _Currency("franco suíço", "francos suíços", ("cêntimo", "cêntimos")),
        "JPY": _Currency("iene", "ienes"),
        "BRL": _Currency("real", "reais", ("centavo", "centavos")),
    },
    "nl": {
        "USD": _Currency("dollar", "dollar", ("cent", "cent")),
        "EUR": _Currency("euro", "euro", ("cent", "cent")),
        "GBP": _Currency("pond", "pond", ("penny", "pence")),
        "CHF": _Currency("Zwitserse frank", "Zwitserse frank"),
        "JPY": _Currency("yen", "yen"),
    },
}

_SIGN = rf"(?:US|CA?|AU?|R)?\$|[€£¥₹₩₽]|(?<![A-Za-z])(?:{'|'.join(_LETTERS)})(?![A-Za-z])"
_AMOUNT = r"\d++(?:[.,]\d++)*+"
_SCALES = {"k": "thousand", "K": "thousand", "M": "million", "m": "million", "B": "billion", "b": "billion",
           "bn": "billion", "T": "trillion"}  # fmt: skip
_SCALE_WORD = (
    r"hundred|thousand|million|billion|trillion|Millionen|Million|Milliarden|Milliarde|Mrd|Mio|millions|milliards"
    r"|millones|milioni|miliardi|milhões|mil milhões|miljoen|miljard"
)
_SCALE = rf"(?:[ ]?(?P<scale>(?:{_SCALE_WORD})\b|(?:bn|[kKmMbBT])(?![\w])))?"
_TO = rf"(?:[ ]?[-–—][ ]?(?:(?:{_SIGN})[ ]?)?(?P<to>{_AMOUNT}))?"
_BEFORE = re.compile(rf"(?P<minus>(?<![\w)])-)?(?P<sign>{_SIGN})[ ]?(?P<amount>{_AMOUNT}){_TO}{_SCALE}(?![\w])")
_AFTER = re.compile(rf"(?<![\w.,])(?P<minus>-)?(?P<amount>{_AMOUNT}){_TO}{_SCALE}[ ]?(?P<sign>{_SIGN})(?![\w])")


def read_money(text: str, language: str, words: Vocabulary | None) -> str:
    """`text` with "$3.50" as "3 dollars 50"; `words` is the vocabulary of `language`."""
    names = _NAMES.get(language)
    if names is None or words is None:
        return text
    for pattern in (_BEFORE, _AFTER):
        text = pattern.sub(lambda match: _read(match, names, words), text)
    return text


def _read(match: re.Match[str], names: dict[str, _Currency], words: Vocabulary) -> str:
    currency = names.get(_CODES[match["sign"]])
    if currency is None:
        return match[0]
    minus = f"{words.minus} " if match["minus"] else ""
    amount, scale = match["amount"], match["scale"]
    if match["to"]:
        amount = f"{amount} {words.to} {match['to']}"
    if scale or match["to"]:
        return f"{minus}{amount} {_SCALES.get(scale, scale) + ' ' if scale else ''}{currency.many}"
    return minus + _exact(amount, currency, words)


def _exact(amount: str, currency: _Currency, words: Vocabulary) -> str:
    mark = "," if words.comma_decimals else "."
    whole, _, cents = (
        amount.rpartition(mark) if re.search(rf"{re.escape(mark)}\d{{1,2}}$", amount) else (amount, "", "")
    )
    if not whole:
        whole, cents = amount, ""
    name = currency.one if whole == "1" else currency.many
    cents = cents.ljust(2, "0") if cents else ""
    if not cents.strip("0") or not currency.minor[0]:
        return f"{amount if cents.strip('0') else whole} {name}"
    minor = f"{int(cents)} {currency.minor[0] if int(cents) == 1 else currency.minor[1]}"
    if not whole.strip("0"):
        return minor
    return f"{whole} {name} {int(cents)}" if int(cents) >= 10 else f"{whole} {name} {words.and_} {minor}"
