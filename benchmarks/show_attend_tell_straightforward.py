"""Show, attend and tell as public tutorials write it: torch's LSTM cell in a loop over time, attention as a module, and
beam search for one image after the other.

`benchmarks/show_attend_tell.py` compares with it; equations and weights are equal. It follows the layout of tutorials.
Captions are sorted by length, and each step processes those that are not finished. Attention projects all their
annotation vectors at every step, and the scores of a step go into a padded tensor. Autograd runs through all of it. The
beam of an image is a list that shrinks as captions end, with the image's vectors copied for each of its hypotheses.

Notation: B captions, T words of the longest, S places, D numbers an annotation vector, V vocabulary.
"""

import torch
from torch import Tensor, nn

from zoo.models.show_attend_tell import ShowAttendTell


class Attention(nn.Module):
    """Additive attention with two projections."""

    def __init__(self, encoder_dim: int, decoder_dim: int, attention_dim: int) -> None:
        super().__init__()
        self.encoder_att = nn.Linear(encoder_dim, attention_dim)
        self.decoder_att = nn.Linear(decoder_dim, attention_dim, bias=False)
        self.full_att = nn.Linear(attention_dim, 1, bias=False)

    def forward(self, encoder_out: Tensor, h: Tensor) -> tuple[Tensor, Tensor]:
        """(B, S, D), (B, n) -> (B, D) and the weights (B, S)."""
        both = torch.tanh(self.encoder_att(encoder_out) + self.decoder_att(h).unsqueeze(1))
        alpha = self.full_att(both).squeeze(2).softmax(1)
        return (encoder_out * alpha.unsqueeze(2)).sum(1), alpha


class Straightforward(nn.Module):
    """The decoder, with the weights of `network`, whose defaults it follows."""

    def __init__(self, network: ShowAttendTell) -> None:
        super().__init__()
        depth, words = network.key.in_features, network.vocabulary.out_features
        hidden, embedded = network.query.in_features, network.embedding.embedding_dim
        self.attention = Attention(depth, hidden, network.key.out_features)
        self.embedding = nn.Embedding(words, embedded)
        self.decode_step = nn.LSTMCell(embedded + depth, hidden)
        self.init = nn.Linear(depth, depth)
        self.init_h, self.init_c = nn.Linear(depth, hidden), nn.Linear(depth, hidden)
        self.f_beta = nn.Linear(hidden, 1)
        self.of_hidden, self.of_context = nn.Linear(hidden, embedded), nn.Linear(depth, embedded, bias=False)
        self.fc = nn.Linear(embedded, words)
        self.dropout = nn.Dropout(network.dropout.p)
        self._take(network)

    @torch.no_grad()
    def _take(self, network: ShowAttendTell) -> None:
        assert network.gate is not None
        pairs = [
            (self.attention.encoder_att, network.key),
            (self.attention.decoder_att, network.query),
            (self.embedding, network.embedding),
            (self.init, network.initial),
            (self.init_h, network.initial_hidden),
            (self.init_c, network.initial_cell),
            (self.f_beta, network.gate),
            (self.of_hidden, network.output_hidden),
            (self.of_context, network.output_context),
            (self.fc, network.vocabulary),
        ]
        for own, other in pairs:
            own.load_state_dict(other.state_dict())
        self.attention.full_att.weight.copy_(network.v[None])
        cell, token = self.decode_step, network.decoder_token
        cell.weight_ih.copy_(torch.cat([token.weight, network.decoder_context.weight], 1))
        cell.weight_hh.copy_(network.decoder_state.weight)
        cell.bias_ih.copy_(token.bias)
        cell.bias_hh.zero_()

    def forward(self, encoder_out: Tensor, captions: Tensor, lengths: Tensor) -> Tensor:
        """Scores (B, T, V), 0 at padding, of annotation vectors (B, S, D) and the tokens that are read (B, T); captions
        longest first."""
        h, c = self.init_hidden_state(encoder_out)
        embeddings = self.embedding(captions)
        predictions = encoder_out.new_zeros(*captions.shape, self.fc.out_features)
        for t in range(int(lengths.max())):
            running = int((lengths > t).sum())
            scores, h, c, _ = self.step(encoder_out[:running], embeddings[:running, t], h[:running], c[:running])
            predictions[:running, t] = scores
        return predictions

    def init_hidden_state(self, encoder_out: Tensor) -> tuple[Tensor, Tensor]:
        """h_0 and c_0 (B, n)."""
        m = self.dropout(torch.relu(self.init(encoder_out.mean(1))))
        return torch.tanh(self.init_h(m)), torch.tanh(self.init_c(m))

    def step(
        self, encoder_out: Tensor, embedded: Tensor, h: Tensor, c: Tensor
    ) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """One word: scores (B, V), h and c (B, n), weights (B, S)."""
        context, alpha = self.attention(encoder_out, h)
        context = torch.sigmoid(self.f_beta(h)) * context
        h, c = self.decode_step(torch.cat([embedded, context], 1), (h, c))
        s = torch.tanh(self.of_hidden(self.dropout(h)) + embedded + self.of_context(context))
        return self.fc(self.dropout(s)), h, c, alpha

    @torch.no_grad()
    def caption(
        self, encoder_out: Tensor, beam_size: int, begin: int, end: int, steps: int, never: list[int]
    ) -> tuple[list[int], float]:
        """The best of `beam_size` hypotheses of one image (S, D), and its log-probability. It has `steps` tokens: `end`
        comes at the last step and not before. Tokens in `never` are not written."""
        k = beam_size
        encoder_out = encoder_out.unsqueeze(0).expand(k, *encoder_out.shape).contiguous()
        h, c = self.init_hidden_state(encoder_out)
        previous = torch.full((k,), begin)
        sequences = torch.zeros(k, 0, dtype=torch.long)
        top = torch.zeros(k, 1)
        alphas = torch.zeros(k, 0, encoder_out.shape[1])
        finished: list[tuple[float, list[int]]] = []
        for step in range(1, steps + 1):
            scores, h, c, alpha = self.step(encoder_out, self.embedding(previous), h, c)
            scores = torch.log_softmax(scores, 1)
            scores[
                :, [*never, end] if step < steps else [at for at in range(scores.shape[1]) if at != end]
            ] = -torch.inf
            scores = top + scores
            flat = scores[0] if step == 1 else scores.view(-1)
            best, cells = flat.topk(k)
            rows, words = cells // scores.shape[1], cells % scores.shape[1]
            sequences = torch.cat([sequences[rows], words.unsqueeze(1)], 1)
            alphas = torch.cat([alphas[rows], alpha[rows].unsqueeze(1)], 1)
            done = words == end
            for at in done.nonzero().squeeze(1).tolist():
                finished.append((float(best[at]), sequences[at].tolist()))
            k -= int(done.sum())
            if k == 0:
                break
            sequences, alphas, rows, top = sequences[~done], alphas[~done], rows[~done], best[~done].unsqueeze(1)
            h, c, encoder_out, previous = h[rows], c[rows], encoder_out[rows], words[~done]
        score, words_found = max(finished)
        return words_found, score
