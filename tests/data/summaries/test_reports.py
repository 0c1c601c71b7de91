"""The embedded sample: what its summaries repeat, where that is, and that many facts can only be copied."""

from collections import Counter

from tests.data.serving import batches, prepared
from zoo.data.summaries.own import Summaries
from zoo.data.summaries.samples.reports import generate


def words(report):
    return [word for sentence in report.sentences for word in sentence]


def test_a_report_depends_on_the_seed_and_its_number_alone():
    assert list(generate(30, seed=3))[:20] == list(generate(20, seed=3))
    assert next(generate(1, seed=4)) != next(generate(1, seed=3))


def test_a_summary_repeats_words_at_their_places_and_no_slot_shares_its_word():
    for report in generate(300, seed=1):
        text = words(report)
        for word, places in zip(report.summary, report.sources, strict=True):
            assert {text[place] for place in places} <= {word}
            if places:  # no other slot has this word
                assert [place for place, other in enumerate(text) if other == word] == places
        assert 24 <= len(text) <= 80 and 8 <= len(report.summary) <= 18


def test_names_and_places_stand_also_in_asides_and_before_the_main_sentence():
    """Neither the first sentence nor the first name is always the one to repeat."""
    reports = list(generate(1000, seed=1))
    first = [any(place < len(one.sentences[0]) for places in one.sources for place in places) for one in reports]
    assert 0.6 < sum(first) / len(first) < 0.9
    twice = [len(places) > 1 for one in reports for places in one.sources if places]
    assert 0.05 < sum(twice) / len(twice) < 0.2


def test_many_facts_are_outside_the_vocabulary_and_are_aligned(cache_dir):
    data = prepared(Summaries(sample={"train": 2000, "val": 50, "test": 100}))
    size, count = data.spec.vocabulary_size, Counter()
    for batch in batches(data, "test"):
        assert ((batch.facts > 0) == batch.alignment.any(2)).all()
        for b, t, s in batch.alignment.nonzero().tolist():
            assert batch.copied[b, t] == batch.extended[b, s]
        stated = batch.copied[batch.facts > 0]
        count.update(facts=len(stated), unknown=int((stated >= size).sum()), lost=int((stated == 1).sum()))
    assert 0.35 < count["unknown"] / count["facts"] < 0.6
    assert count["lost"] == 0  # every unknown fact is in its report
