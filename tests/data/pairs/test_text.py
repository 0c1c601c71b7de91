"""Tokens of one side of a pair, and the text that they spell."""

import re

import pytest
import tokenizers

from zoo.data.pairs.options import OwnPairSplitOptions, OwnPairTextOptions, PairColumns
from zoo.data.text import tokenization
from zoo.data.text.tokenization import RuleTokenizer, SubwordTokenizer, find
from zoo.data.text.vocabulary import READ_SPECIAL, WRITTEN_SPECIAL, Vocabulary
from zoo.errors import ConfigError, DataError

ENGLISH = [
    "Two young, White males are outside near many bushes.",
    "A man's dog isn't here; \"it\" ran (fast), didn't it?",
    "The café costs $3.50 at 5 p.m. – no way!",
]


def learned(kind, texts=ENGLISH * 20, size=70, lower=True):
    return SubwordTokenizer.learn(kind, lambda: texts, vocabulary_size=size, lower=lower)


def made(kind, lower):
    return learned(kind, lower=lower) if kind in ("bpe", "unigram") else RuleTokenizer(kind, "en", lower)


@pytest.mark.parametrize(
    ("kind", "language", "text", "tokens"),
    [
        ("words", "en", "A man's dog isn't, Mr. Fox.", ["A", "man", "'s", "dog", "isn", "'t", ",", "Mr.", "Fox", "."]),
        ("words", "de", "Zwei Männer, z.B. hier.", ["Zwei", "Männer", ",", "z.B.", "hier", "."]),
        ("words", "fr", "L'homme n'est pas là.", ["L'", "homme", "n'", "est", "pas", "là", "."]),
        ("words", "cs", "Muži, kteří jsou venku.", ["Muži", ",", "kteří", "jsou", "venku", "."]),
        ("words", "en", "a & <b> | [c]", ["a", "&", "<", "b", ">", "|", "[", "c", "]"]),
        ("words", "no such", "Yes, it is.", ["Yes", ",", "it", "is", "."]),
        ("whitespace", "en", "  It's  so. ", ["It's", "so."]),
        ("characters", "en", " 3  May", ["3", " ", "M", "a", "y"]),
        ("words", "en", "cafe\u0301", ["café"]),
    ],
)  # fmt: skip
def test_rules(kind, language, text, tokens):
    found = RuleTokenizer(kind, language, lower=True).split(text)
    assert found.shown == tokens
    assert found.forms == [token.lower() for token in tokens]
    assert RuleTokenizer(kind, language, lower=False).split(text).forms == tokens


@pytest.mark.parametrize("kind", ["words", "whitespace", "characters", "bpe", "unigram"])
def test_text_comes_back(kind):
    tokenizer = made(kind, lower=False)
    for text in ENGLISH[:2]:
        assert tokenizer.join(tokenizer.split(text).forms) == text
    assert tokenizer.join([]) == ""
    for blank in ("", "  "):
        assert tokenizer.split(blank) == ([], [])


def test_unknown_words_stay_as_they_are():
    words = RuleTokenizer("words", "en", lower=True)
    assert words.join(["a", "<unk>", "'s", "dog", ",", "<unk>", "."]) == "a <unk>'s dog, <unk>."
    bpe = learned("bpe")
    found = bpe.split("ZZ 漢 man")
    assert "漢" in found.shown and "漢" not in found.forms and "<unk>" in bpe.join(found.forms)


@pytest.mark.parametrize("kind", ["bpe", "unigram"])
def test_subwords(kind):
    tokenizer = learned(kind)
    pieces = tokenizer.pieces
    assert len(set(pieces)) == len(pieces) <= 69
    assert "<unk>" not in pieces and any(len(piece) > 2 for piece in pieces)
    for text in ENGLISH:
        forms = tokenizer.split(text).forms
        assert set(forms) <= set(pieces)
        assert "".join(forms).replace("▁", " ").strip() == text.lower()
        assert not [form for form in forms if re.search(r"\w[.,;]|[.,;]\w", form)]  # punctuation stands alone
    # the same texts teach the same, in any process; and what was learned comes back
    assert learned(kind).state() == tokenizer.state()
    again = SubwordTokenizer(tokenizer.state())
    assert again.split("many unseen bushes!") == tokenizer.split("many unseen bushes!")
    assert again.state() == tokenizer.state()


def test_a_small_vocabulary():
    assert len(learned("bpe", size=10).pieces) + 1 == 10
    message = r"vocabulary_size is too small for unigram: the training texts have \d+ letters; set it to \d+ or more"
    with pytest.raises(DataError, match=message):
        learned("unigram", size=10)


def test_a_text_cannot_write_special_tokens():
    vocabulary = Vocabulary(learned("bpe").pieces, WRITTEN_SPECIAL)
    for tokenizer in (learned("bpe"), RuleTokenizer("words", "en", True), RuleTokenizer("whitespace", "en", True)):
        ids = vocabulary.encode(tokenizer.split("<pad> <s> </s> <unk>").forms)
        assert not {0, 2, 3} & set(ids)
    assert vocabulary.words[:4] == ["<pad>", "<unk>", "<s>", "</s>"]
    assert vocabulary.encode([vocabulary.words[4]]) == [4]
    assert Vocabulary(vocabulary.state(), WRITTEN_SPECIAL).words == vocabulary.words


@pytest.mark.parametrize("kind", ["words", "whitespace", "characters", "bpe", "unigram"])
def test_spans(kind):
    """The span of a token has its letters, apart from blanks."""
    tokenizer = made(kind, lower=True)
    for text in [*ENGLISH, "  two   spaces "]:
        forms, spans = tokenizer.split(text).forms, tokenizer.spans(text)
        written = [text[slice(*span)].strip().lower() for span in spans]
        assert written == [form.replace("▁", "").strip() for form in forms]


def test_find():
    assert find("aha, a!", ["a", "ha", ",", "a", "!"]) == [(0, 1), (1, 3), (3, 4), (5, 6), (6, 7)]
    with pytest.raises(ValueError, match="substring"):
        find("ab", ["b", "a"])


def test_spacy_is_an_extra(monkeypatch):
    tokenization._spacy.cache_clear()  # a test before may have had it
    monkeypatch.setitem(__import__("sys").modules, "spacy", None)
    with pytest.raises(ConfigError, match=r"spaCy is not installed; pip install -e '\.\[spacy\]', or use words"):
        RuleTokenizer("spacy", "de", True).split("Ein Mann.")


def test_spacy():
    pytest.importorskip("spacy")
    spacy = RuleTokenizer("spacy", "en", True)
    assert spacy.split("I don't.").shown == ["I", "do", "n't", "."]
    for text in ("I don't.", "A salt-and-pepper-haired man's t-shirt, a 20-year-old, and a dash - so it stays"):
        # spaCy does not distinguish hyphens and dashes.
        assert spacy.join(spacy.split(text).shown) == text.replace(" - ", "-")
    with pytest.raises(ConfigError, match=r"spaCy has no rules for the language 'zz' here \(.*use characters"):
        RuleTokenizer("spacy", "zz", True).split("a")


def test_wrong_options_of_ones_own_pairs():
    with pytest.raises(ConfigError, match=r"data\.text\.source_language=: expected the code"):
        OwnPairTextOptions.of({"source_language": ""})
    with pytest.raises(ConfigError, match=r"data\.columns: give both"):
        PairColumns.of({"source": "de"})
    assert PairColumns.of({"source": "a", "target": "b"}).names() == ("a", "b")
    for wrong in (0, 2, "", ["a", "b", "c"], [1, 2], None):
        with pytest.raises(ConfigError, match=r"data\.split\.test=.*a share between 0 and 1, a table or a list"):
            OwnPairSplitOptions.of({"test": wrong})
    assert OwnPairSplitOptions.of({"test": ["a", "b"]}).files(2) == {"test": ["a", "b"]}
    with pytest.raises(ConfigError, match=r"expected a share between 0 and 1 or a table, found"):
        OwnPairSplitOptions.of({"test": ["a", "b"]}).files(1)
    with pytest.raises(ConfigError, match=r"or a list \[source file,target file\], found"):
        OwnPairSplitOptions.of({"val": "a.tsv"}).files(2)


@pytest.mark.parametrize("special", [READ_SPECIAL, WRITTEN_SPECIAL])
@pytest.mark.parametrize("kind", ["bpe", "unigram"])
def test_an_exported_tokenizer_has_the_ids_of_the_network(kind, special):
    tokenizer = learned(kind)
    vocabulary = Vocabulary(tokenizer.pieces, special)
    exported = tokenizers.Tokenizer.from_str(tokenizer.numbered(special))
    for text in (*ENGLISH, "Ärger ☃ 123", "<s> <pad>"):
        assert exported.encode(text).ids == vocabulary.encode(tokenizer.split(text).forms)
