"""Units of measure after a number, and percent, in words; the numbers stay digits."""

import re
from functools import cache

from discussion_helper.tts.vocabulary import Vocabulary

__all__ = ["read_units"]

# symbol: one | many (the same when there is one form)
_UNITS = {
    "en": """
        km: kilometer|kilometers; m: meter|meters; cm: centimeter|centimeters; mm: millimeter|millimeters
        µm: micrometer|micrometers; nm: nanometer|nanometers; mi: mile|miles; ft: foot|feet; yd: yard|yards
        km²: square kilometer|square kilometers; m²: square meter|square meters; m³: cubic meter|cubic meters
        kg: kilogram|kilograms; g: gram|grams; mg: milligram|milligrams; lb: pound|pounds; lbs: pound|pounds
        oz: ounce|ounces; l: liter|liters; L: liter|liters; ml: milliliter|milliliters; mL: milliliter|milliliters
        km/h: kilometer per hour|kilometers per hour; kmh: kilometer per hour|kilometers per hour
        kph: kilometer per hour|kilometers per hour; mph: mile per hour|miles per hour
        m/s: meter per second|meters per second; h: hour|hours; hr: hour|hours; hrs: hour|hours; min: minute|minutes
        mins: minute|minutes; sec: second|seconds; secs: second|seconds; s: second|seconds
        ms: millisecond|milliseconds; µs: microsecond|microseconds; ns: nanosecond|nanoseconds
        kB: kilobyte|kilobytes; KB: kilobyte|kilobytes; MB: megabyte|megabytes; GB: gigabyte|gigabytes
        TB: terabyte|terabytes; PB: petabyte|petabytes; KiB: kibibyte|kibibytes; MiB: mebibyte|mebibytes
        GiB: gibibyte|gibibytes; kbps: kilobit per second|kilobits per second
        Mbps: megabit per second|megabits per second
        Gbps: gigabit per second|gigabits per second; Hz: hertz; kHz: kilohertz; MHz: megahertz; GHz: gigahertz
        W: watt|watts; kW: kilowatt|kilowatts; MW: megawatt|megawatts; kWh: kilowatt hour|kilowatt hours
        V: volt|volts; mAh: milliamp hour|milliamp hours; dB: decibel|decibels; kcal: kilocalorie|kilocalories
        kPa: kilopascal|kilopascals; px: pixel|pixels; °C: degree Celsius|degrees Celsius
        °F: degree Fahrenheit|degrees Fahrenheit; °: degree|degrees
    """,
    "de": """
        km: Kilometer; m: Meter; cm: Zentimeter; mm: Millimeter; km²: Quadratkilometer; m²: Quadratmeter
        m³: Kubikmeter; kg: Kilogramm; g: Gramm; mg: Milligramm; l: Liter; ml: Milliliter; km/h: Kilometer pro Stunde
        m/s: Meter pro Sekunde; h: Stunde|Stunden; Std: Stunde|Stunden; min: Minute|Minuten; s: Sekunde|Sekunden
        ms: Millisekunde|Millisekunden; kB: Kilobyte; KB: Kilobyte; MB: Megabyte; GB: Gigabyte; TB: Terabyte
        Hz: Hertz; kHz: Kilohertz; MHz: Megahertz; GHz: Gigahertz; W: Watt; kW: Kilowatt
        kWh: Kilowattstunde|Kilowattstunden
        Min: Minute|Minuten; V: Volt; dB: Dezibel; °C: Grad Celsius; °F: Grad Fahrenheit; °: Grad
    """,
    "fr": """
        km: kilomètre|kilomètres; m: mètre|mètres; cm: centimètre|centimètres; mm: millimètre|millimètres
        km²: kilomètre carré|kilomètres carrés; m²: mètre carré|mètres carrés; m³: mètre cube|mètres cubes
        kg: kilogramme|kilogrammes; g: gramme|grammes; mg: milligramme|milligrammes; l: litre|litres; L: litre|litres
        ml: millilitre|millilitres; km/h: kilomètre heure|kilomètres heure; m/s: mètre par seconde|mètres par seconde
        h: heure|heures; kWh: kilowattheure|kilowattheures
        min: minute|minutes; s: seconde|secondes; ms: milliseconde|millisecondes; Ko: kilooctet|kilooctets
        Mo: mégaoctet|mégaoctets; Go: gigaoctet|gigaoctets; MB: mégaoctet|mégaoctets; GB: gigaoctet|gigaoctets
        Hz: hertz; kHz: kilohertz; MHz: mégahertz; GHz: gigahertz; W: watt|watts; kW: kilowatt|kilowatts
        V: volt|volts; dB: décibel|décibels; °C: degré Celsius|degrés Celsius; °F: degré Fahrenheit|degrés Fahrenheit
        °: degré|degrés
    """,
    "es": """
        km: kilómetro|kilómetros; m: metro|metros; cm: centímetro|centímetros; mm: milímetro|milímetros
        km²: kilómetro cuadrado|kilómetros cuadrados; m²: metro cuadrado|metros cuadrados
        m³: metro cúbico|metros cúbicos
        kg: kilogramo|kilogramos; g: gramo|gramos; mg: miligramo|miligramos; l: litro|litros; L: litro|litros
        ml: mililitro|mililitros; km/h: kilómetro por hora|kilómetros por hora
        m/s: metro por segundo|metros por segundo
        h: hora|horas; min: minuto|minutos; s: segundo|segundos; ms: milisegundo|milisegundos
        kB: kilobyte|kilobytes; KB: kilobyte|kilobytes; MB: megabyte|megabytes; GB: gigabyte|gigabytes
        Hz: hercio|hercios; kHz: kilohercio|kilohercios; MHz: megahercio|megahercios; GHz: gigahercio|gigahercios
        kWh: kilovatio hora|kilovatios hora
        W: vatio|vatios; kW: kilovatio|kilovatios; V: voltio|voltios; dB: decibelio|decibelios
        °C: grado Celsius|grados Celsius; °F: grado Fahrenheit|grados Fahrenheit; °: grado|grados
    """,
    "it": """
        km: chilometro|chilometri; m: metro|metri; cm: centimetro|centimetri; mm: millimetro|millimetri
        km²: chilometro quadrato|chilometri quadrati; m²: metro quadrato|metri quadrati; m³: metro cubo|metri cubi
        kg: chilogrammo|chilogrammi; g: grammo|grammi; mg: milligrammo|milligrammi; l: litro|litri; L: litro|litri
        ml: millilitro|millilitri; km/h: chilometro all'ora|chilometri all'ora
        m/s: metro al secondo|metri al secondo; h: ora|ore; min: minuto|minuti; s: secondo|secondi
        ms: millisecondo|millisecondi; kB: kilobyte; KB: kilobyte; MB: megabyte; GB: gigabyte; TB: terabyte
        Hz: hertz; kHz: chilohertz; MHz: megahertz; GHz: gigahertz; W: watt; kW: chilowatt
        kWh: chilowattora; V: volt; dB: decibel
        °C: grado Celsius|gradi Celsius; °F: grado Fahrenheit|gradi Fahrenheit; °: grado|gradi
    """,
    "pt": """
        km: quilómetro|quilómetros; m: metro|metros; cm: centímetro|centímetros; mm: milímetro|milímetros
        km²: quilómetro quadrado|quilómetros quadrados; m²: metro quadrado|metros quadrados
        m³: metro cúbico|metros cúbicos; kg: quilograma|quilogramas; g: grama|gramas; mg: miligrama|miligramas
        l: litro|litros; L: litro|litros; ml: mililitro|mililitros
        km/h: quilómetro por hora|quilómetros por hora; m/s: metro por segundo|metros por segundo
        h: hora|horas; min: minuto|minutos; s: segundo|segundos; ms: milissegundo|milissegundos
        kB: kilobyte|kilobytes; KB: kilobyte|kilobytes; MB: megabyte|megabytes; GB: gigabyte|gigabytes
        TB: terabyte|terabytes; Hz: hertz; kHz: quilohertz; MHz: megahertz; GHz: gigahertz
        W: watt|watts; kW: quilowatt|quilowatts; kWh: quilowatt-hora|quilowatts-hora; V: volt|volts
        dB: decibel|decibéis; °C: grau Celsius|graus Celsius; °F: grau Fahrenheit|graus Fahrenheit; °: grau|graus
    """,
    "nl": """
        km: kilometer; m: meter; cm: centimeter; mm: millimeter; km²: vierkante kilometer; m²: vierkante meter
        m³: kubieke meter; kg: kilogram; g: gram; mg: milligram; l: liter; L: liter; ml: milliliter
        km/u: kilometer per uur; km/h: kilometer per uur; m/s: meter per seconde; u: uur; h: uur
        min: minuut|minuten; s: seconde|seconden; ms: milliseconde|milliseconden
        kB: kilobyte; KB: kilobyte; MB: megabyte; GB: gigabyte; TB: terabyte; Hz: hertz; kHz: kilohertz
        MHz: megahertz; GHz: gigahertz; W: watt; kW: kilowatt; kWh: kilowattuur; V: volt; dB: decibel
        °C: graden Celsius; °F: graden Fahrenheit; °: graden
    """,
}

_PERCENT = re.compile(r"(?<=\d)[ ]?%")
_FEET_AND_INCHES = re.compile(r"(?<![\w.,])(\d{1,2})'[ ]?(\d{1,2})(?:\"|''|(?!\w))")


def read_units(text: str, language: str, words: Vocabulary | None) -> str:
    """`text` with "5 km" as "5 kilometers" and "5%" as "5 percent"; `words` is the vocabulary of `language`."""
    if words is not None:
        text = _PERCENT.sub(f" {words.percent}", text)
    if language == "en":
        text = _FEET_AND_INCHES.sub(r"\1 feet \2", text)
    if language not in _UNITS:
        return text
    pattern, names = _pattern(language)
    return pattern.sub(lambda match: _read(match, names), text)


def _read(match: re.Match[str], names: dict[str, tuple[str, str]]) -> str:
    one, many = names[match["unit"].replace("2", "²").replace("3", "³").replace("^", "")]
    return f"{match['number']} {one if match['number'] == '1' else many}"


@cache
def _pattern(language: str) -> tuple[re.Pattern[str], dict[str, tuple[str, str]]]:
    names: dict[str, tuple[str, str]] = {}
    for entry in _UNITS[language].replace("\n", ";").split(";"):
        symbol, _, forms = entry.strip().partition(": ")
        one, _, many = forms.partition("|")
        if symbol:
            names[symbol] = (one, many or one)
    symbols = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
    symbols = symbols.replace("²", r"(?:²|\^?2)").replace("³", r"(?:³|\^?3)")
    return re.compile(rf"(?<![\w.,])(?P<number>\d++(?:[.,]\d++)*+)[ -]?(?P<unit>{symbols})(?![\w²³/°])"), names
