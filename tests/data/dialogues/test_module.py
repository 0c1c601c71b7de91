"""Replies and the turns before them: layout, unknown words, facts, windows, and dialogues that cannot be used."""

import json
from itertools import pairwise

import pytest
import torch

from tests.data.serving import batches, prepared, served, written
from zoo.data.dialogues.corpora import Dialogues, SchemaGuided
from zoo.data.dialogues.encoding import DialogueEncoder, Known
from zoo.data.dialogues.options import DialogueTextOptions
from zoo.data.stored import values_of
from zoo.data.text.vocabulary import END, UNKNOWN, WRITTEN_SPECIAL, Vocabulary
from zoo.errors import DataError, UnusableInput

WORDS = ["<a>", "<b>", "i", "am", "hi", "you", "are", "."]
FIRST = len(WRITTEN_SPECIAL)
A, B, ME, AM, HI, YOU, ARE, STOP = range(FIRST, FIRST + len(WORDS))
SIZE = STOP + 1
TURNS = ["i am Zork .", "hi Zork .", "Abba are you", "you are Zork Bilbo"]


def encoder(**options):
    text = DialogueTextOptions(tokenizer="whitespace")
    return DialogueEncoder(text, [Vocabulary(WORDS, WRITTEN_SPECIAL)], **options)


def row(replies=(1, 3), **known):
    return {"source_texts": TURNS, "speakers": ["a", "b", "a", "b"], "replies": list(replies), **known}


def test_a_batch_has_each_turn_once_and_a_reply_for_each_wanted_turn():
    batch = encoder().encode([row(), row([2])])
    assert batch.dialogue.tolist() == [0, 0, 1] and batch.turn.tolist() == [1, 3, 2]
    assert batch.turns.shape == (2, 3, 6)  # not the last turn, which no reply follows
    assert batch.turns[0].tolist() == [
        [A, ME, AM, UNKNOWN, STOP, END],
        [B, HI, UNKNOWN, STOP, END, 0],
        [A, UNKNOWN, ARE, YOU, END, 0],
    ]
    assert batch.turn_mask.tolist() == [[True] * 3, [True, True, False]]
    zork, abba = SIZE, SIZE + 1
    assert batch.extended[0, :6].tolist() == [A, ME, AM, zork, STOP, END]
    assert not batch.source_mask[0, 6:].any()
    assert batch.extended[1].tolist() == [A, ME, AM, zork, STOP, END, B, HI, zork, STOP, END, A, abba, ARE, YOU, END]
    assert batch.sentence[1].tolist() == [0] * 6 + [1] * 5 + [2] * 5
    assert batch.source[1].tolist() == [UNKNOWN if one >= SIZE else one for one in batch.extended[1].tolist()]
    # Abba is new in the second reply's dialogue, and Bilbo in the reply itself: neither can be copied
    assert batch.copied.tolist() == [
        [HI, zork, STOP, END, 0],
        [YOU, ARE, zork, UNKNOWN, END],
        [UNKNOWN, ARE, YOU, END, 0],
    ]
    assert batch.target[0].tolist() == [HI, UNKNOWN, STOP, END, 0]
    assert batch.target_mask.sum(1).tolist() == [4, 5, 4]
    assert batch.unknown_words == (("Zork",), ("Zork", "Abba"), ("Zork",))
    assert batch.target_texts == (("hi Zork .",), ("you are Zork Bilbo",), ("Abba are you",))
    assert batch.source_texts[1] == tuple(TURNS[:3])
    assert batch.history_mask.tolist() == [[True, False, False], [True] * 3, [True, True, False]]
    first = batch.first(1)
    assert torch.equal(first.extended, batch.extended[:1, :6]) and len(first.turns) == 1


def test_facts_and_links_of_words():
    known = [*Known(1, 1, 0, 2, 0), *Known(3, 2, 1, 1, 1)]
    batch = encoder().encode([row(known=known)])
    assert batch.facts.tolist() == [[0, 0, 0, 0, 0], [0, 0, 1, 0, 0]]  # the greeting is not counted
    assert batch.alignment.nonzero().tolist() == [[0, 1, 3], [1, 2, 8]]
    assert batch.extended[1, 8] == batch.copied[1, 2] == SIZE


def test_an_input_gets_the_speakers_that_training_had():
    one = encoder(reply="b", speakers=["a", "b"])
    trained, typed = one.encode([row([3])]), one([TURNS[:3]])
    assert torch.equal(trained.extended, typed.extended) and typed.target is None
    assert torch.equal(one([{"turns": TURNS[:3], "speakers": ["a", "b", "a"]}]).extended, typed.extended)
    assert one(["hi"]).source.tolist() == [[A, HI, END]]
    assert encoder(speakers=["a", "b"]).supposed(2) == ["a", "b"]
    assert encoder(reply="a", speakers=["a", "b"]).supposed(3) == ["b", "a", "b"]
    assert one.display(["hi Zork"]) == ["<a>", "hi", "Zork", "</s>"]
    for wrong in ([1], [], " ", {"turns": ["hi"], "speakers": ["a", "b"]}):
        with pytest.raises(UnusableInput, match="expected a list of turns"):
            one([wrong])
    again = DialogueEncoder.from_state(one.state())
    assert again.state() == one.state() and again.reply == "b"


def folder(path, *rows):
    for name in ("train", "val", "test"):
        written(path / f"{name}.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    return {"source": str(path), "text": {"minimum_frequency": 1}}


GOOD = {"turns": ["hi", "hello", "bye", "see you"], "speakers": ["U", "S", "U", "S"]}


@pytest.mark.parametrize(
    ("turns", "problem"),
    [
        (["hi"], "dialogue of one turn: found 1; expected two turns or more"),
        ([], "dialogue of one turn: found 0"),
        (["hi", " ", "yes"], "turn of no words: turn 2 of 3 is empty"),
        (["hi", "a\0b"], "NUL byte"),
    ],
)
def test_unusable_dialogues(tmp_path, cache_dir, turns, problem):
    options = folder(tmp_path, GOOD, {"turns": turns})
    with pytest.raises(DataError, match=f"train.jsonl, line 2: {problem}"):
        Dialogues(**options).prepare_data()
    data = prepared(Dialogues(**options, loader={"on_bad_row": "skip"}))
    assert data.describe()["skipped"] == {problem.partition(":")[0]: 3}
    assert data.sizes == {"train": 1, "val": 1, "test": 1}


def test_whose_turns_are_predicted(tmp_path, cache_dir):
    options = folder(tmp_path, GOOD, {"turns": ["one", "two"]})
    every, system = (prepared(Dialogues(**options, reply=reply)) for reply in ("all", "S"))
    assert served(every, "test", "target_texts") == [(text,) for text in (*GOOD["turns"][1:], "two")]
    assert served(system, "test", "target_texts") == [("hello",), ("see you",)]
    assert system.describe()["splits"]["train"]["dropped"] == {"without a reply of S": 1}
    assert system.encoder.speakers == ["U", "S"]
    with pytest.raises(
        DataError, match=r"no turn of data.reply=X; the speakers are U, S: set data.reply to all or one"
    ):
        Dialogues(**options, reply="X").prepare_data()


def test_windows_have_the_last_turns(tmp_path, cache_dir):
    data = prepared(Dialogues(**folder(tmp_path, GOOD), max_turns=1))
    found = served(data, "test", "source_texts", "target_texts")
    texts = GOOD["turns"]
    assert found == [((one,), (other,)) for one, other in pairwise(texts)]
    two = prepared(Dialogues(**folder(tmp_path, GOOD), max_turns=2))
    assert served(two, "test", "source_texts") == [
        (texts[0],),
        tuple(texts[:2]),
        tuple(texts[1:3]),
    ]


def test_splits_are_drawn_by_dialogue(tmp_path, cache_dir):
    rows = [{"turns": [f"a{n}", f"b{n}", f"c{n}"]} for n in range(10)]
    path = written(tmp_path / "all.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    data = prepared(Dialogues(source=str(path), max_turns=1, text={"minimum_frequency": 1}))
    found = {
        split: {turns[0][1:] for turns in values_of(data.part(split).stored, "source_texts")} for split in data.sizes
    }
    assert data.sizes == {"train": 16, "val": 2, "test": 2}
    assert sum(map(len, found.values())) == 10  # both replies of a dialogue are in one split


def test_the_sample_keeps_its_facts_in_windows(cache_dir):
    sizes = {"train": 200, "val": 50, "test": 50}
    whole, last = (prepared(Dialogues(sample=sizes, max_turns=most)) for most in (None, 1))
    for data in (whole, last):
        for batch in batches(data, "test"):
            repeated = batch.alignment.nonzero()
            b, t, s = repeated.unbind(1)
            assert torch.equal(batch.copied[b, t], batch.extended[b, s])
    facts = [
        sorted(far for batch in batches(data, "test") for far in batch.facts[batch.facts > 0].tolist())
        for data in (whole, last)
    ]
    assert facts[0] == facts[1] and min(facts[0]) == 1
    stated = [batch.alignment.any(-1)[batch.facts > 0] for batch in batches(last, "test")]
    assert not torch.cat(stated).any()  # the last turn has no evidence
    assert all(batch.alignment.any(-1)[batch.facts > 0].all() for batch in batches(whole, "test"))
    assert whole.encoder.reply == "bot" and whole.encoder.speakers == ["user", "bot"]
    unknown = sum(int((batch.copied >= len(whole.encoder.vocabulary)).sum()) for batch in batches(whole, "test"))
    assert unknown > 10


def test_the_real_schema_guided_dialogues(shared_data, cache_dir):
    if not (shared_data / "sgd").is_dir():
        pytest.skip("no Schema-Guided Dialogue beside the clone (../shared/data/sgd)")
    data = prepared(SchemaGuided(source=str(shared_data / "sgd/dialogues_001.json"), reply="SYSTEM"))
    assert sum(data.sizes.values()) == 128
    assert data.encoder.speakers == ["USER", "SYSTEM"]
    batch = next(iter(batches(data, "train")))
    assert (batch.sentence.amax(1) + 1 == batch.turn).all() and (batch.turn % 2 == 1).all()
