"""The generated news: reproducible, balanced, and the evidence is what it says."""

from collections import Counter
from itertools import chain

from zoo.data.documents.samples.news import PATTERNS, TOPICS, WORDS, generate


def test_topics_are_balanced():
    counts = Counter(item.label for item in generate(2000, seed=1))
    assert set(counts) == set(range(len(TOPICS)))
    assert all(440 < count < 560 for count in counts.values())


def test_evidence_is_the_topics_own_words_in_the_reports():
    share = []
    for item in generate(500, seed=1):
        assert [len(words) for words in item.sentences] == [len(flags) for flags in item.evidence]
        own = {word for phrases in WORDS[TOPICS[item.label]].values() for phrase in phrases for word in phrase.split()}
        decisive = [
            w for s, f in zip(item.sentences, item.evidence, strict=True) for w, flag in zip(s, f, strict=True) if flag
        ]
        assert decisive
        assert own.issuperset(decisive)
        share.append(len(decisive) / sum(map(len, item.sentences)))
    assert 0.05 < sum(share) / len(share) < 0.3


def test_other_topics_are_mentioned_too():
    """Counting which topic's words occur is not what decides."""
    mentions = 0
    for item in generate(300, seed=1):
        text = " ".join(word for sentence in item.sentences for word in sentence)
        others = [topic for n, topic in enumerate(TOPICS) if n != item.label]
        mentions += any(phrase in text for topic in others for phrase in chain(*WORDS[topic].values()))
    assert mentions > 270


def test_words_are_lower_case_and_every_pattern_is_used():
    items = list(generate(1000, seed=1))
    words = {word for item in items for sentence in item.sentences for word in sentence}
    assert all(word == word.lower() and "{" not in word for word in words)
    first_words = {(sentence[0], sentence[-2]) for item in items for sentence in item.sentences}
    assert sum(map(len, PATTERNS.values())) == 30
    assert len(first_words) > 30
