"""The languages that a recogniser may know."""

__all__ = ["LANGUAGES"]

_CODES = """
af am ar as az ba be bg bn bo br bs ca cs cy da de el en es et eu fa fi fo fr gl gu ha haw he hi hr ht hu hy id is it
ja jw ka kk km kn ko la lb ln lo lt lv mg mi mk ml mn mr ms mt my ne nl nn no oc pa pl ps pt ro ru sa sd si sk sl sn so
sq sr su sv sw ta te tg th tk tl tr tt uk ur uz vi yi yo yue zh
"""
LANGUAGES = frozenset(_CODES.split())
"""Codes of those that Whisper's multilingual models have a token for (its tokenizer.json); the newest one, yue, only
from large-v3 on."""
