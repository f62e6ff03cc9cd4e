"""Texts that a part meets sooner or later."""

__all__ = ["LONG_TEXTS", "NOTHING", "ODD"]

NOTHING = ("", " ", "\n")
ODD = ("\N{GRINNING FACE}", "\0", "\ud800", "世界", "<b>&amp;</b>", "1e309 %s {} \\", "\u202ehi\u202c", "...", "a\r\nb")
_SENTENCE = "The train leaves from platform four at ten past nine. "
LONG_TEXTS = ((_SENTENCE * 200)[:10_000], "a" * 10_000)
"""10,000 characters each: with spaces and without."""
