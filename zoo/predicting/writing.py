"""The base of predictions of written sequences: decoding as the run was configured, or by another search."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from zoo.data.batch import Spec
from zoo.decoding import BeamSearch, Decoding, Hypothesis
from zoo.decoding.fusion import WEIGHT, Fused, LanguageModel
from zoo.dotted import class_at
from zoo.errors import ConfigError
from zoo.models.output import Output
from zoo.predicting.predicting import Predicting

RULES = ("min_length", "max_length", "no_repeat_ngram", "language_model", "language_weight")
"""Options of every way of decoding."""


class WritingPredictions(Predicting):
    """The sequences that any network with `start` and `step` writes (see `zoo.layers.state`)."""

    length_penalty: ClassVar[float] = 0.6
    """The length penalty of `--beam` where the run was configured for another way of decoding."""
    spec: Any  # A `Spec` that is a `zoo.objectives.TargetSpec`
    language_model: Any = None  # The `Predictor` of decoding.language_model, which is read before the network is built
    _language: LanguageModel | None = None

    def build(self, spec: Spec, encoder: Any) -> None:
        super().build(spec, encoder)
        self.decode = self._decoding()(**self._decoding_options())
        if self.language_model is not None:
            self.fuse(self.language_model, self._decoding_options().get("language_weight", WEIGHT))

    def fuse(self, language: Any, weight: float) -> None:
        """Decode with a language model, given as the `Predictor` of its checkpoint. Raises ConfigError for another kind
        of network, and where it does not have the tokens that this network writes."""
        known, words = language.encoder.entries("vocabulary_size"), self.encoder.entries("target_size")
        if not getattr(language.task.network, "carries", False) or known is None or words is None:
            raise ConfigError(
                f"decoding.language_model: a {language.task.name} network without a vocabulary of its own cannot say "
                "how likely a text is; give the checkpoint of a language model of words, subwords or characters"
            )
        self._language = LanguageModel.of(language.task.network, known, words, self.spec, weight)

    def forward(self, batch: Any, *, need_weights: bool = True) -> Output:
        return self.network(batch, need_weights=need_weights)

    @property
    def writing(self) -> Any:
        """The network for decoding, with its language model if it has one. A task with a constraint wraps the network
        in it (see `zoo.decoding.constraint`). Teacher forcing uses the network alone, and so does training."""
        return self.network if self._language is None or self.training else Fused(self.network, self._language)

    def search(self, beam_size: int | None, nbest: int | None) -> None:
        """Decode by beam search with these values; where one is None, the run's own is used. Raises ConfigError for
        values that make no sense."""
        options = self._decoding_options()
        if not issubclass(self._decoding(), BeamSearch):
            options = {"length_penalty": self.length_penalty} | self._rules()
        count = options.get("nbest", 1) if nbest is None else nbest
        size = max(options.get("beam_size", 5), count) if beam_size is None else beam_size
        if nbest is None:
            count = min(count, max(size, 1))
        self.decode = BeamSearch(**options | {"beam_size": size, "nbest": count})

    def _decoding(self) -> type[Decoding]:
        return class_at(self.options["decoding"]["_target_"], Decoding)

    def _decoding_options(self) -> dict[str, Any]:
        return {key: value for key, value in self.options["decoding"].items() if key != "_target_"}

    def _rules(self) -> dict[str, Any]:
        """The options of the configured decoding that every other way of decoding has, too."""
        options = self._decoding_options()
        return {rule: options[rule] for rule in RULES if rule in options}

    def predict_step(self, batch: Any, batch_idx: int = 0) -> list[list[Hypothesis]]:
        return self.decode(self.writing, batch, self.spec)

    @torch.inference_mode()
    def reading(self, batch: Any, written: Sequence[Hypothesis], *, need_weights: bool = True) -> Output:
        """The output of the network while it reads a written sequence for each example of a batch, which replaces the
        target of the batch if it has one."""
        ids = [torch.tensor(one.ids, dtype=torch.long, device=batch.index.device) for one in written]
        mask = pad_sequence([torch.ones_like(row, dtype=torch.bool) for row in ids], batch_first=True)
        return self(self.as_targets(batch, pad_sequence(ids, True), mask), need_weights=need_weights)

    def as_targets(self, batch: Any, ids: Tensor, mask: Tensor) -> Any:
        """A batch with written tokens (B, T) as its targets; the mask (B, T) is True at tokens."""
        return replace(batch, target=ids, target_mask=mask, target_input=None, target_packing=None)

    @torch.inference_mode()
    def whole_attention(self, batch: Any) -> tuple[Hypothesis, dict[str, Tensor]]:
        """The best sequence for a batch of one example, and all attention of the network while it reads that sequence:
        (L, H, R, C) by name, for L layers and H heads."""
        best = self.predict_step(batch)[0][0]
        found: dict[str, list[Tensor]] = {}
        for name, weights in self.reading(batch, [best]).attention.items():
            found.setdefault(name.partition(".")[0], []).append(weights[0] if weights.dim() == 4 else weights)
        return best, {name: torch.stack(layers) for name, layers in found.items()}


def search_fields(hypothesis: Hypothesis) -> dict[str, Any]:
    """The fields that all predictions show of a hypothesis. `attention` (T, S) becomes tuples, or None."""
    weights = hypothesis.alignment
    return {
        "log_prob": hypothesis.log_prob,
        "score": hypothesis.score,
        "finished": hypothesis.finished,
        "attention": None if weights is None else tuple(map(tuple, weights.tolist())),
    }
