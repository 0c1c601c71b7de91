"""Show, Attend and Tell: Neural Image Caption Generation with Visual Attention.

Kelvin Xu, Jimmy Ba, Ryan Kiros, Kyunghyun Cho, Aaron Courville, Ruslan Salakhutdinov, Richard Zemel, Yoshua Bengio.
ICML 2015. https://arxiv.org/abs/1502.03044

Equations (as the authors' code, github.com/kelvinxu/arctic-captions, runs them; a_i the annotation vectors):
- Attention (4)-(6), whose query is the state before the recurrence, with the gate beta of section 4.2.1:
      e_ti = u . tanh(P a_i + b + W_d h_{t-1}),  alpha_t = softmax of e_t,  beta_t = sigmoid(w . h_{t-1} + b'),
      z_t = beta_t sum_i alpha_ti a_i, or in hard attention beta_t a_s of one place s drawn from alpha_t (4.1).
- LSTM (1)-(3): i, f, o = sigmoid, g = tanh of W E y_{t-1} + Z z_t + U h_{t-1} + b'',  c' = f c + i g,  h' = o tanh(c'),
  E y_0 = 0, from m = relu(W_0 mean_i a_i + b_0), h_0 = tanh(W_h m + b_h), c_0 = tanh(W_c m + b_c).
- Output (7): s_t = tanh(L_h h_t + E y_{t-1} + L_z z_t + b_s), p = softmax(L_o s_t + b_o).
- Hard attention (8)-(12) learns by REINFORCE on the drawn places (`hard_loss`), as in the authors' code: the reward of
  a caption is the mean over its words of log p(word). `forward` adds this loss to the output in training. The penalty
  (14), doubly stochastic attention, is `regularizer=doubly_stochastic`.

What differs from the paper:
- In the paper (7) is an exponential without tanh, and the perceptrons of h_0 and c_0 share no layer; here both are as
  in the code. Two biases of the code are left out: that of e, which a softmax ignores, and a second one in s_t.
- `energy=deep_tanh` has keys of two layers, tanh(P_1 (P a_i + b) + b_1), as the authors' run on COCO; `relu` has relu
  instead of tanh. `gate=vector` has a beta for each of the D numbers; `none` has no gate. `deep_output=false` is
  p = softmax(L_o h_t + b_o). A well-known tutorial of this paper uses relu, vector and false; its h_0 and c_0 have no
  tanh and one layer.
- `init` is that of `attending_lstm`, whose code runs here; `paper` is that of the authors' code.
- `dropout` (0.5 in the paper's runs) acts on m, on h_t before the output and on s_t.
- The task divides the likelihood by words and the penalty (14) by captions. The paper's lambda = 1 is therefore
  `regularizer.doubly_stochastic.weight` = 1 / (mean words of a caption). The authors' code takes the mean over the L
  places and the sum over the B captions: B / L of that, a third at B = 64 and L = 196.
- lambda_r and lambda_e of hard attention are divided by the batch neither in the authors' code nor by default here.
  But here the likelihood is a mean over words, there a sum over the words of a caption. For the authors' proportion
  divide both by the mean words of a caption.
- In training, `step` (for scheduled sampling and rewards) uses the expected context in hard attention too, as half of
  the authors' batches do: it has a gradient, and a drawn place has none.

Notation: I images, B captions, R captions with a word, N real words of all, T words of the longest, K hypotheses, S
places, D width of an annotation vector, A width of the attention, E embedding, n hidden units, V vocabulary.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Annotated, Any, Literal, get_type_hints

import torch
from annotated_types import Predicate
from torch import Tensor, nn

from zoo.arguments import Count, NonNegative, Probability, Share
from zoo.attention.softmax import draw
from zoo.data.images.batch import ImageBatch, ImageSpec
from zoo.errors import ConfigError, did_you_mean
from zoo.layers.images.encoder import image_encoder
from zoo.layers.loops.attention_viewer import Look, ViewerOutput
from zoo.models.attending_lstm import AttendingLSTM, Energy, Gate, Init, Widths
from zoo.precision import precise, precise_dtype
from zoo.values import hold

Attend = Literal["soft", "hard"]
LOOKS: dict[str, Look] = {"likeliest": "likeliest", "sample": "draw", "expected": "mean"}
"""The `Look` of the loop for each value of `reading`."""


class ShowAttendTell(AttendingLSTM):
    """An LSTM writes the caption and attends to the image before each word.

    `encoder` describes an `ImageEncoder`: its class as `_target_`, and its arguments. `attention` = soft | hard; hard
    reads `hard`, the keys of `Hard`.
    """

    tasks = ("captioning",)

    def __init__(
        self,
        spec: ImageSpec,
        *,
        encoder: Mapping[str, Any],
        embedding_dim: Count = 512,
        hidden_dim: Count = 1800,
        attention_dim: Count = 512,
        attention: Attend = "soft",
        hard: HardOptions = None,
        gate: Gate = "scalar",
        energy: Energy = "tanh",
        deep_output: bool = True,
        dropout: Share = 0.5,
        init: Init = "orthogonal",
    ) -> None:
        super().__init__()
        self.attention = attention
        self.hard = Hard.of(hard)
        if attention == "hard" and self.hard.reading == "sample":
            self.not_exported = "draws the place that it looks at, as hard.reading=sample says"
        self.encoder = image_encoder(encoder, spec)
        widths = Widths(self.encoder.dim, embedding_dim, hidden_dim, attention_dim)
        self.add_decoder(spec, widths, gate=gate, energy=energy, deep_output=deep_output, shared=True)
        self.dropout = nn.Dropout(dropout)
        self.baseline = Baseline(self.hard.baseline_decay)  # soft attention has it too: hard may start from its weights
        self._initialise(init)

    def annotations(self, batch: ImageBatch) -> tuple[Tensor, None]:
        return self.encoder(batch.image), None

    def losses(self, batch: ImageBatch, logits: Tensor, seen: ViewerOutput) -> dict[str, Tensor]:
        if self.attention == "soft" or not self.training:
            return {}
        return {"hard_attention": self._hard_loss(logits.detach(), batch, seen)}

    def look(self, *, whole_batch: bool) -> Look:
        if self.attention == "soft":
            return "mean"
        if not self.training:
            return LOOKS[self.hard.reading]
        return "draw" if whole_batch and float(torch.rand(())) >= self.hard.soft_half else "mean"

    def _context(self, alpha: Tensor, a: Tensor) -> Tensor:
        look = self.look(whole_batch=False)
        if look == "mean":
            return alpha @ a
        place = draw(alpha) if look == "draw" else alpha.argmax(-1)
        return a.gather(1, place[..., None].expand(-1, -1, a.shape[2]))

    def _hard_loss(self, logits: Tensor, batch: ImageBatch, seen: ViewerOutput) -> Tensor:
        """Loss of the hard attention weights; updates the baseline afterwards."""
        targets = batch.forced.packing
        scores = precise(logits)
        nll = scores.logsumexp(-1) - scores.gather(1, batch.true_tokens[:, None])[:, 0]  # (N,)
        words = targets.sum(torch.ones_like(nll))
        cost = targets.sum(nll) / words.clamp(min=1)  # (B,)
        loss = hard_loss(seen.weights, seen.places, cost, self.baseline.value, targets.row, self.hard)
        self.baseline.update(cost.index_select(0, targets.order))  # captions that have a word
        return loss


Reading = Literal["likeliest", "sample", "expected"]
DivideBy = Literal["nothing", "captions", "words"]


@dataclass(frozen=True)
class Hard:
    """The options of hard attention. Raises ConfigError for a value outside its range."""

    reward: NonNegative = 0.1
    """The weight of the REINFORCE term, lambda_r; 0 leaves it out."""
    entropy: NonNegative = 0.002
    """The weight lambda_e of the entropy term, which makes the attention weights more even."""
    baseline_decay: Probability = 0.9
    """The weight of the previous value in the running mean of the rewards, the baseline. 1 turns the baseline off."""
    soft_half: Probability = 0.5
    """The probability that a batch uses the expected context instead of one drawn place per word."""
    divide_by: DivideBy = "nothing"
    """The divisor of both terms: `nothing`, as in the authors' code; `captions`, the divisor of their likelihood; or
    `words`, the divisor of the likelihood here."""
    reading: Reading = "likeliest"
    """The context in evaluation: the value at the likeliest place, the value at a drawn place, or the expected
    value."""

    def __post_init__(self) -> None:
        for key, hint in get_type_hints(type(self), include_extras=True).items():
            hold(key, getattr(self, key), hint)

    @classmethod
    def of(cls, options: Mapping[str, Any] | None) -> Hard:
        """The options that a mapping of some of them sets. Raises ConfigError for an unknown key."""
        known = [field.name for field in fields(cls)]
        for key in options or {}:
            if key not in known:
                raise ConfigError(f"{key}: unknown key; {did_you_mean(key, known)}")
        return cls(**{str(key): value for key, value in (options or {}).items()})


def is_hard(options: Mapping[str, Any] | None) -> bool:
    """Return True, or raise the error of `Hard.of` as a ValueError with `hard` before the key."""
    try:
        Hard.of(options)
    except ConfigError as error:
        raise ValueError(f"hard: {error}") from error
    return True


HardOptions = Annotated[Mapping[str, Any] | None, Predicate(is_hard)]
"""Some of the keys of `Hard`, as a configuration file has them; None for its defaults."""


def hard_loss(
    weights: Tensor, places: Tensor | None, cost: Tensor, baseline: Tensor, row: Tensor, hard: Hard
) -> Tensor:
    """lambda_r sum_n (cost - b) log a_n(s_n) + lambda_e sum_n sum_s a_n(s) log a_n(s), (), divided as `hard` says.

    Its gradient by `weights` a (N, S) is that of section 4.1. `places` (N,) are the s that were drawn; None for the
    expected context, where the first term has no part in the gradient of the scores. `cost` (B,) is each caption's
    -log p, a mean over its words, `baseline` () is b, and `row` (N,) is the caption of each word.
    """
    log_weights = weights.clamp(min=torch.finfo(weights.dtype).tiny).log()  # avoids log 0
    total = hard.entropy * (weights * log_weights).sum()
    if places is not None:
        advantage = (cost.detach() - baseline).to(weights.dtype).index_select(0, row)
        total = total + hard.reward * (advantage * log_weights.gather(1, places[:, None])[:, 0]).sum()
    return total / {"nothing": 1, "captions": max(1, len(cost)), "words": max(1, len(weights))}[hard.divide_by]


class Baseline(nn.Module):
    """b, what a caption costs on average: a moving average over batches, one number, which begins at 0.

    It is at least float32, whatever the weights are: in bfloat16 it would stop moving. With several ranks, DDP copies
    the first rank's value to the others.
    """

    value: Tensor

    def __init__(self, decay: float) -> None:
        super().__init__()
        self.decay = decay
        self.register_buffer("value", torch.zeros((), dtype=precise_dtype(torch.get_default_dtype())))

    @torch.no_grad()
    def update(self, cost: Tensor) -> None:
        """Counts a batch whose captions cost `cost` (B,)."""
        if len(cost):
            self.value.mul_(self.decay).add_((1 - self.decay) * cost.mean().to(self.value.dtype))

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> Baseline:
        before = self.value
        super()._apply(fn, recurse)
        if self.value.dtype in (torch.float16, torch.bfloat16):
            self.value = before.to(self.value.device)
        return self
