"""The task of transcription: edits, and the times of letters, worked by hand."""

from types import SimpleNamespace

import pytest
import torch

from tests.families import family_of
from zoo.data.audio.batch import Sound, SoundDescription
from zoo.data.text.options import TokenOptions
from zoo.data.text.tokenization import RuleTokenizer
from zoo.decoding import Hypothesis
from zoo.layers.state import MemoryPositions
from zoo.models.output import Output
from zoo.predicting.transcription import TimedWord, grouped

LETTERS = ["<pad>", "<unk>", "<bos>", "<eos>", " ", "a", "b", "c"]
FAMILY = family_of("transcription")


class Letters:
    """The encoder of texts of a few letters."""

    text_options = TokenOptions(tokenizer="characters")
    target_tokenizer = RuleTokenizer("characters", "en", lower=True)

    def decode(self, ids):
        return [LETTERS[one] for one in ids if one > 3]

    def text(self, tokens):
        return "".join(self.decode(tokens) if tokens and isinstance(tokens[0], int) else tokens)


@pytest.fixture
def task():
    sizes = {"hidden_dim": 2, "embedding_dim": 2, "decoder_dim": 2, "attention_dim": 2, "pyramids": 1}
    made = FAMILY.task({"_target_": "zoo.models.las.LAS", **sizes}, attends=True)
    made.hparams["decoding"] = {"_target_": "zoo.decoding.Greedy"}
    made.build(FAMILY.spec, Letters())
    return made


@pytest.fixture
def recorded(task, monkeypatch):
    """The metrics of the task, updated without a trainer."""
    metrics = task.metrics()
    monkeypatch.setattr(task, "record", lambda stage, name, *values: metrics[name].update(*values))
    return metrics


def written(text, **more):
    return Hypothesis((*map(LETTERS.index, text), 3), -1.0, -1.0, finished=True, **more)


def test_edits_are_counted_against_the_transcript_in_the_form_of_the_data(task, recorded):
    silence = Sound("one", 8000, torch.zeros(8, dtype=torch.int16))
    about = [SoundDescription(silence, text) for text in ("A  b c", "cab")]  # capitals and blanks do not count
    task.score_written("test", SimpleNamespace(about=about), [written("a b c"), written("cb")])
    assert recorded["cer"].compute() == pytest.approx(1 / 8)  # one letter is missing of 5 + 3
    assert recorded["wer"].compute() == pytest.approx(1 / 4)
    assert recorded["exact_match"].compute() == 0.5


def test_attention_is_scored_on_the_positions_of_the_network(task, recorded):
    """Four frames become two positions. Letters are heard in frames 0 and 1, in 3, in 1; the end nowhere."""
    mask = torch.ones(1, 4, dtype=torch.bool)
    alignment = torch.tensor([[[1, 1, 0, 0], [0, 0, 0, 1], [0, 1, 0, 0], [0, 0, 0, 0]]]).bool()
    weights = torch.tensor([[[0.9, 0.1], [0.3, 0.7], [0.4, 0.6], [0.0, 1.0]]])
    possible = MemoryPositions.of(torch.ones(1, 2, dtype=torch.bool), joins=2).grouped(alignment)
    task.score_attention("test", SimpleNamespace(forced=SimpleNamespace(mask=mask)), weights, possible)
    assert recorded["attention_recall"].compute() == pytest.approx((0.9 + 0.7 + 0.4) / 3)
    assert recorded["pointing"].compute() == pytest.approx(2 / 3)
    assert recorded["monotone"].compute() == 1  # of the two steps between letters
    back = weights.flip(2)
    task.score_attention("test", SimpleNamespace(forced=SimpleNamespace(mask=mask)), back[:, [1, 0, 2, 3]], possible)
    assert recorded["monotone"].compute() == 3 / 4


def test_evaluation_finds_the_alignment_of_a_shortened_memory(task, recorded):
    batch = FAMILY.of_sizes([(4, 3)], 1)
    alignment = torch.zeros(1, 3, 4, dtype=torch.bool)
    alignment[0, 0, 3] = True
    object.__setattr__(batch, "alignment", alignment)
    weights = torch.tensor([[[0.25, 0.75], [1.0, 0.0], [1.0, 0.0]]])
    memories = {"source": MemoryPositions.of(torch.ones(1, 2, dtype=torch.bool), joins=2)}
    output = Output(torch.zeros(3, FAMILY.spec.target_size), {"source": weights}, memories=memories)
    task.score_forced("test", batch, output)
    assert recorded["attention_recall"].compute() == 0.75 and recorded["attention_chance"].compute() == 0.5


def test_a_word_lasts_from_the_first_to_the_last_place_of_its_letters(task):
    places = torch.eye(6)[[0, 2, 3, 5, 4, 5]]
    shown = task._shown(written("ab ca", attention={"source": places}, joins=4))
    assert shown.stride == pytest.approx(0.04)
    assert shown.words == (TimedWord("ab", 0.0, 0.12), TimedWord("ca", 0.16, 0.24))
    assert task._shown(written("ab", attention={"source": places[:3]}, joins=None)).words == ()


@pytest.mark.parametrize(
    ("tokens", "tokenizer", "words"),
    [
        (["a", "b", " ", " ", "c"], "characters", [[0, 1], [4]]),
        (["▁th", "is", "▁a"], "bpe", [[0, 1], [2]]),
        (["this", "is"], "whitespace", [[0], [1]]),
        ([], "characters", []),
    ],
)
def test_tokens_are_grouped_to_words(tokens, tokenizer, words):
    assert grouped(tokens, tokenizer) == words
