"""Translation: metrics against sacrebleu and sums by hand, the loss of objectives, predictions and their links."""

import logging
import math

import pytest
import sacrebleu
import torch

from tests.tasks.running import figures, logged
from zoo.data.pairs.batch import PairSpec
from zoo.data.pairs.encoding import PairEncoder
from zoo.data.pairs.options import PairTextOptions
from zoo.data.text.tokenization import SubwordTokenizer
from zoo.data.text.vocabulary import WRITTEN_SPECIAL, Vocabulary
from zoo.decoding import Hypothesis
from zoo.errors import ConfigError
from zoo.metrics import text
from zoo.models.output import Output
from zoo.predicting.translation import Translated
from zoo.tasks import Translation

SOURCE, TARGET = ["ein", "mann", "hund", "rennt", "schnell", "."], ["a", "man", "dog", "runs", "fast", "."]
SPEC = PairSpec(len(SOURCE) + 4, len(TARGET) + 4, 12, 12)
PAIRS = [
    ("ein mann rennt .", "a man runs ."),
    ("ein hund rennt schnell .", "a dog runs fast ."),
    ("hund .", "dog ."),
    ("ein schnell hund rennt .", "a fast dog runs away ."),
    ("mann", "man"),
]
MODEL = {
    "_target_": "zoo.models.rnnsearch.RNNSearch",
    "embedding_dim": 5,
    "hidden_dim": 4,
    "attention_dim": 3,
    "maxout_dim": 3,
}


def encoder(tokenizer="whitespace", language="en"):
    options = PairTextOptions(tokenizer=tokenizer, minimum_frequency=1)
    vocabularies = [Vocabulary(words, WRITTEN_SPECIAL) for words in (SOURCE, TARGET)]
    return PairEncoder(options, vocabularies, languages=("de", language))


GREEDY = {"_target_": "zoo.decoding.Greedy"}


def task(
    regularizer=None,
    objective="CrossEntropy",
    tokenizer="whitespace",
    language="en",
    model=MODEL,
    decoding=GREEDY,
    **options,
):
    torch.manual_seed(0)
    made = Translation(
        model=model,
        objective={"_target_": f"zoo.objectives.{objective}", **options},
        decoding=decoding,
        regularizer=regularizer,
        optimizer={"_target_": "torch.optim.SGD", "lr": 0.1},
        monitor="val/loss",
        mode="min",
    )
    made.build(SPEC, encoder(tokenizer, language))
    made.prepare_training()
    return made


def batch(rows, alignment=None):
    made = encoder()([PAIRS[row][0] for row in rows], [PAIRS[row][1] for row in rows])
    if alignment is not None:
        object.__setattr__(made, "alignment", alignment)
    return made


def test_metrics_over_uneven_batches_are_those_of_the_whole(monkeypatch):
    translation = task().eval()
    value = figures(translation, monkeypatch, batch([0, 1, 2]), batch([3, 4]))
    with torch.no_grad():
        whole = batch(range(5))
        log_probs = translation(whole).logits.log_softmax(-1)
        target = whole.target_packing.pack(whole.target)
        nll = -log_probs.gather(1, target[:, None]).double().sum().item()
        written = [best.ids for best, *_ in translation.decode(translation.network, whole, SPEC)]
    assert value["loss"] == pytest.approx(nll / len(target), rel=1e-6)
    assert value["perplexity"] == pytest.approx(math.exp(nll / len(target)), rel=1e-6)
    texts = [translation.encoder.text(list(ids)) for ids in written]
    references = [reference for _, reference in PAIRS]
    assert value["bleu"] == pytest.approx(sacrebleu.corpus_bleu(texts, [references], lowercase=True).score)
    assert value["chrf"] == pytest.approx(sacrebleu.CHRF(lowercase=True).corpus_score(texts, [references]).score)
    assert value["token_bleu"] == pytest.approx(
        sacrebleu.corpus_bleu(texts, [references], tokenize="none", force=True).score
    )
    assert value["exact_match"] == sum(a == b for a, b in zip(texts, references, strict=True)) / 5
    assert not {"attention_recall", "alignment_error_rate"} & set(value)  # no true alignment, no score


def right_for(one):
    """The hypotheses of a network that writes the references of a batch."""
    rows = zip(one.target, one.target_mask, strict=True)
    return [Hypothesis(tuple(row[mask].tolist()), 0.0, 0.0, True) for row, mask in rows]


def test_exact_match_and_bleu_of_a_network_that_is_right(monkeypatch):
    translation = task().eval()
    found, one = logged(translation, monkeypatch), batch([0, 1, 2])
    right = right_for(one)
    translation.score_written("test", one, right)
    assert found["test/exact_match"].compute() == 1
    assert found["test/bleu"].compute().item() == pytest.approx(100)
    right[2] = Hypothesis(right[2].ids[1:], 0.0, 0.0, True)
    translation.score_written("test", one, right)
    assert found["test/exact_match"].compute().item() == pytest.approx(5 / 6)


def test_free_running_perplexity_reads_the_own_tokens_of_the_network(monkeypatch):
    translation = task().double().eval()
    found = logged(translation, monkeypatch)
    one = batch(range(5))
    with torch.no_grad():
        translation._free_running(one, "test")
        state, tokens, total = translation.network.start(one), torch.full((5, 1), SPEC.begin), 0.0
        for t in range(one.target.shape[1]):
            log_probs, state, _ = translation.network.step(tokens, state)
            for b in range(5):
                if one.target_mask[b, t]:
                    total -= log_probs[b, 0, one.target[b, t]].item()
            allowed = log_probs.clone()
            allowed[..., [SPEC.padding, SPEC.begin]] = -math.inf
            tokens = allowed.argmax(-1)
    expected = math.exp(total / one.target_mask.sum().item())
    # summed in float32
    assert found["test/free_running_perplexity"].compute().item() == pytest.approx(expected, rel=1e-6)


def test_attention_is_scored_against_the_true_alignment(monkeypatch):
    translation = task().eval()
    found = logged(translation, monkeypatch)
    links = torch.diag(torch.tensor([True, True, True, True, False]))[None]  # the end has none
    one = batch([0], links)
    with torch.no_grad():
        translation.score_forced("val", one, translation(one))
        weights = translation(one).attention["source"][0]
    expected = sum(weights[i, i].item() for i in range(4)) / 4
    assert found["val/attention_recall"].compute().item() == pytest.approx(expected, rel=1e-5)
    assert found["val/attention_chance"].compute().item() == pytest.approx(1 / 5)
    hits = sum(int(weights[i].argmax()) == i for i in range(4))
    assert found["val/alignment_error_rate"].compute().item() == pytest.approx(1 - 2 * hits / 8)


def test_bleu_reads_detokenised_text(monkeypatch):
    translation = task(tokenizer="words").eval()
    found, one, seen = logged(translation, monkeypatch), batch([0, 1]), {}
    metric = translation.test_metrics["bleu"]
    monkeypatch.setattr(metric, "update", lambda texts, references: seen.update(texts=texts, references=references))
    translation.score_written("test", one, right_for(one))
    assert seen["texts"] == ["a man runs.", "a dog runs fast."]  # no blank before the full stop
    assert "test/bleu" in found


@pytest.mark.parametrize(
    ("language", "tokenizer", "bleu", "token_bleu"),
    [
        ("de", "whitespace", "tok:13a", True),
        ("de", "characters", None, False),
        ("zh_CN", "whitespace", "tok:zh", True),
        ("yue", "characters", "tok:zh", False),
        ("bo", "whitespace", "tok:char", True),
        ("tha_Thai", "characters", "tok:char", False),
    ],
)
def test_bleu_is_counted_as_the_target_language_is_written(language, tokenizer, bleu, token_bleu):
    """Where words are not cut at blanks there is one of characters too."""
    made = task(tokenizer=tokenizer, language=language)
    signatures = made.signatures()
    assert ("test/bleu" in signatures) == ("test/chrf" in signatures) == (bleu is not None)
    assert bleu is None or {bleu, "case:lc"} <= set(signatures["test/bleu"].split("|"))
    assert ("tok:none" in signatures.get("test/token_bleu", "")) == token_bleu
    assert "exact_match" in made.test_metrics


def test_characters_in_place_of_a_tokenizer_that_is_not_installed_are_said_once(monkeypatch, caplog):
    monkeypatch.setattr(text, "find_spec", lambda name: None)
    with caplog.at_level(logging.INFO, logger="zoo"):
        signatures = task(language="ja").signatures()
        task(language="zh"), task(language="de")
    (line,) = caplog.messages
    assert "BLEU of ja is computed in characters" in line and "pip install 'sacrebleu[ja]'" in line
    assert "tok:char" in signatures["test/bleu"]


def test_predictions_hold_text_tokens_and_weights():
    translation = task().eval()
    texts = ["ein Mann rennt .", "hund"]
    with torch.no_grad():
        predictions = translation.predictions(encoder()(texts), [encoder().display(text) for text in texts])
    first = predictions[0]
    assert first.source == ("ein", "Mann", "rennt", ".", "</s>")
    best = first.best
    assert best.finished == (best.tokens[-1:] == ("</s>",))
    assert len(best.attention) == len(best.tokens)
    assert {len(row) for row in best.attention} == {5}
    assert [sum(row) for row in best.attention] == pytest.approx([1] * len(best.tokens), abs=1e-5)
    assert best.text == " ".join(best.tokens[: len(best.tokens) - best.finished])


def test_search_takes_more_hypotheses():
    translation = task().eval()
    translation.search(4, 3)
    with torch.no_grad():
        found = translation.predict_step(batch([0]))
    assert len(found[0]) == 3
    assert [h.score for h in found[0]] == sorted((h.score for h in found[0]), reverse=True)
    translation.search(None, 7)  # the beam holds what is asked for
    assert translation.decode.beam_size == 7
    with pytest.raises(ConfigError, match="nbest=5, beam_size=2"):
        translation.search(2, 5)


def test_search_keeps_the_rules_of_the_run():
    translation = task().eval()
    translation.hparams["decoding"] = {"_target_": "zoo.decoding.Greedy", "max_length": [0.0, 3], "no_repeat_ngram": 2}
    translation.search(2, None)
    assert (translation.decode.rules.max_length, translation.decode.rules.no_repeat_ngram) == ((0.0, 3), 2)
    beam = {"_target_": "zoo.decoding.BeamSearch", "beam_size": 4, "nbest": 2, "length_penalty": 0.3}
    translation.hparams["decoding"] = beam
    translation.search(6, None)
    assert (translation.decode.beam_size, translation.decode.nbest) == (6, 2)
    assert translation.decode.length_penalty == 0.3
    translation.hparams["decoding"] = {**beam, "_target_": "zoo.decoding.beam.BeamSearch"}  # the same by another name
    translation.search(None, None)
    assert (translation.decode.beam_size, translation.decode.length_penalty) == (4, 0.3)


def test_exact_match_of_subwords_is_that_of_their_text(monkeypatch):
    tokenizer = SubwordTokenizer.learn("bpe", lambda: ["a man runs", "a dog"], vocabulary_size=40, lower=True)
    options = PairTextOptions(tokenizer="bpe", minimum_frequency=1)
    vocabulary = Vocabulary(tokenizer.pieces, WRITTEN_SPECIAL)
    translation = task().eval()
    translation.encoder = PairEncoder(options, [vocabulary] * 2, [tokenizer.state()] * 2, languages=("de", "en"))
    found = logged(translation, monkeypatch)
    references = ["A man runs", "a dog", "a Ω"]
    letters = list("▁a▁man▁runs")  # they spell it too
    pieces = [letters, tokenizer.split("a dog").forms, tokenizer.split("a ß").forms]
    ids = [(*vocabulary.encode(row), SPEC.end) for row in pieces]
    assert SPEC.unknown in ids[2]
    one = translation.encoder(references, references)
    translation.score_written("test", one, [Hypothesis(row, 0.0, 0.0, True) for row in ids])
    assert found["test/exact_match"].compute().item() == pytest.approx(2 / 3)


def test_unknown_words_come_from_the_source_they_attended_to(monkeypatch):
    translation = task().eval()
    weights = torch.tensor([[0.1, 0.8, 0.05, 0.05], [0.1, 0.1, 0.1, 0.7], [0.0, 0.0, 0.0, 1.0]])
    best = Hypothesis((4, SPEC.unknown, SPEC.end), -1.0, -1.0, True, {"source": weights})
    monkeypatch.setattr(translation, "decode", lambda *_: [[best]])
    source = ["Ein", "Zebra", ".", "</s>"]
    (prediction,) = translation.predictions(encoder()("Ein Zebra ."), [source])
    assert prediction.best.text == "a <unk>"
    translation.replace_unknown = True
    (prediction,) = translation.predictions(encoder()("Ein Zebra ."), [source])
    assert prediction.best.text == "a ein"  # the end is never copied: of equals the first word
    best.attention["source"][1] = torch.tensor([0.1, 0.8, 0.05, 0.05])
    translation.dictionary = {"zebra": "zeebra"}
    (prediction,) = translation.predictions(encoder()("Ein Zebra ."), [source])
    assert prediction.best.text == "a zeebra"
    assert prediction.best.tokens == ("a", "<unk>", "</s>")  # as the network wrote them


def test_links_leave_the_ends_out():
    weights = ((0.1, 0.7, 0.2), (0.6, 0.3, 0.1), (0.2, 0.3, 0.5), (0.9, 0.05, 0.05))
    translated = Translated("b a c", ("b", "a", "c", "</s>"), -1.0, -1.0, True, weights)
    assert translated.links == [(1, 0), (0, 1)]  # c looks at the source's end
    assert translated.pharaoh == "1-0 0-1"
    unfinished = Translated("b a c d", ("b", "a", "c", "d"), -1.0, -1.0, False, weights)
    assert unfinished.pharaoh == "1-0 0-1 0-3"
    assert Translated("b", ("b",), -1.0, -1.0, False, None).pharaoh == ""


def test_review_knows_the_links_only_where_the_reference_was_written(monkeypatch):
    translation = task().eval()
    links = torch.zeros(1, 5, 5, dtype=torch.bool)
    links[0, 0, 1] = True
    one = batch([0], links)
    with torch.no_grad():
        (examined,) = translation.examine(one)
    assert examined.truth == "a man runs ."
    assert examined.links is None
    true = one.target[0].tolist()
    best = Hypothesis(tuple(true), 0.0, 0.0, True)
    monkeypatch.setattr(translation, "decode", lambda *_: [[best]])
    (examined,) = translation.examine(one)
    assert examined.links == [(1, 0)]


def test_pronouns_and_the_heads_that_look_from_them_to_their_nouns(monkeypatch):
    """In two pairs the third source token refers to the first, and becomes the second target token, which one of two
    gets right. Of two heads in two layers, one looks from the third to the first with .25 and 1; the only one to the
    source looks at the first with .5 as the second target token is written. The sources have 5 and 6 tokens."""
    translation = task().eval()
    found, one = logged(translation, monkeypatch), batch([0, 1], torch.zeros(2, 6, 6, dtype=torch.bool))
    source, target = one.source.shape[1], one.target.shape[1]
    alignment, references = torch.zeros(2, target, source).bool(), torch.zeros(2, source, source).bool()
    alignment[:, 1, 2] = references[:, 2, 0] = True
    object.__setattr__(one, "alignment", alignment)
    object.__setattr__(one, "references", references)
    logits = torch.nn.functional.one_hot(one.target, SPEC.target_size).float()
    logits[1, 1] = logits[1, 1].roll(1)
    logits[0, 0] = logits[0, 0].roll(1)  # another token, which no reference decides
    layers = {f"encoder.{layer}": torch.zeros(2, 2, source, source) for layer in range(2)}
    layers["encoder.1"][0, 1, 2, 0], layers["encoder.1"][1, 1, 2, 0] = 0.25, 1.0
    layers["source"] = torch.zeros(2, target, source)
    layers["source"][:, 1, 0] = 0.5
    translation.score_forced("test", one, Output(one.target_packing.pack(logits), layers))
    translation.on_test_epoch_end()
    assert found["test/reference_accuracy"].compute() == 0.5
    assert (found["test/reference_recall"], found["test/reference_recall_source"]) == (0.625, 0.5)
    assert found["test/reference_chance"].compute().item() == pytest.approx((1 / 5 + 1 / 6) / 2)
    facts = translation.facts()
    assert facts["reference_recalls"] == {"encoder.0": [0.0, 0.0], "encoder.1": [0.0, 0.625], "source": [0.5]}
    assert facts["best_reference_heads"] == {
        "encoder": {"attention": "encoder.1", "head": 1, "recall": 0.625},
        "source": {"attention": "source", "head": 0, "recall": 0.5},
    }


def test_steps_of_a_network_that_ponders_belong_to_the_tokens():
    torch.manual_seed(0)
    model = {"_target_": "zoo.models.universal_transformer.UniversalTransformer", "hidden_dim": 8, "heads": 2}
    translation = task(model=model | {"feedforward_dim": 8}).eval()
    for unit in (translation.network.reader.pondering.unit, translation.network.writer.pondering.unit):
        torch.nn.init.normal_(unit.weight, 0.0, 2.0)
    sources = ["ein mann rennt .", "hund ."]
    words = [translation.encoder.display(source) for source in sources]
    together = translation.predictions(translation.encoder(sources), words)
    with_targets = translation.predictions(translation.encoder(sources, ["a man runs . a man", "a"]), words)
    assert [one.steps for one in with_targets] == [one.steps for one in together], "those of the written tokens"
    for source, shown, prediction in zip(sources, words, together, strict=True):
        (alone,) = translation.predictions(translation.encoder([source]), [shown])
        assert alone.steps == prediction.steps
        assert {side: len(row) for side, row in alone.steps.items()} == {
            "source": len(shown),
            "translation": len(alone.best.tokens),
        }
    assert len({number for prediction in together for row in prediction.steps.values() for number in row}) > 1
    plain = task().eval()
    assert plain.predictions(plain.encoder(sources), words)[0].steps == {}
