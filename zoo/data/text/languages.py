"""Languages without blanks between words, and the tokenizers of BLEU for them."""

import re
from typing import NamedTuple


class Writing(NamedTuple):
    """How a language is written."""

    spaced: bool = True
    """Whether words have blanks between them. Otherwise the rules of `words` find none."""
    bleu: str = "13a"
    """The tokenizer of sacrebleu that cuts its texts for BLEU."""


WRITINGS = {
    "zh": Writing(spaced=False, bleu="zh"),
    "yue": Writing(spaced=False, bleu="zh"),
    "ja": Writing(spaced=False, bleu="ja-mecab"),
    "ko": Writing(bleu="ko-mecab"),
    **dict.fromkeys(("th", "lo", "km", "my", "bo"), Writing(spaced=False, bleu="char")),
}
"""Languages that differ from `Writing()`, by their primary codes."""
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
"""Codes of two letters for codes of three letters (ISO 639-2 and 639-3)."""


def primary(language: str) -> str:
    """The code of a language without script and country: `zh` for `zh_CN`, `ZH-Hant` and `zho_Hans`."""
    code = re.split("[_-]", language.lower())[0]
    return SHORTER.get(code, code)


def writing(language: str) -> Writing:
    """How a language is written, for any form of its code."""
    return WRITINGS.get(primary(language), Writing())
