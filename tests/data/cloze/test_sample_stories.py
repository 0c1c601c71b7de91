"""The generated stories: who knows their grammar answers all, who counts words does not; and their evidence."""

import re
from collections import Counter
from itertools import combinations

import pytest

from results.cloze_rules import BASELINES
from zoo.data.cloze.batch import BLANK
from zoo.data.cloze.encoding import shown
from zoo.data.cloze.readers import tokenize
from zoo.data.cloze.samples import stories

VARIANTS = [("NE", False), ("CN", False), ("NE", True)]


def questions(count, kind="NE", anonymous=False, seed=1):
    return list(stories.generate(count, seed=seed, kind=kind, anonymous=anonymous))


def pattern(form):
    """A regular expression for the sentences of this form, in small letters except for the name."""
    openings = "|".join(re.escape(" ".join(words)) + " " for words in stories.OPENINGS)
    text = (
        re.escape(" ".join(form)).replace(r"\{name\}", r"(?P<name>[A-Z@]\S*)").replace(r"\{thing\}", r"(?P<thing>\S+)")
    )
    return re.compile(rf"(?:{openings})?{text} \.")


PATTERNS = [
    (relation, number, pattern(form)) for relation, forms in stories.FORMS.items() for number, form in enumerate(forms)
]


def read(sentence):
    """(name, relation, thing, number of the form) of a sentence, by the grammar alone."""
    text = " ".join(sentence)
    found = {
        (match["name"], relation, match["thing"], number)
        for relation, number, form in PATTERNS
        for match in map(form.fullmatch, {text, text[0].lower() + text[1:]})
        if match
    }
    (told,) = found
    return told


@pytest.mark.parametrize(("kind", "anonymous"), VARIANTS)
def test_who_knows_the_grammar_answers_every_question(kind, anonymous):
    for question in questions(300, kind, anonymous):
        facts = [read(sentence) for sentence in question.sentences]
        name, relation, thing, form = read(question.query)
        asked = 0 if kind == "NE" else 2
        assert (name, thing)[asked // 2] == BLANK
        given = {1: relation, 2 - asked: (thing, name)[asked // 2]}
        right = [n for n, fact in enumerate(facts) if all(fact[at] == word for at, word in given.items())]
        assert question.evidence == tuple(right)
        (clue,) = right
        assert facts[clue][asked] == question.answer
        assert facts[clue][3] != form, "the query says it in other words"
        (other,) = (fact for n, fact in enumerate(facts) if fact[1] == relation and n != clue)
        assert other[3] == form, "the words of the query stand elsewhere"


@pytest.mark.parametrize(("kind", "anonymous"), VARIANTS)
def test_one_half_of_a_query_is_not_enough(kind, anonymous):
    for question in questions(100, kind, anonymous):
        facts = [read(sentence)[:3] for sentence in question.sentences]
        assert len(facts) == 20
        for one, other in combinations(facts, 2):
            assert sum(a == b for a, b in zip(one, other, strict=True)) <= 1
        other_part = Counter(fact[2 if kind == "NE" else 0] for fact in facts)
        assert sorted(other_part.values()) == [4] * 5
        assert sorted(Counter(fact[1] for fact in facts).values()) == [2] * 10
        asked = Counter(fact[0 if kind == "NE" else 2] for fact in facts)
        assert set(asked) == set(question.candidates)
        assert len(question.candidates) == 10
        assert set(asked.values()) <= {1, 2, 3}


@pytest.mark.parametrize(("kind", "anonymous"), VARIANTS)
def test_counting_words_does_not_answer(kind, anonymous):
    made = questions(1000, kind, anonymous)
    for name, baseline in BASELINES.items():
        right = sum(one.candidates[baseline(shown(one))] == one.answer for one in made)
        assert right / len(made) < 0.4, name  # sixty points below who knows the grammar


def test_neither_the_place_of_a_candidate_nor_its_frequency_tells_the_answer():
    made = questions(2000)
    assert len({str(one) for one in made}) == 2000
    listed = Counter(one.candidates.index(one.answer) for one in made)
    assert set(listed) == set(range(10))
    assert all(abs(count - 200) < 5 * 14 for count in listed.values())  # five standard deviations
    frequency, chance = Counter(), Counter()
    for one in made:
        counts = Counter(word for sentence in one.sentences for word in sentence)
        frequency[counts[one.answer]] += 1
        chance.update(counts[candidate] for candidate in one.candidates)
    for times in (1, 2, 3):
        assert frequency[times] / 2000 == pytest.approx(chance[times] / 20000, abs=0.04)
    places = Counter(one.evidence[0] for one in made)
    assert set(places) == set(range(20))
    assert all(abs(count - 100) < 5 * 10 for count in places.values())
    answers = Counter(one.answer for one in made)
    assert len(answers) == len(stories.NAMES.split())
    assert max(answers.values()) < 3 * min(answers.values())


def test_the_form_is_that_of_the_corpora():
    for one in questions(20) + questions(20, "CN"):
        assert len(one.sentences) == 20
        assert one.query.count(BLANK) == 1
        assert all(sentence[0][0].isupper() and sentence[-1] == "." for sentence in one.sentences)
    for one in questions(20, anonymous=True):
        entities = [word for sentence in one.sentences for word in sentence if word.startswith("@entity")]
        assert one.candidates == list(dict.fromkeys(entities))
        assert not any(word[0].isupper() for sentence in one.sentences for word in sentence)
    words = {word for one in questions(300, anonymous=True) for word in one.candidates}
    assert words == {f"@entity{n}" for n in range(stories.ENTITIES)}


def test_words_are_the_tokenizers():
    """Else a text that is typed would have other words than the sample has."""
    for one in questions(50) + questions(50, anonymous=True):
        for sentence in [*one.sentences, one.query]:
            assert tokenize(" ".join(sentence)) == sentence
