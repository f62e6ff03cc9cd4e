"""Words before which a speaker may pause, in the larger European languages."""

__all__ = ["CONJUNCTIONS", "PREPOSITIONS"]


def _words(*languages: str) -> frozenset[str]:
    return frozenset(word for language in languages for word in language.split())


CONJUNCTIONS = _words(
    "and but or because which who when while although though since unless until if so where whereas before after",
    "und aber oder weil denn wenn während obwohl sondern damit sodass bevor nachdem",
    "et mais ou parce car donc quand lorsque puisque tandis",
    "pero porque cuando mientras aunque sino",
    "ma perché quando mentre anche oppure",
    "mas porque quando enquanto embora",
    "en maar omdat want terwijl hoewel zodat",
)

PREPOSITIONS = _words(
    "about across against along among around at behind between by during for from how into near of on over that "
    "through to toward towards under what why with within without",
    "ab auf aus bei bis durch für gegen mit nach ohne seit über um unter von wie zu zum zur zwischen",
    "avec chez contre dans depuis entre jusque par pendant pour sans sous sur vers",
    "con contra desde durante entre hacia hasta para por según sin sobre",
    "da dopo durante fra negli nella per prima senza sotto sopra tra verso",
    "ao até com da do durante na no pelo pela sem sob",
    "bij door naar onder op over tegen tussen uit van voor zonder",
)
"""These begin a phrase of their own, before which a pause is rare but sounds natural in a long clause."""
