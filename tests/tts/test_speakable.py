"""Speakable text."""

import time

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from discussion_helper.tts.speakable import speakable

ENGLISH = [
    ("# Heading", "Heading."),
    ("## Heading ##", "Heading."),
    ("**Bold** and *it* and __b__ and _i_ and ~~s~~.", "Bold and it and b and i and s."),
    ("**Wow!", "Wow!"),
    ("** Next one.", "Next one."),
    ("**", ""),
    ("***", ""),
    ("- Eggs", "Eggs."),
    ("- [x] Done item", "Done item."),
    ("1. Eggs and ham", "one, Eggs and ham."),
    ("2) Ham", "two, Ham."),
    ("> quoted text", "quoted text"),
    ("| a | b |", "a, b."),
    ("|---|---|", ""),
    ("```py\nx=1\n```", "Code example."),
    ("```", ""),
    ("``` ```", ""),
    ("Here:\n```\ncode\n```\nDone.", "Here: Code example. Done."),
    ("# Title\n\nText here.\n\n- one\n- two", "Title. Text here. one. two."),
    ("Use `foo_bar()` and `x = 1`.", "Use foo bar and x equals one."),
    ("See [the docs](https://example.com/a?b=c) now.", "See the docs now."),
    ("![a cat](cat.png)", "a cat"),
    ("[![badge](a.svg)](https://example.com) text", "badge text"),
    ("[^1] foot[1] note", "foot note"),
    ("Visit https://www.example.com/path?q=1.", "Visit example dot com."),
    ("Visit www.example.com, ok.", "Visit example dot com, ok."),
    ("<https://example.com/a>", "example dot com"),
    ("See (https://example.com).", "See, example dot com."),
    ("file:///etc/passwd", "slash etc slash passwd"),
    ("Mail me.you@example.org now.", "Mail me dot you at example dot org now."),
    ("<b>hi</b> &amp; bye<br>now", "hi and bye now"),
    ("&lt;b&gt; &nbsp; text", "b text"),
    ("Great 👍🏽 job 🎉!", "Great job!"),
    ("👋", ""),
    ("1\ufe0f\u20e3 one", "one one"),
    ("👨\u200d👩\u200d👧 family 🇩🇪", "family"),
    ("Dr. Smith met Mr. Jones vs. Mrs. Lee.", "Doctor Smith met Mister Jones versus Missus Lee."),
    ("St. Louis and Main St. today", "Saint Louis and Main Street today"),
    ("He lives on Main St.", "He lives on Main Street."),
    ("E.g. apples, i.e. fruit, etc.", "For example apples, that is fruit, et cetera."),
    ("NASA and U.S.A. and U.S. and A.I. and Ph.D.", "NASA and USA and US and AI and PhD."),
    ("J. K. Rowling wrote it.", "J K Rowling wrote it."),
    ("So did I. Then", "So did I. Then"),
    ("No. 5 and Fig. 3 and Jan. 5", "number five and figure three and January fifth"),
    ("No. I can't.", "No. I can't."),
    ("Fish & chips w/ salt w/o vinegar", "Fish and chips with salt without vinegar"),
    ("It costs $3.50.", "It costs three dollars fifty."),
    ("$1", "one dollar"),
    ("$0.05", "five cents"),
    ("$3.05", "three dollars and five cents"),
    ("$1,200.50", "one thousand two hundred dollars fifty"),
    ("€5 or 5€", "five euros or five euros"),
    ("£3.20", "three pounds twenty"),
    ("$3.5 million", "three point five million dollars"),
    ("$5k", "five thousand dollars"),
    ("$5-10", "five to ten dollars"),
    ("Price: $5–$10", "Price: five to ten dollars"),
    ("-$5", "minus five dollars"),
    ("5 USD", "five dollars"),
    ("$5/month", "five dollars per month"),
    ("50% off", "fifty percent off"),
    ("3.5 %", "three point five percent"),
    ("1st, 2nd, 3rd, 21st", "first, second, third, twenty-first"),
    ("3.14", "three point one four"),
    ("1,234,567", "one million two hundred and thirty-four thousand five hundred and sixty-seven"),
    (".5", "point five"),
    ("-5", "minus five"),
    ("007", "zero zero seven"),
    ("1,2,3 go", "one, two, three go"),
    ("123456789012345678", "one two three four five six seven eight nine zero one two three four five six seven eight"),
    ("14:30", "fourteen thirty"),
    ("9:00", "nine o'clock"),
    ("2:05 pm", "two oh five PM"),
    ("14:00", "fourteen hundred"),
    ("5 p.m.", "five PM."),
    ("00:00", "midnight"),
    (
        "In 1999, 2024, 2005, 1905",
        "In nineteen ninety-nine, twenty twenty-four, two thousand and five, nineteen oh-five",
    ),
    ("the 1990s and '80s", "the nineteen nineties and eighties"),
    ("2024-05-03", "May third, twenty twenty-four"),
    ("May 3, 2024", "May third, twenty twenty-four"),
    ("2024-05-03T14:30:00Z", "May third, twenty twenty-four, fourteen thirty"),
    ("5 km and 1 km", "five kilometers and one kilometer"),
    ("20°C", "twenty degrees Celsius"),
    ("10 MB", "ten megabytes"),
    ("100 km/h", "one hundred kilometers per hour"),
    ("30 m²", "thirty square meters"),
    ("5'10\"", "five feet ten"),
    ("1/2", "one half"),
    ("3/4", "three quarters"),
    ("1 1/2", "one and a half"),
    ("½ and 2½", "one half and two and a half"),
    ("24/7", "twenty-four seven"),
    ("3-5 people", "three to five people"),
    ("10–20", "ten to twenty"),
    ("2019-2020", "twenty nineteen to twenty twenty"),
    ("#1", "number one"),
    ("#python", "python"),
    ("Q&A", "Q and A"),
    ("@bob", "at bob"),
    ("2 + 2 = 4", "two plus two equals four"),
    ("3 × 4 ÷ 2", "three times four divided by two"),
    ("2 * 3", "two times three"),
    ("5 - 3 = 2", "five minus three equals two"),
    ("x² + y^2", "x squared plus y squared"),
    ("3 < 5", "three less than five"),
    ("x ≤ 5", "x at most five"),
    ("~10 people", "about ten people"),
    ("10x faster, 50+ people", "ten times faster, fifty plus people"),
    ("src/main.py", "src slash main dot py"),
    ("/usr/local/bin", "slash usr slash local slash bin"),
    ("and/or", "and or"),
    ("C++ and C#", "C plus plus and C sharp"),
    ("v2.0.1", "version two dot zero dot one"),
    ("192.168.1.1", "one hundred and ninety-two dot one hundred and sixty-eight dot one dot one"),
    ("Call 555-1234", "Call five five five, one two three four"),
    ("Wait... what? Well…", "Wait, what? Well."),
    ("...and then", "and then"),
    ('He said "hello" (quietly) and left.', "He said hello quietly and left."),
    ("A — b – c - d", "A, b, c, d"),
    ("What?!! Really!!!", "What? Really!"),
    ("! Yes", "Yes"),
    ("a -> b", "a, b"),
    ("COVID-19 and GPT-4o", "COVID-nineteen and GPT-4o"),
    ("$x^2$ is", "x squared is"),
    ("\\frac{1}{2} \\times 3", "one half times three"),
    ('{"a": 1}', "a: one"),
    ("the user's 'quoted' text", "the user's quoted text"),
    ("Don’t.", "Don't."),
    ("Hello\u0000\u0007\u200bworld", "Helloworld"),
    ("[[h@]] there", "h at there"),
    (",", ""),
]

OTHERS = [
    (
        "de",
        "Am 3. Oktober 1999 kostet es 3,50 € bzw. 1.000 km, z.B. 5 %.",
        "Am dritten Oktober neunzehnhundertneunundneunzig kostet es drei Euro fünfzig beziehungsweise eintausend "
        "Kilometer, zum Beispiel fünf Prozent.",
    ),
    ("de", "Um 14:30 Uhr", "Um vierzehn Uhr dreißig"),
    ("de-AT", "Hr. Dr. Huber & Co", "Herr Doktor Huber und Co"),
    (
        "fr",
        "Il coûte 3,50 € à 14h30, soit 3,5 %.",
        "Il coûte trois euros cinquante à quatorze heures trente, soit trois virgule cinq pour cent.",
    ),
    ("fr", "1 234 567 personnes", "un million deux cent trente-quatre mille cinq cent soixante-sept personnes"),
    ("fr", "le 1er mai", "le premier mai"),
    ("es", "Cuesta $3,50 y 5 km/h.", "Cuesta tres dólares cincuenta y cinco kilómetros por hora."),
    ("it", "Costa 3,5 €", "Costa tre euro cinquanta"),
    ("pt", "Custa 50 %", "Custa cinquenta por cento"),
    ("nl", "Om 14:30 uur", "Om veertien uur dertig"),
    ("de", "22,1 °C, um 10.30 Uhr", "zweiundzwanzig Komma eins Grad Celsius, um zehn Uhr dreißig"),
    ("de", "am 03.10.2024", "am dritten Oktober zweitausendvierundzwanzig"),
    ("de", "3. Mai", "dritter Mai"),
    ("de", "3. Eier", "drei, Eier."),
    ("de", "1,5 Mio. € in 20 Min.", "eins Komma fünf Millionen Euro in zwanzig Minuten."),
    ("fr", "Mme Durand, M. Petit, n° 5", "Madame Durand, Monsieur Petit, numéro cinq"),
    ("fr", "le 03/10/2024 à 12 h", "le trois octobre deux mille vingt-quatre à douze heures"),
    (
        "es",
        "El 03/10/2024, n.º 5, 1.º y 2.ª",
        "El tres de octubre de dos mil veinticuatro, número cinco, primero y segunda",
    ),
    ("it", "Sig.ra Verdi e Dott.ssa Bianchi", "Signora Verdi e Dottoressa Bianchi"),
    ("it", "22,1 °C, 5 km/h, £20", "ventidue virgola uno gradi Celsius, cinque chilometri all'ora, venti sterline"),
    ("it", "Il 1° maggio alle ore 10.30", "Il primo maggio alle ore dieci e trenta"),
    ("pt", "R$ 3,50, 10 kg, às 10h30", "três reais cinquenta, dez quilogramas, às dez e trinta"),
    ("pt", "1º de maio, em 03/10/2024", "primeiro de maio, em três de outubro de dois mil e vinte e quatro"),
    ("nl", "op 03-10-2024 om 10.30 uur", "op drie oktober tweeduizendvierentwintig om tien uur dertig"),
    ("nl", "dr. Bakker, 50 km/u, 1e, £20", "dokter Bakker, vijftig kilometer per uur, eerste, twintig pond"),
    ("ja", "１，０００円、￥50", "1,000円、¥50"),
    ("hi", "₹500", "₹500"),
    ("ja", "３個で100円です。「はい」", "3個で100円です。 はい"),
    ("zh", "你好，3个，50%！😊", "你好，3个，50%！"),
    ("hi", "**नमस्ते।** 5 किलो", "नमस्ते। 5 किलो"),
    ("fa", "می\u200cخواهم", "می\u200cخواهم"),
    ("xx", "**5 km** $3", "5 km $3"),
]


@pytest.mark.parametrize(("written", "spoken"), ENGLISH)
def test_english(written: str, spoken: str) -> None:
    assert speakable(written) == spoken


@pytest.mark.parametrize(("language", "written", "spoken"), OTHERS)
def test_other_languages(language: str, written: str, spoken: str) -> None:
    assert speakable(written, language) == spoken


@pytest.mark.parametrize(
    ("language", "written"), [("en", "It is $5.3,50."), ("en", "$1.2.3,4"), ("fr", "€5,3.50"), ("de", "5,3.50 €")]
)
def test_an_amount_with_odd_marks_is_read_somehow(language: str, written: str) -> None:
    spoken = speakable(written, language)
    assert spoken
    assert not any(map(str.isdigit, spoken))


def test_a_marker_split_over_two_clauses_is_not_spoken() -> None:
    assert [speakable(clause) for clause in ("**Note:", "it works.", "** Then `run", "it` again.")] == [
        "Note:",
        "it works.",
        "Then run",
        "it again.",
    ]


PIECES = [
    *[
        "**",
        "*",
        "_",
        "__",
        "`",
        "```",
        "```\n",
        "~~~",
        "# ",
        "\n",
        "\n- ",
        "\n1. ",
        "> ",
        "|",
        "[",
        "](",
        ")",
        "![",
        "<b>",
    ],
    *[
        "</",
        "&amp;",
        "&lt;",
        "&#35;",
        "https://",
        "www.",
        "a.b",
        "x@y.z",
        "$",
        "€",
        "3.50",
        "1,000",
        "-5",
        "%",
        "°C",
        " km",
    ],
    *[
        "½",
        "²",
        "^2",
        "3/4",
        "14:30",
        "2024-05-03",
        "Dr.",
        "e.g.",
        "U.S.",
        " St. ",
        "👍🏽",
        "🇩🇪",
        "\u200d",
        "\ufe0f",
        "…",
        "—",
    ],
    *[
        " ",
        "word",
        "Word",
        "I",
        "你好。",
        "नमस्ते।",
        "\x00",
        "\x1b[0m",
        "'",
        '"',
        "“",
        "(",
        "!",
        "?",
        ".",
        ",",
        ";",
        ":",
        "/",
        "\\",
    ],
    *[
        "#1",
        "1st",
        "1990s",
        "#",
        "@",
        "&",
        "+",
        "=",
        "×",
        "<",
        ">",
        "~",
        "v1.2",
        "{",
        "}",
        "[[",
        "]]",
        "0",
        "7",
        "\\frac{1}{2}",
    ],
]
TEXTS = st.one_of(st.text(max_size=60), st.lists(st.sampled_from(PIECES), max_size=25).map("".join))
LANGUAGES = st.sampled_from(["en", "de", "fr", "es", "it", "pt", "pt-BR", "nl", "zh", "ja", "ar", "am", "xx", ""])


@given(TEXTS, LANGUAGES)
@settings(max_examples=1500)
@example("\ud800", "en")
def test_nothing_unspeakable_is_left(text: str, language: str) -> None:
    spoken = speakable(text, language)
    assert not set(spoken) & set('*_`#|~^\\<>[]{}\n\t\x00\x1b\ufffd👍🏽🇩\ufe0f“”"')
    assert "://" not in spoken
    assert spoken == " ".join(spoken.split())
    assert not spoken or any(map(str.isalnum, spoken))


@given(TEXTS, LANGUAGES)
@settings(max_examples=1500)
def test_what_is_speakable_stays_as_it_is(text: str, language: str) -> None:
    spoken = speakable(text, language)
    assert speakable(spoken, language) == spoken


@pytest.mark.parametrize(
    "letters", ["abc", "über straße", "Привет мир", "你好世界", "สวัสดี", "नमस्ते", "مرحبا", "γειά σου"]
)
def test_plain_words_are_left_alone(letters: str) -> None:
    assert speakable(letters) == letters


@pytest.mark.parametrize(
    "text",
    [
        *PIECES,
        *[
            "a",
            "1 ",
            "12345 ",
            "[x](",
            "[x](()",
            "(a",
            "a@",
            "a.",
            "a-",
            "$1 ",
            "1-",
            "1.",
            "1,",
            "etc. ",
            "<a ",
            "&",
            "a/",
        ],
        *[
            "1:1",
            "``` ",
            "`a",
            "*a",
            "$_",
            "+1 ",
            "(1) ",
            "a b",
            "\n>",
            "1 000 ",
            "J. ",
            "\\frac{",
            "<!--",
            " - ",
            "a' ",
        ],
    ],
)
def test_time_is_linear_in_the_text(text: str) -> None:
    hostile = text * (20_000 // len(text))
    started = time.process_time()
    speakable(hostile)
    assert time.process_time() - started < 1.5


def test_a_very_long_text_takes_no_more_than_a_second_or_two() -> None:
    hostile = "".join(PIECES) * (100_000 // len("".join(PIECES)))
    started = time.process_time()
    speakable(hostile)
    assert time.process_time() - started < 4
