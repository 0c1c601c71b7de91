"""The small world: every counted fact is in an earlier turn, and never in the last one."""

from collections import Counter
from itertools import islice

from zoo.data.dialogues.samples.small_talk import ASKING, MOST, NAMED, SYLLABLES, UNKNOWN, VALUES, WORLD, generate

DIALOGUES = list(generate(2000, seed=3))


def test_a_dialogue_depends_on_the_seed_and_its_number_alone():
    assert list(islice(generate(50, seed=3), 20)) == DIALOGUES[:20]
    assert next(generate(1, seed=4)) != DIALOGUES[0]
    (one,) = generate(1, seed=3, speakers=["USER", "SYSTEM"])
    assert one.turns == DIALOGUES[0].turns
    assert one.speakers == ("USER", "SYSTEM") * (len(one.turns) // 2)


def test_facts_repeat_a_word_of_an_earlier_turn():
    distances = Counter()
    for one in DIALOGUES:
        turns = [turn.split() for turn in one.turns]
        for fact in one.facts:
            value = turns[fact.turn][fact.word]
            assert turns[fact.evidence][fact.evidence_word] == value
            assert fact.distance == fact.turn - fact.evidence - 1
            assert fact.turn % 2 == 1  # replies are the bot's
            # the evidence is the latest: between it and the reply nobody says the value, the question included
            between = [word for turn in turns[fact.evidence + 1 : fact.turn] for word in turn]
            assert value not in between
            if fact.counted:
                distances[fact.distance] += 1
                assert value in {word for values in VALUES.values() for word in values}
    assert min(distances) == 1
    assert all(distances[far] > 200 for far in (1, 2, 3, 4))
    assert distances[5] > 0


def test_values_are_equally_frequent_and_belong_to_one_attribute():
    words = [word for values in VALUES.values() for word in values]
    assert len(words) == len(set(words)) == 10 * len(WORLD)
    counts = Counter(one.turns[fact.turn].split()[fact.word] for one in DIALOGUES for fact in one.facts if fact.counted)
    assert set(counts) == set(words)
    assert max(counts.values()) < 0.25 * counts.total() / len(WORLD)  # of the ten values of an attribute


def test_the_generic_reply_is_right_where_nothing_was_stated():
    """After the same question some dialogues have the generic reply and some have a fact."""
    after = Counter()
    for one in DIALOGUES:
        for question, answer in zip(one.turns[::2], one.turns[1::2], strict=True):
            for name, forms in WORLD.items():
                if question.endswith(forms["own_question"]):
                    after[name, answer == UNKNOWN] += 1
    assert all(after[name, generic] > 20 for name in WORLD for generic in (False, True))


def test_dialogues_are_short_and_names_are_many():
    assert {len(one.turns) for one in DIALOGUES} <= set(range(6, 2 * MOST + 1, 2))
    assert max(len(turn.split()) for one in DIALOGUES for turn in one.turns) <= 11
    starts = [forms[0].split("{}")[0] for forms in NAMED.values()]
    names = [
        turn.removeprefix(start).split()[0]
        for one in DIALOGUES
        for turn in one.turns
        for start in starts
        if turn.startswith(start)
    ]
    assert len(set(names)) > 0.98 * len(names) > 300
    assert len(SYLLABLES) == 3 and set(ASKING) == {"recall", "unstated"}
