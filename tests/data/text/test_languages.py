"""One table of languages: what refuses words where there are no blanks, and what BLEU is counted by."""

import pytest
from sacrebleu.metrics import BLEU

from zoo.data.text.options import (
    SHORTER,
    WRITINGS,
    SentenceOptions,
    TokenOptions,
    Writing,
    check_language,
    primary,
    writing,
)
from zoo.data.text.tokenization import RuleTokenizer, TreebankTokenizer, tokenizer_of
from zoo.errors import ConfigError
from zoo.metrics import bleu_tokenizer

GOOD_FOOD = {
    "zh": "这家餐厅很好",
    "yue": "呢間餐廳好好",
    "ja": "とても美味しかった",
    "ko": "음식이 아주 좋았어요",
    "th": "อาหารอร่อยมาก",
    "lo": "ອາຫານແຊບຫຼາຍ",
    "km": "អាហារឆ្ងាញ់ណាស់",
    "my": "အစားအစာကောင်းတယ်",
    "bo": "ཁ་ལག་ཞིམ་པོ་འདུག",
}
"""A few words in every language of the table."""
FORMS = "zh zh_CN=zh ZH-Hant=zh zho_Hans=zh cmn=zh yue_Hant=yue jpn_Jpan=ja kor=ko th_TH=th bod_Tibt=bo de_AT=de en deu"
"""Codes, and their primary ones where these differ."""


@pytest.mark.parametrize("form", FORMS.split())
def test_a_language_is_the_same_with_script_and_country(form):
    code, _, language = form.partition("=")
    assert primary(code) == (language or code)
    assert writing(code) == writing(language or code)


@pytest.mark.parametrize("language", WRITINGS)
def test_the_table_covers_every_language(language):
    """Where blanks do not part words, `words` is refused; and BLEU cuts what it has no blank to cut at."""
    text = GOOD_FOOD[language]
    assert writing(language).spaced == (" " in text)
    for code in [f"{language}_XX", *(code for code, short in SHORTER.items() if short == language)]:
        if writing(language).spaced:
            check_language("words", code)
        else:
            with pytest.raises(ConfigError, match=rf"tokenizer=words has no rules for the language '{code}': "):
                check_language("words", code)
        check_language("characters", code)
    tokenizer, missing = bleu_tokenizer(writing(language).bleu)
    assert missing in (None, writing(language).bleu)
    assert tokenizer != Writing().bleu
    assert len(BLEU(tokenize=tokenizer).tokenizer(text).split()) > 2


def test_the_short_codes_are_those_of_the_table():
    assert set(SHORTER.values()) <= set(WRITINGS) == set(GOOD_FOOD)
    assert not set(SHORTER) & set(WRITINGS)


@pytest.mark.parametrize(
    ("options", "language", "kind", "rules"),
    [
        (TokenOptions(), "en", RuleTokenizer, "en"),
        (SentenceOptions(), "en", TreebankTokenizer, "en"),
        (SentenceOptions(), "en_GB", TreebankTokenizer, "en"),
        (SentenceOptions(), "de_AT", RuleTokenizer, "de"),
        (SentenceOptions(tokenizer="characters"), "en", RuleTokenizer, "en"),
    ],
)
def test_the_tokenizer_follows_the_options_and_the_language(options, language, kind, rules):
    tokenizer = tokenizer_of(options, language)
    assert type(tokenizer) is kind
    assert (tokenizer.kind, tokenizer.language) == (options.tokenizer, rules)


@pytest.mark.parametrize("language", ["de", "en_GB", "deu", "tr", "he"])
def test_all_others_have_blanks(language):
    check_language("words", language)
    assert writing(language) == Writing(spaced=True, bleu="13a")
