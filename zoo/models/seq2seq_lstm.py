"""Sequence to Sequence Learning with Neural Networks.

Ilya Sutskever, Oriol Vinyals, Quoc V. Le. NIPS 2014. https://arxiv.org/abs/1409.3215

Equations: (1), with v the states of all layers: p(y | x) = prod_t p(y_t | v, y_1, ..., y_{t-1}), a softmax over the
top layer of the decoder; each layer of both sides is an LSTM:
    i, f, o = sigmoid(W x + U h),  g = tanh(W_g x + U_g h),  c' = f * c + i * g,  h' = o * tanh(c').

What differs from the paper:
- Each LSTM has torch's two biases, and the softmax has one.
- `dropout` (0 in the paper) acts on embeddings, between layers and on the top layer's output (Zaremba et al. 2014).
- `init_range=None` is for short runs: weights start as by `zoo.layers.init.start_network_`.
- `shared=true` lets one stack of LSTMs read and write, which halves the recurrent weights. The paper uses two
  stacks, because more weights cost it almost no time.
- If the target equals the source (`data=copy`), the network is an autoencoder.

As in the paper's figure, the encoder reads the end token last: only the words before it are reversed. The decoder
starts from (h, c) of each encoder layer.

Notation: B sentences, S source and T target tokens, N real target tokens of the batch, K hypotheses, L layers, E
embedding, n hidden units, V words.
"""

import torch
from torch import Tensor, nn

from zoo.arguments import Count, Positive, Share
from zoo.data.pairs.batch import PairBatch, PairSpec
from zoo.layers.embedding import TokenEmbedding
from zoo.layers.init import start_network_
from zoo.layers.recurrent import LSTM
from zoo.layers.state import State, Step, log_probabilities
from zoo.linear import Linear
from zoo.models.network import WritingNetwork
from zoo.models.output import Output


class Seq2SeqLSTM(WritingNetwork):
    """Stacked LSTMs read the reversed source. Others start from their last states and write the target. No attention.

    With `shared`, encoder and decoder are the same module; embeddings are separate, as the two vocabularies are.
    All weights start in [-init_range, init_range], as in the paper.
    """

    tasks = ("translation",)

    def __init__(
        self,
        spec: PairSpec,
        *,
        embedding_dim: Count = 1000,
        hidden_dim: Count = 1000,
        num_layers: Count = 4,
        reverse_source: bool = True,
        shared: bool = False,
        dropout: Share = 0.0,
        init_range: Positive | None = 0.08,
    ) -> None:
        super().__init__()
        between = dropout if num_layers > 1 else 0.0
        self.source_embedding = TokenEmbedding(spec.source_size, embedding_dim, padding_idx=spec.padding)
        self.encoder = LSTM(embedding_dim, hidden_dim, num_layers=num_layers, dropout=between)
        self.target_embedding = TokenEmbedding(spec.target_size, embedding_dim, padding_idx=spec.padding)
        self.decoder = self.encoder
        if not shared:
            self.decoder = LSTM(embedding_dim, hidden_dim, num_layers=num_layers, dropout=between)
        self.vocabulary = Linear(hidden_dim, spec.target_size)
        self.dropout = nn.Dropout(dropout)
        self.reverse_source = reverse_source
        start_network_(self, init_range, self.vocabulary)

    def forward(self, batch: PairBatch, *, need_weights: bool = True) -> Output:
        read, _, targets = batch.forced
        y = self.dropout(self.target_embedding(targets.pack(read)))  # (N, E)
        h, _ = self.decoder(y, targets, self._encode(batch))  # (N, n)
        return Output(self.vocabulary(self.dropout(h)))

    def start(self, batch: PairBatch) -> State:
        return State({}, self.decoder.hypotheses(self._encode(batch)))

    def step(self, tokens: Tensor, state: State) -> Step:
        y = self.dropout(self.target_embedding(tokens))  # (B, K, E)
        top, after = self.decoder.read(y, state.hypotheses)  # (B, K, n)
        log_probs = log_probabilities(self.vocabulary(self.dropout(top)))  # (B, K, V)
        return Step(log_probs, State(state.memory, after), {})

    def _encode(self, batch: PairBatch) -> tuple[Tensor, Tensor]:
        """The last h and c of each layer of the encoder, (L, B, n) each."""
        sources = batch.source_packing
        source = reversed_words(batch.source, batch.source_mask) if self.reverse_source else batch.source
        _, state = self.encoder(self.dropout(self.source_embedding(sources.pack(source))), sources)
        return state


def reversed_words(tokens: Tensor, mask: Tensor) -> Tensor:
    """Reverse all real tokens but the last of each row (B, S); `mask` (B, S) is a prefix of each row."""
    step = torch.arange(tokens.shape[1], device=tokens.device)
    last = mask.sum(1, keepdim=True) - 1  # (B, 1)
    return tokens.gather(1, torch.where(step < last, last - 1 - step, step))
