"""The generated pronouns: gender by the articles of the sentence itself, and the adjective that decides."""

from collections import defaultdict

import pytest

from tests.data.serving import batches, prepared
from zoo.data.pairs.encoding import references_of_tokens
from zoo.data.pairs.generated import Pronouns
from zoo.data.pairs.samples import pronouns
from zoo.data.text.tokenization import RuleTokenizer, find

PAIRS = list(pronouns.generate(2000, seed=5))
GENDERS = {"der": "er", "den": "er", "die": "sie", "das": "es"}
"""The pronoun of the gender that an article of a subject or an object shows."""


def german(pair, source):
    """The target position of a source position."""
    (target,) = [t for s, t in pair.alignment if s == source]
    return target


def article(pair, source):
    """The article before the German noun that a source noun becomes, with or without a colour between."""
    before = pair.target[: german(pair, source)][-2:]
    return before[-1] if before[-1] in GENDERS else before[0]


def test_the_pronoun_agrees_with_the_noun_that_it_refers_to():
    for pair in PAIRS:
        ((it, noun),) = pair.references
        assert pair.source[it] == "it"
        assert pair.target[german(pair, it)] == GENDERS[article(pair, noun)]


def test_verb_and_adjective_decide_and_neither_does_alone():
    roles, by_verb, by_adjective = (defaultdict(set) for _ in range(3))
    for pair in PAIRS:
        ((_, noun),) = pair.references
        verb, adjective = pair.source[pair.source.index("not") + 1], pair.source[pair.source.index("too") + 1]
        role = "subject" if noun < pair.source.index("did") else "object"
        assert article(pair, noun) in (("der", "die", "das") if role == "subject" else ("den", "die", "das"))
        roles[verb, adjective].add(role)
        by_verb[verb].add(role)
        by_adjective[adjective].add(role)
    assert all(len(found) == 1 for found in roles.values())
    assert all(len(found) == 2 for found in by_verb.values())
    assert sum(len(found) == 2 for found in by_adjective.values()) >= 5


def test_the_other_noun_would_have_another_pronoun():
    """The nouns before the verb and after it; a third one beside the subject is a dative."""
    for pair in PAIRS:
        ((it, noun),) = pair.references
        did = pair.source.index("did")
        begin = pair.source.index(",") + 1 if it < did else 0
        nouns = [s for s, word in enumerate(pair.source) if s > begin and pair.source[s - 1] in ("the", *colours())]
        nouns = [s for s in nouns if pair.source[s] not in colours()]
        subject, last = nouns[0], nouns[-1]
        assert noun in (subject, last)
        other = last if noun == subject else subject
        assert GENDERS[article(pair, other)] != pair.target[german(pair, it)]


def colours():
    return [english for english, _ in pronouns.COLOURS]


@pytest.mark.parametrize(("tokenizer", "width"), [("whitespace", 1), ("characters", len("dog") * len("it"))])
def test_references_move_to_tokens_of_any_kind(tokenizer, width):
    text = "the dog ran because it was wet"
    row = {"source_text": text, "source_spans": [p for span in find(text, text.split()) for p in span]}
    row |= {"referring": [4], "referent": [1]}
    kind = RuleTokenizer(tokenizer, "en", False)
    tokens = kind.split(text).forms
    found = references_of_tokens(row, kind)
    assert len(found) == width
    assert {(tokens[i], tokens[j]) for i, j in found} == {(a, b) for a, b in _parts(tokenizer)}


def _parts(tokenizer):
    return [("it", "dog")] if tokenizer == "whitespace" else [(a, b) for a in "it" for b in "dog"]


def test_batches_of_an_evaluation_know_the_noun(cache_dir):
    data = prepared(Pronouns(sample={"train": 30, "val": 10, "test": 12}))
    assert data.encoder.languages == ("en", "de")
    expected = [pair.references for pair in pronouns.generate(52, seed=1)][40:]
    found = {}
    for batch in batches(data, "test"):
        for index, row in zip(batch.index.tolist(), batch.references, strict=True):
            found[index] = tuple(map(tuple, row.nonzero().tolist()))
    assert [found[index] for index in range(12)] == expected
    assert all(batch.references is None for batch in batches(data, "train"))
