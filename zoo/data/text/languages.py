"""Languages whose words do not stand between blanks, or are not cut by the rules for those that do."""

from __future__ import annotations

import re
from typing import NamedTuple


class Writing(NamedTuple):
    """How a language is written."""

    spaced: bool = True
    """Words have blanks between them; else the rules of `words` find none."""
    bleu: str = "13a"
    """The tokenizer of sacrebleu's that cuts its texts for BLEU."""


WRITINGS = {
    "zh": Writing(spaced=False, bleu="zh"),
    "yue": Writing(spaced=False, bleu="zh"),
    "ja": Writing(spaced=False, bleu="ja-mecab"),
    "ko": Writing(bleu="ko-mecab"),
    "th": Writing(spaced=False, bleu="char"),
    "lo": Writing(spaced=False, bleu="char"),
    "km": Writing(spaced=False, bleu="char"),
    "my": Writing(spaced=False, bleu="char"),
    "bo": Writing(spaced=False, bleu="char"),
}
"""Those that are not as `Writing()` is, by their primary codes."""
SHORTER = {
    "zho": "zh",
    "chi": "zh",
    "cmn": "zh",
    "jpn": "ja",
    "kor": "ko",
    "tha": "th",
    "lao": "lo",
    "khm": "km",
    "mya": "my",
    "bur": "my",
    "bod": "bo",
    "tib": "bo",
}
"""Codes of three letters (ISO 639-2 and 639-3) that have one of two."""


def primary(language: str) -> str:
    """The code of a language alone, without script and country: `zh` of `zh_CN`, `ZH-Hant` and `zho_Hans`."""
    code = re.split("[_-]", language.lower())[0]
    return SHORTER.get(code, code)


def writing(language: str) -> Writing:
    """How a language is written, whatever form its code has."""
    return WRITINGS.get(primary(language), Writing())
