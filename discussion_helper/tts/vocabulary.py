"""Vocabulary: the words for signs, dates and code in the languages that have a table here."""

from dataclasses import dataclass, field

__all__ = ["Vocabulary", "base_language", "vocabulary"]


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """What signs are called."""

    and_: str
    at: str
    dot: str
    slash: str
    number: str
    percent: str
    degrees: str
    plus: str
    minus: str
    times: str
    divided: str
    equals: str
    less: str
    more: str
    at_most: str
    at_least: str
    unequal: str
    about: str
    to: str
    """Between the ends of a range."""
    code: str
    """Said in place of a block of code."""
    date: str
    """Format of a date with {day}, {month} and {year}."""
    point: str
    """The decimal mark, read out."""
    months: tuple[str, ...] = field(repr=False)
    clock: str = ""
    """Between hours and minutes."""
    comma_decimals: bool = True


def base_language(language: str) -> str:
    """ "en" of "en", "en-GB" or "en_US"."""
    return language.lower().replace("_", "-").split("-")[0]


def vocabulary(language: str) -> Vocabulary | None:
    """The table of a language, None when there is none."""
    return _TABLES.get(base_language(language))


def _months(text: str) -> tuple[str, ...]:
    return tuple(text.split())


_TABLES = {
    "en": Vocabulary(
        and_="and", at="at", dot="dot", slash="slash", number="number", percent="percent", degrees="degrees",
        plus="plus", minus="minus", times="times", divided="divided by", equals="equals",
        less="less than", more="greater than", at_most="at most", at_least="at least", unequal="is not equal to",
        about="about", to="to", code="Code example.",
        date="{month} {day}{suffix}, {year}", point="point", comma_decimals=False,
        months=_months("January February March April May June July August September October November December"),
    ),
    "de": Vocabulary(
        and_="und", at="at", dot="Punkt", slash="Schrägstrich", number="Nummer", percent="Prozent", degrees="Grad",
        plus="plus", minus="minus", times="mal", divided="geteilt durch", equals="gleich",
        less="kleiner als", more="größer als", at_most="höchstens", at_least="mindestens", unequal="ungleich",
        about="etwa", to="bis", code="Codebeispiel.",
        date="{day}. {month} {year}", point="Komma", clock="Uhr",
        months=_months("Januar Februar März April Mai Juni Juli August September Oktober November Dezember"),
    ),
    "fr": Vocabulary(
        and_="et", at="arobase", dot="point", slash="barre oblique", number="numéro", percent="pour cent",
        degrees="degrés", plus="plus", minus="moins", times="fois", divided="divisé par", equals="égale",
        less="inférieur à", more="supérieur à", at_most="au plus", at_least="au moins", unequal="différent de",
        about="environ", to="à", code="Exemple de code.",
        date="{day} {month} {year}", point="virgule", clock="heures",
        months=_months("janvier février mars avril mai juin juillet août septembre octobre novembre décembre"),
    ),
    "es": Vocabulary(
        and_="y", at="arroba", dot="punto", slash="barra", number="número", percent="por ciento", degrees="grados",
        plus="más", minus="menos", times="por", divided="entre", equals="igual a",
        less="menor que", more="mayor que", at_most="como mucho", at_least="como mínimo", unequal="distinto de",
        about="unos", to="a", code="Ejemplo de código.",
        date="{day} de {month} de {year}", point="coma", clock="y",
        months=_months("enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre"),
    ),
    "it": Vocabulary(
        and_="e", at="chiocciola", dot="punto", slash="barra", number="numero", percent="per cento", degrees="gradi",
        plus="più", minus="meno", times="per", divided="diviso", equals="uguale a",
        less="minore di", more="maggiore di", at_most="al massimo", at_least="almeno", unequal="diverso da",
        about="circa", to="a", code="Esempio di codice.",
        date="{day} {month} {year}", point="virgola", clock="e",
        months=_months(
            "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre"
        ),
    ),
    "pt": Vocabulary(
        and_="e", at="arroba", dot="ponto", slash="barra", number="número", percent="por cento", degrees="graus",
        plus="mais", minus="menos", times="vezes", divided="dividido por", equals="igual a",
        less="menor que", more="maior que", at_most="no máximo", at_least="no mínimo", unequal="diferente de",
        about="cerca de", to="a", code="Exemplo de código.",
        date="{day} de {month} de {year}", point="vírgula", clock="e",
        months=_months("janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro"),
    ),
    "nl": Vocabulary(
        and_="en", at="apenstaartje", dot="punt", slash="schuine streep", number="nummer", percent="procent",
        degrees="graden", plus="plus", minus="min", times="keer", divided="gedeeld door", equals="is",
        less="kleiner dan", more="groter dan", at_most="hoogstens", at_least="minstens", unequal="ongelijk aan",
        about="ongeveer", to="tot", code="Codevoorbeeld.",
        date="{day} {month} {year}", point="komma", clock="uur",
        months=_months("januari februari maart april mei juni juli augustus september oktober november december"),
    ),
}  # fmt: skip
