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
- `init=orthogonal` has an orthogonal U, embeddings from N(0, 1), other matrices by Glorot and Bengio (2010).
  `init=paper`, as the code, has orthogonal square matrices (U among them, but not P and Z), others from N(0, 0.01^2).
  Biases are 0.
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
from zoo.layers.embedding import TokenEmbedding
from zoo.layers.images.encoder import image_encoder
from zoo.layers.init import orthogonal_matrix_
from zoo.layers.loops.additive import additive_scores
from zoo.layers.loops.attention import TimeSteps
from zoo.layers.loops.attention_viewer import AttendedImages, Look, ViewerOutput, attention_viewer
from zoo.layers.packing import Packing
from zoo.layers.state import State, Step, log_probabilities
from zoo.linear import Linear
from zoo.models.network import WritingNetwork
from zoo.models.output import Output
from zoo.precision import precise, precise_dtype
from zoo.values import hold

Attend = Literal["soft", "hard"]
Energy = Literal["tanh", "deep_tanh", "relu"]
Gate = Literal["scalar", "vector", "none"]
Init = Literal["orthogonal", "paper"]
LOOKS: dict[str, Look] = {"likeliest": "likeliest", "sample": "draw", "expected": "mean"}
"""The `Look` of the loop for each value of `reading`."""


class ShowAttendTell(WritingNetwork):
    """An LSTM writes the caption and attends to the image before each word.

    `encoder` describes an `ImageEncoder`: its class as `_target_`, and its arguments. `attention` = soft | hard; hard
    reads `hard`, the keys of `Hard`.
    """

    tasks = ("captioning",)
    attends = {"source": "memory_mask"}

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
        self.energy = energy
        self.encoder = image_encoder(encoder, spec)
        depth = self.encoder.dim
        self.initial = nn.Linear(depth, depth)  # W_0
        self.initial_hidden = nn.Linear(depth, hidden_dim)  # W_h
        self.initial_cell = nn.Linear(depth, hidden_dim)  # W_c
        self.key = nn.Linear(depth, attention_dim)  # P
        self.deep_key = nn.Linear(attention_dim, attention_dim) if energy == "deep_tanh" else None  # P_1
        self.query = Linear(hidden_dim, attention_dim, bias=False)  # W_d
        self.v = nn.Parameter(torch.empty(attention_dim).uniform_(-1, 1) / attention_dim**0.5)  # u
        width = {"none": 0, "scalar": 1, "vector": depth}[gate]
        self.gate = nn.Linear(hidden_dim, width) if width else None  # w
        self.embedding = TokenEmbedding(spec.target_size, embedding_dim, padding_idx=spec.begin)  # E, E y_0 = 0
        self.decoder_token = Linear(embedding_dim, 4 * hidden_dim)  # W
        self.decoder_context = Linear(depth, 4 * hidden_dim, bias=False)  # Z
        self.decoder_state = Linear(hidden_dim, 4 * hidden_dim, bias=False)  # U
        self.deep_output = deep_output
        if deep_output:
            self.output_hidden = Linear(hidden_dim, embedding_dim)  # L_h
            self.output_context = Linear(depth, embedding_dim, bias=False)  # L_z
        self.vocabulary = Linear(embedding_dim if deep_output else hidden_dim, spec.target_size)  # L_o
        self.dropout = nn.Dropout(dropout)
        self.baseline = Baseline(self.hard.baseline_decay)  # soft attention has it too: hard may start from its weights
        self._initialise(init)

    def forward(self, batch: ImageBatch, *, need_weights: bool = True) -> Output:
        """Scores (N, V) of the real words in the order of `batch.target_packing`; attention `source` (B, T, S), the
        weights alpha that hard attention draws from.

        In evaluation it equals repeated calls of `step`, unless a place is drawn. What depends on the image alone is
        computed once per image, for all its captions.
        """
        read, _, targets = batch.forced
        a = self.encoder(batch.image)  # (I, S, D)
        y = self.embedding(targets.pack(read))  # (N, E)
        seen = self._view(a, y, batch.picture.index_select(0, targets.order), targets)
        logits = self._scores(seen.hidden.to(y.dtype), y, seen.context.to(y.dtype))
        losses = {}
        if self.attention == "hard" and self.training:
            losses["hard_attention"] = self._hard_loss(logits.detach(), batch, seen)
        return Output(logits, {"source": targets.unpack(seen.weights)} if need_weights else {}, losses)

    def start(self, batch: ImageBatch) -> State:
        a = self.encoder(batch.image)  # (I, S, D)
        h, c = self._first_state(a)  # (I, n)
        memory = {"vectors": a, "keys": self._keys(a)}
        parts = {"hidden": h[:, None], "cell": c[:, None]}
        memory, hypotheses = (
            {name: part.index_select(0, batch.picture) for name, part in group.items()} for group in (memory, parts)
        )
        return State(memory, hypotheses)

    def step(self, tokens: Tensor, state: State) -> Step:
        h, c = state.hypotheses["hidden"], state.hypotheses["cell"]  # (B, K, n)
        y = self.embedding(tokens)  # (B, K, E)

        alpha = self._energies(h, state.memory["keys"]).softmax(-1)  # (4), (5) (B, K, S)
        z = self._looked_at(alpha.to(y.dtype), state.memory["vectors"])  # (6) (B, K, D)
        if self.gate is not None:
            z = self.gate(h).sigmoid() * z
        i, f, g, o = (self.decoder_token(y) + self.decoder_context(z) + self.decoder_state(h)).chunk(4, -1)  # (1)
        c = f.sigmoid() * c + i.sigmoid() * g.tanh()  # (2)
        h = o.sigmoid() * c.tanh()  # (3)
        log_probs = log_probabilities(self._scores(h, y, z))  # (7) (B, K, V)
        return Step(log_probs, State(state.memory, {"hidden": h, "cell": c}), {"source": alpha})

    def _view(self, a: Tensor, y: Tensor, picture: Tensor, targets: Packing) -> ViewerOutput:
        """All steps of the R captions that have a word, longest first.

        `a` (I, S, D) are the annotation vectors, `y` (N, E) the tokens read, `picture` (R,) the image of each caption.
        """
        dtype = precise_dtype(a.dtype)
        keys, h, c = (part.index_select(0, picture).to(dtype) for part in (self._keys(a), *self._first_state(a)))
        asks, gate_bias = self.query.weight, self.query.weight.new_empty(0)
        if self.gate is not None:
            asks, gate_bias = torch.cat([asks, self.gate.weight]), self.gate.bias
        weight = torch.cat([self.decoder_context.weight, self.decoder_state.weight], 1)  # (4n, D + n)
        values = a.index_select(0, picture).to(dtype)  # (R, S, D)
        view = AttendedImages(keys, values, self.v.to(dtype), asks.to(dtype), gate_bias.to(dtype))
        table = self.decoder_token(y).to(dtype)  # (N, 4n)
        energy: Literal["tanh", "relu"] = "relu" if self.energy == "relu" else "tanh"
        return attention_viewer(
            table, (h, c), weight.to(dtype), view, TimeSteps.of(targets), energy, self._look(whole_batch=True)
        )

    def _look(self, *, whole_batch: bool) -> Look:
        """The kind of look; in training it is drawn once for a whole batch."""
        if self.attention == "soft":
            return "mean"
        if not self.training:
            return LOOKS[self.hard.reading]
        return "draw" if whole_batch and float(torch.rand(())) >= self.hard.soft_half else "mean"

    def _looked_at(self, alpha: Tensor, a: Tensor) -> Tensor:
        """Contexts (B, K, D) from weights (B, K, S) and annotation vectors (B, S, D)."""
        look = self._look(whole_batch=False)
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

    def _first_state(self, a: Tensor) -> tuple[Tensor, Tensor]:
        """h_0 and c_0 (I, n) of images by their annotation vectors (I, S, D)."""
        m = self.dropout(self.initial(a.mean(1)).relu())
        return self.initial_hidden(m).tanh(), self.initial_cell(m).tanh()

    def _keys(self, a: Tensor) -> Tensor:
        """(..., S, D) -> (..., S, A)."""
        keys = self.key(a)
        return keys if self.deep_key is None else self.deep_key(keys).tanh()

    def _energies(self, h: Tensor, keys: Tensor) -> Tensor:
        """e (B, K, S) of states (B, K, n) with keys (B, S, A), in float32 at least."""
        query = self.query(h)
        if self.energy != "relu":
            return additive_scores(query, keys, self.v)
        dtype = precise_dtype(query.dtype)
        return (query[:, :, None] + keys[:, None]).relu().to(dtype) @ self.v.to(dtype)

    def _scores(self, h: Tensor, y: Tensor, z: Tensor) -> Tensor:
        """(..., V) from h_t (..., n), E y_{t-1} (..., E) and z_t (..., D)."""
        s = self.dropout(h)
        if self.deep_output:
            s = self.dropout((self.output_hidden(s) + y + self.output_context(z)).tanh())
        return self.vocabulary(s)

    def _initialise(self, init: Init) -> None:
        paper, linears = init == "paper", [part for part in self.children() if isinstance(part, nn.Linear)]
        never_orthogonal = self.key, self.decoder_context
        for linear in linears:
            gates = 4 if linear in (self.decoder_token, self.decoder_context, self.decoder_state) else 1
            for matrix in linear.weight.detach().chunk(gates):
                square = matrix.shape[0] == matrix.shape[1]
                if linear is self.decoder_state or (paper and square and linear not in never_orthogonal):
                    orthogonal_matrix_(matrix)
                else:
                    nn.init.normal_(matrix, std=0.01) if paper else nn.init.xavier_uniform_(matrix)
            if linear.bias is not None:
                nn.init.zeros_(linear.bias)
        if paper:
            nn.init.normal_(self.v, std=0.01)
            self.embedding.weight.detach().mul_(0.01)  # torch drew it from N(0, 1), and one row is zero


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
