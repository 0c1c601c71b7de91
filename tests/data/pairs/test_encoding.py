"""Batches of pairs from texts, ids as texts, and the state of the encoder in a checkpoint."""

import pytest
import torch

from tests.data.pairs.toy import Toy
from tests.data.serving import batches, prepared
from zoo.data.pairs.encoding import PairEncoder
from zoo.data.pairs.options import PairTextOptions
from zoo.data.text.vocabulary import WRITTEN_SPECIAL, Vocabulary


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
    source, target = (encoder.known.vocabularies[side].words for side in ("source", "target"))
    assert (len(source), len(target)) == (data.spec.source_size, data.spec.target_size)
    assert (source == target) == joint
    batch = batches(data, "test")[0]
    for made in (encoder, again):
        # texts give what was prepared, and the ids of a target its text
        anew = made(batch.source_text, batch.target_text)
        assert torch.equal(anew.source, batch.source)
        assert torch.equal(anew.target, batch.target)
        known = [b for b in range(len(batch)) if (batch.target[b] != 1).all()]
        assert [made.text(batch.target[b]) for b in known] == [batch.target_text[b].lower() for b in known]
        assert len(known) == len(batch) or (tokenizer == "whitespace" and len(known) > 3)
        assert [len(made.display(text)) for text in batch.source_text] == batch.source_mask.sum(1).tolist()
