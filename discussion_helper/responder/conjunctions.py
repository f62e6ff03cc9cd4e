"""Words before which a speaker may pause, in the larger European languages."""

__all__ = ["CONJUNCTIONS"]

CONJUNCTIONS = frozenset(
    word
    for language in (
        "and but or because which who when while although though since unless until if so where whereas before after",
        "und aber oder weil denn wenn während obwohl sondern damit sodass bevor nachdem",
        "et mais ou parce car donc quand lorsque puisque tandis",
        "pero porque cuando mientras aunque sino",
        "ma perché quando mentre anche oppure",
        "mas porque quando enquanto embora",
        "en maar omdat want terwijl hoewel zodat",
    )
    for word in language.split()
)
