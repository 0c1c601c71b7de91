"""Pairs as batches, from the disk and from texts, against a slow loop; ids as texts; what a checkpoint keeps."""

import datasets
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.data.pairs.toy import Toy, prepared
from zoo.data.pairs.batch import PairBatch
from zoo.data.pairs.encoding import SIDES, PairEncoder
from zoo.data.pairs.options import PairTextOptions
from zoo.data.stored import StoredSplit
from zoo.data.text.vocabulary import WRITTEN_SPECIAL, Vocabulary

SEQUENCE = st.lists(st.integers(4, 30), max_size=7)
PAIRS = st.lists(st.tuples(SEQUENCE, SEQUENCE), min_size=1, max_size=6)


def stored(pairs, evaluation=True, aligned=True):
    columns = {
        "source": [source for source, _ in pairs],
        "target": [target for _, target in pairs],
        "num_source": [len(source) for source, _ in pairs],
        "num_target": [len(target) for _, target in pairs],
        "source_text": [f"source {number}" for number in range(len(pairs))],
        "target_text": [f"target {number}" for number in range(len(pairs))],
    }
    if aligned:
        links = [[(s, t) for s in range(len(x)) for t in range(len(y)) if (s + t) % 3 == 0] for x, y in pairs]
        columns |= {f"aligned_{name}": [[link[n] for link in row] for row in links] for n, name in enumerate(SIDES)}
    ids = datasets.List(datasets.Value("int32"))
    kinds = {"num": datasets.Value("int32"), "text": datasets.Value("string")}
    features = {name: kinds.get(name[-4:], kinds.get(name[:3], ids)) for name in columns}
    features |= {name: kinds["text"] for name in columns if name.endswith("_text")}
    found = datasets.Dataset.from_dict(columns, features=datasets.Features(features))
    read = [part.name for part in PairEncoder.parts if part.read(evaluation)]
    return StoredSplit(found, read, [[len(source) + 1, len(target) + 1] for source, target in pairs])


def collate_pairs(rows):
    return PairEncoder(PairTextOptions(), [Vocabulary([], WRITTEN_SPECIAL)] * 2).collate(rows)


def slow_side(sequences):
    """Ids and mask by two loops."""
    width = max(map(len, sequences)) + 1
    ids, mask = torch.zeros(len(sequences), width, dtype=torch.long), torch.zeros(len(sequences), width) > 0
    for b, sequence in enumerate(sequences):
        for t, number in enumerate([*sequence, 3]):
            ids[b, t], mask[b, t] = number, True
    return ids, mask


@settings(max_examples=60)
@given(PAIRS, st.data())
def test_collate_equals_a_slow_loop(pairs, data):
    numbers = data.draw(st.lists(st.integers(0, len(pairs) - 1), min_size=1, max_size=8))
    split = stored(pairs)
    batch = collate_pairs(split.__getitems__(numbers))
    chosen = [pairs[number] for number in numbers]
    source, source_mask = slow_side([source for source, _ in chosen])
    target, target_mask = slow_side([target for _, target in chosen])
    expected = PairBatch.of(source, source_mask, target, target_mask, index=torch.tensor(numbers))
    for name in ("source", "source_mask", "target", "target_mask", "target_input", "index"):
        found, right = getattr(batch, name), getattr(expected, name)
        assert found.dtype == right.dtype, name
        assert torch.equal(found, right), name
    assert torch.equal(batch.source_packing.cell, expected.source_packing.cell)
    assert torch.equal(batch.target_packing.cell, expected.target_packing.cell)
    alignment = torch.zeros(len(numbers), target.shape[1], source.shape[1], dtype=torch.bool)
    for b, (x, y) in enumerate(chosen):
        for s in range(len(x)):
            for t in range(len(y)):
                alignment[b, t, s] = (s + t) % 3 == 0
    assert torch.equal(batch.alignment, alignment)
    assert batch.source_text == tuple(f"source {number}" for number in numbers)
    assert batch.target_text == tuple(f"target {number}" for number in numbers)
    assert split.lengths.tolist() == [[len(x) + 1, len(y) + 1] for x, y in pairs]


def test_training_batches_carry_no_text_and_no_alignment():
    batch = collate_pairs(stored([([5, 6], [7])], evaluation=False).__getitems__([0]))
    assert batch.alignment is batch.source_text is batch.target_text is None
    assert batch.target.tolist() == [[7, 3]]
    assert batch.target_input.tolist() == [[2, 7]]
    assert collate_pairs(stored([([5], [7])], aligned=False).__getitems__([0])).alignment is None


@pytest.fixture
def encoder():
    text = PairTextOptions()
    german = Vocabulary(["ein", "hund", ".", "läuft"], WRITTEN_SPECIAL)
    english = Vocabulary(["a", "dog", "'s", ".", "runs", ","], WRITTEN_SPECIAL)
    return PairEncoder(text, [german, english], languages=("de", "en"))


def test_texts(encoder):
    batch = encoder(["Ein HUND schläft.", "", "Hund"])
    assert batch.source.tolist() == [[4, 5, 1, 6, 3], [3, 0, 0, 0, 0], [5, 3, 0, 0, 0]]
    assert batch.source_mask.sum(1).tolist() == [5, 1, 2]
    assert batch.target is batch.target_mask is batch.target_input is batch.target_packing is batch.target_text is None
    assert batch.source_text == ("Ein HUND schläft.", "", "Hund")
    assert encoder.display("Ein HUND schläft.") == ["Ein", "HUND", "schläft", ".", "</s>"]
    assert torch.equal(encoder("Hund").source, torch.tensor([[5, 3]]))
    assert len(encoder([])) == 0
    assert encoder("ein " * 5000).source.shape == (1, 5001)


def test_references(encoder):
    batch = encoder(["Ein Hund läuft.", "x"], ["A dog runs.", "Cats."])
    assert batch.target.tolist() == [[4, 5, 8, 7, 3], [1, 7, 3, 0, 0]]
    assert batch.target_mask.sum(1).tolist() == [5, 3]
    assert batch.target_input.tolist() == [[2, 4, 5, 8, 7], [2, 1, 7, 3, 0]]
    assert batch.target_text == ("A dog runs.", "Cats.")


def test_without_references_there_is_nothing_to_be_forced(encoder):
    batch = encoder(["Ein Hund läuft."], ["A dog runs."])
    assert batch.true_tokens.tolist() == batch.target[0].tolist()
    for part in ("forced", "true_tokens"):
        with pytest.raises(
            ValueError, match=r"no targets: give references as encoder\(texts, references\), or let a sea"
        ):
            getattr(encoder("Ein Hund läuft."), part)


def test_ids_as_text(encoder):
    ids = [2, 4, 5, 9, 1, 6, 5, 7, 3, 8, 8, 0, 0]
    assert encoder.decode(ids) == ["a", "dog", ",", "<unk>", "'s", "dog", "."]
    assert encoder.text(ids) == "a dog, <unk>'s dog."
    assert encoder.text(torch.tensor(ids)) == encoder.text(ids)
    assert encoder.decode(torch.tensor([4, 0])) == ["a"]
    for nothing in ([], [3], torch.tensor([], dtype=torch.long)):
        assert encoder.text(nothing) == ""
    words = ["Ein", "dog", ",", "<s>", "</s>", "<unk>", "."]  # a text may have them
    assert encoder.text(words) == "Ein dog, <s> </s> <unk>."


@pytest.mark.parametrize("joint", [False, True])
@pytest.mark.parametrize("tokenizer", ["words", "whitespace", "characters", "bpe", "unigram"])
def test_what_a_checkpoint_keeps(cache_dir, tmp_path, tokenizer, joint):
    """The state is plain data, and what comes of it is the same encoder."""
    data = prepared(Toy(text={"tokenizer": tokenizer, "joint": joint, "vocabulary_size": 60}))
    encoder = data.encoder
    torch.save(encoder.state(), tmp_path / "state.pt")
    state = torch.load(tmp_path / "state.pt", weights_only=True)
    again = PairEncoder.from_state(state)
    assert again.state() == state == encoder.state()
    assert len(state["vocabularies"]) == len(state["learned"]) == 2 - joint
    assert data.spec.shared == joint
    assert (len(encoder.side("source").vocabulary), len(encoder.side("target").vocabulary)) == (
        data.spec.source_size,
        data.spec.target_size,
    )
    assert (encoder.side("source").vocabulary.words == encoder.side("target").vocabulary.words) == joint
    batch = next(iter(data.test_dataloader()))
    for made in (encoder, again):
        # texts give what was prepared, and the ids of a target its text
        anew = made(batch.source_text, batch.target_text)
        assert torch.equal(anew.source, batch.source)
        assert torch.equal(anew.target, batch.target)
        known = [b for b in range(len(batch)) if (batch.target[b] != 1).all()]
        assert [made.text(batch.target[b]) for b in known] == [batch.target_text[b].lower() for b in known]
        assert len(known) == len(batch) or (tokenizer == "whitespace" and len(known) > 3)
        assert [len(made.display(text)) for text in batch.source_text] == batch.source_mask.sum(1).tolist()
