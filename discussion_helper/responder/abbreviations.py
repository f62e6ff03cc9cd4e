"""Abbreviations whose full stop does not end a sentence, in the larger European languages."""

__all__ = ["BEFORE_NUMBER", "MAYBE_FINAL", "NEVER_FINAL", "ORDINAL_ARTICLES", "TITLES"]


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


TITLES = _words("""
    Mr Mrs Ms Mx Dr Drs Prof Rev Hon Gen Col Capt Cpt Cmdr Lt Sgt Sen Rep Gov Pres Supt Fr Sr Sra Srta St Ste Mt Ft
    Hr Hrn Dipl Mme Mlle MM Dra Sta Sto Sig Dott Ing Avv Dhr Mevr Messrs Esq Ven
    dr drs prof mw dhr mevr Mw Mio Mrd EE
""")
"""Before a name; written as they are here, since "mio" is an Italian word. Before a noun "Mio", "Mrd", "EE"."""

NEVER_FINAL = _words("""
    vs cf viz eg ie bzw vgl ggf evtl sog inkl exkl bijv resp av dept univ напр
    e.g i.e z.b d.h p.ex т.е
    aprox núm dña
""")
"""Always followed by what they introduce."""

BEFORE_NUMBER = _words("""
    no nos nr num núm fig figs eq p pp pg pag pág vol ch chap sec art par para ver tel ext
    jan feb mar apr jun jul aug sep sept oct nov dec mon tue wed thu fri sat sun стр рис гл
""")
"""Abbreviations only when a number follows; otherwise the word ends its sentence ("No. I can't.")."""

MAYBE_FINAL = _words("""
    etc al ex inc ltd co corp jr sr bros min max approx ca est misc usw usf ecc enz env ave blvd rd hwy
    uu std sek
    oz lb lbs ft in hr hrs secs kg km cm mm г руб
    a.m p.m u.a т.д т.п
""")
"""End the sentence unless a lower-case word or a digit follows."""

ORDINAL_ARTICLES = _words("am vom zum der den dem des im bis seit ab die das")
"""German words before an ordinal written "3."."""
