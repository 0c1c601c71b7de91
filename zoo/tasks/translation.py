"""Sequences to sequences: likelihood and perplexity under teacher forcing, BLEU, chrF and exact match of what the
network writes itself, and whether attention found the true alignment."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import torch
from hydra.utils import get_class, instantiate
from torch import Tensor, nn
from torchmetrics import Metric

from zoo.attention.source import source_attention
from zoo.data.pairs.batch import PairBatch
from zoo.data.pairs.spec import PairSpec
from zoo.data.spec import Spec
from zoo.decoding import BeamSearch, Greedy, Hypothesis, replace_unknown
from zoo.metrics import (
    AlignmentErrorRate,
    AttentionRecall,
    CorpusBLEU,
    CorpusChrF,
    ExactMatch,
    Perplexity,
    TokenLoss,
    uniform_rows,
)
from zoo.models.output import Output
from zoo.objectives.feeding import likeliest, walk
from zoo.objectives.vocabulary import vocabulary_cross_entropy
from zoo.tasks.task import Task

RULES = ("min_length", "max_length", "no_repeat_ngram")
"""Options of every way of decoding."""


@dataclass(frozen=True)
class Translated:
    """One translation of a source."""

    text: str
    tokens: tuple[str, ...]
    """As they were written, the end mark included where the network wrote one."""
    log_prob: float
    """Sum of the log-probabilities of the tokens."""
    score: float
    """What it was ranked by."""
    finished: bool
    """False where the network and the rules let nothing follow, not even an end."""
    attention: tuple[tuple[float, ...], ...] | None
    """Weights on the source tokens, a row per token; the mean of layers and heads. None where the network has none."""

    @property
    def links(self) -> list[tuple[int, int]]:
        """(source, target) positions of the words: for each token written the source token it attended to most. The end
        marks of both sides have no links."""
        rows = self.attention or ()
        written = len(self.tokens) - self.finished
        best = [(row.index(max(row)), t, len(row)) for t, row in enumerate(rows[:written]) if row]
        return [(s, t) for s, t, length in best if s < length - 1]

    @property
    def pharaoh(self) -> str:
        """The links as `0-0 1-2 ...`."""
        return " ".join(f"{s}-{t}" for s, t in self.links)


@dataclass(frozen=True)
class TranslationPrediction:
    """The translations of one source, best first; those of sampling in the order drawn."""

    source: tuple[str, ...]
    """Its tokens as the network read them, the end mark included."""
    translations: tuple[Translated, ...]

    @property
    def best(self) -> Translated:
        return self.translations[0]

    def to_dict(self) -> dict[str, Any]:
        """Plain data, as written by `zoo predict --json`."""
        return asdict(self)


@dataclass(frozen=True)
class ReviewedTranslation:
    """A source of a split, what the network writes, and what is true."""

    index: int
    prediction: TranslationPrediction
    reference: str | None
    links: list[tuple[int, int]] | None
    """The true (source, target) links where the network wrote just the reference and the data knows them."""


class Translation(Task):
    """Any network that serves `translation`: it has `forward`, `start` and `step` (see `zoo.layers.state`).

    Its class says by `attends_to` what its attention sees of the source: "source" all of it, "words" all but the end,
    None nothing, for there is none.
    """

    name = "translation"
    headline = ("perplexity", "free_running_perplexity", "bleu", "exact_match", "alignment_error_rate")
    spec: PairSpec | None

    def __init__(
        self,
        *,
        model: dict[str, Any],
        objective: dict[str, Any],
        decoding: dict[str, Any],
        regularizer: dict[str, Any] | None = None,
        optimizer: dict[str, Any] | None = None,
        scheduler: dict[str, Any] | None = None,
        monitor: str,
        mode: str,
        replace_unknown: bool = False,
        compile: bool = False,
    ) -> None:
        """`objective`, `decoding` and each entry of `regularizer` are plain dicts with a `_target_`, as `model` is.

        With `replace_unknown` an unknown word is written as the source word it attended to most, for networks with
        attention.
        """
        super().__init__(
            model=model, optimizer=optimizer, scheduler=scheduler, monitor=monitor, mode=mode, compile=compile
        )
        self.save_hyperparameters()
        self.replace_unknown, self.dictionary = replace_unknown, dict[str, str]()

    def build(self, spec: Spec, encoder: Any) -> None:
        assert isinstance(spec, PairSpec)
        super().build(spec, encoder)
        self.objective = instantiate(self.hparams["objective"])
        self.decode = instantiate(self.hparams["decoding"])
        self.greedy = Greedy(**self._rules())
        parts = (self.hparams["regularizer"] or {}).values()
        self.regularizers = [instantiate(part) for part in parts if part is not None]
        self.val_metrics, self.test_metrics = self._metrics(), self._metrics()

    def _metrics(self) -> nn.ModuleDict:
        options = self.encoder.text_options
        metrics: dict[str, Metric] = {
            "loss": TokenLoss(),
            "perplexity": Perplexity(),
            "free_running_perplexity": Perplexity(),
            "exact_match": ExactMatch(),
            "attention_recall": AttentionRecall(),
            "attention_chance": AttentionRecall(),
            "alignment_error_rate": AlignmentErrorRate(),
        }
        if options.tokenizer != "characters":
            metrics |= {"bleu": CorpusBLEU(lowercase=options.lower), "chrf": CorpusChrF(lowercase=options.lower)}
            if not options.subwords:
                metrics["token_bleu"] = CorpusBLEU(tokenize="none")
        return nn.ModuleDict(metrics)

    def forward(self, batch: PairBatch, *, need_weights: bool = True) -> Output:
        assert self.network is not None
        return self.network(batch, need_weights=need_weights)

    # training

    def training_step(self, batch: PairBatch, batch_idx: int) -> Tensor:
        assert self.network is not None
        loss = self.objective(
            self.network, batch, spec=self.spec, step=self.global_step, need_weights=bool(self.regularizers)
        )
        terms = [*loss.terms, *(penalty(loss.output, batch) for penalty in self.regularizers)]
        weighed = [term for term in terms if term.weight]
        means = {term.name: term.total.detach() / term.count for term in terms}
        self._log_train("loss", sum(term.weight * means[term.name] for term in weighed), weighed[0].count)
        for term in terms:
            if not term.weight or len(weighed) > 1:  # else it is the loss
                self._log_train(term.name, means[term.name], term.count)
        for name, value in loss.logs.items():
            self._log_train(name, value, len(batch))
        return torch.stack([term.weight * self.global_mean(term.total, term.count) for term in weighed]).sum()

    def _log_train(self, name: str, value: Any, count: Any) -> None:
        """The mean over the epoch and all ranks of what is a mean over `count` here."""
        bar = name == "loss"
        self.log(f"train/{name}", value, prog_bar=bar, on_step=False, on_epoch=True, sync_dist=True, batch_size=count)

    # evaluation

    def validation_step(self, batch: PairBatch, batch_idx: int) -> None:
        self._forced(batch, "val", self.val_metrics)
        self._free(batch, "val", self.val_metrics, self.greedy)
        self._free_running(batch, "val", self.val_metrics)

    def test_step(self, batch: PairBatch, batch_idx: int) -> None:
        metrics = self.test_metrics
        self._forced(batch, "test", metrics)
        self._free(batch, "test", metrics, self.decode)
        self._free_running(batch, "test", metrics)

    def _log(self, stage: str, metrics: nn.ModuleDict, name: str, size: int, *values: Any) -> None:
        metric = metrics[name]
        assert isinstance(metric, Metric)
        metric.update(*values)
        bar = stage == "val" and name in ("perplexity", "bleu", "exact_match")
        self.log(f"{stage}/{name}", metric, prog_bar=bar, on_step=False, on_epoch=True, batch_size=size)

    def _forced(self, batch: PairBatch, stage: str, metrics: nn.ModuleDict) -> None:
        """What the network says of the true translation, the true tokens being read."""
        network: Any = self.network
        output = self(batch, need_weights=batch.alignment is not None)
        size, target = len(batch), batch.true_tokens
        nll, _ = vocabulary_cross_entropy(output.logits, target)
        self._log(stage, metrics, "loss", size, nll, len(target))
        self._log(stage, metrics, "perplexity", size, nll, len(target))
        weights = source_attention(output.attention)
        if batch.alignment is not None and weights is not None:
            real = batch.forced.mask
            rows, links = weights[real], batch.alignment[real]  # (N, S): each token by itself
            seen = batch.source_words if network.attends_to == "words" else batch.source_mask
            chance = uniform_rows(seen, weights.shape[1])[real]
            self._log(stage, metrics, "attention_recall", size, rows, links)
            self._log(stage, metrics, "attention_chance", size, chance, links)
            self._log(stage, metrics, "alignment_error_rate", size, weights, batch.alignment)

    def _free(self, batch: PairBatch, stage: str, metrics: nn.ModuleDict, decode: Any) -> None:
        """What the network writes itself, against the reference."""
        assert batch.target_text is not None
        size, encoder = len(batch), self.encoder
        found = [best for best, *_ in decode(self.network, batch, self.spec)]
        assert batch.source_text is not None
        sources = [encoder.words(text) for text in batch.source_text] if self.replace_unknown else [()] * len(found)
        tokens = [self._words(best, source) for best, source in zip(found, sources, strict=True)]
        texts = [encoder.text(words) for words in tokens]
        split = [encoder.target.tokenizer.split(text) for text in batch.target_text]
        true = [row.forms for row in split]
        if encoder.text_options.subwords:  # one text has many splits, and all unknown pieces look alike
            spelt = [encoder.target.tokenizer.join(row.shown) for row in split]
            self._log(stage, metrics, "exact_match", size, texts, spelt)
        else:
            self._log(stage, metrics, "exact_match", size, tokens, true)
        if "bleu" in metrics:
            self._log(stage, metrics, "bleu", size, texts, batch.target_text)
            self._log(stage, metrics, "chrf", size, texts, batch.target_text)
        if "token_bleu" in metrics:
            self._log(stage, metrics, "token_bleu", size, *([" ".join(row) for row in side] for side in (tokens, true)))

    def _free_running(self, batch: PairBatch, stage: str, metrics: nn.ModuleDict) -> None:
        """The perplexity of the true tokens where the network reads its own likeliest ones."""
        assert self.spec is not None
        spec, target = self.spec, batch.true_tokens
        network: Any = self.network
        own = walk(network, batch, lambda log_probs, true: likeliest(log_probs, spec), need_weights=False)
        nll = nn.functional.nll_loss(own.logits.float(), target, reduction="sum")
        self._log(stage, metrics, "free_running_perplexity", len(batch), nll, len(target))

    def signatures(self) -> dict[str, str]:
        found = {
            name: metric for name, metric in self.test_metrics.items() if isinstance(metric, CorpusBLEU | CorpusChrF)
        }
        return {f"test/{name}": metric.signature for name, metric in found.items()}

    # predicting

    def search(self, beam_size: int | None, nbest: int | None) -> None:
        """Decode by beam search with these, what is None as the run was told. Raises ConfigError where they make no
        sense."""
        told = {key: value for key, value in self.hparams["decoding"].items() if key != "_target_"}
        if not issubclass(get_class(self.hparams["decoding"]["_target_"]), BeamSearch):
            told = {"length_penalty": 0.6} | self._rules()
        count = told.get("nbest", 1) if nbest is None else nbest
        size = max(told.get("beam_size", 5), count) if beam_size is None else beam_size
        if nbest is None:
            count = min(count, max(size, 1))
        self.decode = BeamSearch(**told | {"beam_size": size, "nbest": count})

    def _rules(self) -> dict[str, Any]:
        """Of what may be written, whatever searches for it."""
        told = self.hparams["decoding"]
        return {rule: told[rule] for rule in RULES if rule in told}

    def predict_step(self, batch: PairBatch, batch_idx: int = 0) -> list[list[Hypothesis]]:
        return self.decode(self.network, batch, self.spec)

    def predictions(self, batch: PairBatch, words: list[Any]) -> list[TranslationPrediction]:
        """Translations, best first; `words` are the source tokens as they should be shown, end marks included."""
        found = self.predict_step(batch)
        return [
            TranslationPrediction(tuple(source), tuple(self._shown(hypothesis, source) for hypothesis in nbest))
            for source, nbest in zip(words, found, strict=True)
        ]

    def _words(self, hypothesis: Hypothesis, source: Sequence[str]) -> list[str]:
        """The target tokens without their end; unknown ones from the `source` tokens where that is asked for."""
        words, encoder = self.encoder.target.vocabulary.decode(hypothesis.ids), self.encoder
        if self.replace_unknown:
            assert self.spec is not None
            read = [word.lower() if encoder.text_options.lower else word for word in source[:-1]]  # without its end
            words = replace_unknown(words, hypothesis, read, unknown=self.spec.unknown, dictionary=self.dictionary)
        return words[: len(words) - hypothesis.finished]

    def _shown(self, hypothesis: Hypothesis, source: Sequence[str]) -> Translated:
        weights = hypothesis.alignment
        return Translated(
            text=self.encoder.text(self._words(hypothesis, source)),
            tokens=tuple(self.encoder.target.vocabulary.decode(hypothesis.ids)),
            log_prob=hypothesis.log_prob,
            score=hypothesis.score,
            finished=hypothesis.finished,
            attention=None if weights is None else tuple(map(tuple, weights.tolist())),
        )

    def review(self, batch: PairBatch) -> list[ReviewedTranslation]:
        assert batch.source_text is not None
        vocabulary, words = self.encoder.target.vocabulary, [self.encoder.words(text) for text in batch.source_text]
        reviewed = []
        for b, prediction in enumerate(self.predictions(batch, words)):
            links = None
            if batch.alignment is not None and batch.target is not None and batch.target_mask is not None:
                true = vocabulary.decode(batch.target[b][batch.target_mask[b]].tolist())
                if tuple(true) == prediction.best.tokens:
                    links = [(int(s), int(t)) for t, s in batch.alignment[b].nonzero()]
            reference = None if batch.target_text is None else batch.target_text[b]
            reviewed.append(ReviewedTranslation(int(batch.index[b]), prediction, reference, links))
        return reviewed
