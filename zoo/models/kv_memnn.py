"""Key-Value Memory Networks for Directly Reading Documents.

Alexander Miller, Adam Fisch, Jesse Dodge, Amir-Hossein Karimi, Antoine Bordes, Jason Weston. EMNLP 2016.
https://arxiv.org/abs/1606.03126

Equations: key hashing, addressing, value reading and the answer (section 3, without numbers); slots of sentences and of
windows (section 4).

What differs from the paper:
- `times=true`: the age of a sentence, counted back from the question, is a feature of its key and of its value. The
  paper's documents are encyclopaedic; stories cannot be understood without it.
- If no slot shares a word with the question, all slots are kept.
- `answers="own"` is the B of the equations. The authors' code shares it with A, which is `shared`.
- Window centres with their own dictionary, and titles as values, fit the paper's documents. They are not here.

Notation: B questions, S sentences of a story of W words, N slots, d width of the embeddings, V words, H hops; x, k, v,
q, p, o, R as in the paper.
"""

from typing import Literal

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from zoo.arguments import Count, Natural
from zoo.attention import masked_softmax
from zoo.data.stories.batch import StoryBatch, StorySpec
from zoo.models.network import Network
from zoo.models.output import Output

INIT_STD = 0.1


class KeyValueMemNN(Network):
    """Answers by H hops over slots; a slot has a key, which is matched, and a value, which is read.

    `slots` = sentence: a sentence is the key and the value; window: a word is the value, and the key is the word with
    `side` words of its sentence on each side. Slots are kept if they share a word with the question that is not one of
    the `common_words` most frequent.
    """

    tasks = ("answering",)
    attends = {"hop": "sentence_mask"}

    def __init__(
        self,
        spec: StorySpec,
        *,
        embedding_dim: Count = 50,
        hops: Count = 2,
        memory_size: Count = 50,
        slots: Literal["sentence", "window"] = "sentence",
        side: Natural = 3,
        common_words: Natural = 20,
        times: bool = True,
        answers: Literal["own", "shared"] = "own",
    ) -> None:
        super().__init__()
        self.windows = slots == "window"
        self.memory_size, self.side = memory_size, side
        self.first_rare = spec.unknown + 1 + common_words  # the vocabulary begins with the most frequent words
        self.embedding = nn.Embedding(spec.vocabulary_size, embedding_dim, padding_idx=spec.padding)  # A
        self.times = nn.Embedding(memory_size, embedding_dim) if times else None
        self.transforms = nn.Parameter(torch.empty(hops, embedding_dim, embedding_dim))  # R_j
        shared = answers == "shared"
        self.answers = self.embedding if shared else nn.Embedding(spec.vocabulary_size, embedding_dim)  # B
        for parameter in self.parameters():
            nn.init.normal_(parameter, std=INIT_STD)
        with torch.no_grad():
            self.embedding.weight[spec.padding] = 0
            self.transforms.add_(torch.eye(embedding_dim))

    def forward(self, batch: StoryBatch) -> Output:
        """Scores of the words as answers (B, V); attention `hop.0` ... to the sentences (B, S).

        The attention to a sentence is the sum over its windows.
        """
        age = (
            batch.sentence_mask.sum(1, keepdim=True)
            - 1
            - torch.arange(batch.sentence_mask.shape[1], device=batch.index.device)
        )
        here = batch.sentence_mask & (age < self.memory_size)  # (B, S)
        keys, values, mask = self._slots(batch, age, here)  # (B, N, d), (B, N, d), (B, N)
        asked = self.embedding(batch.question) * batch.question_mask[..., None]
        q = asked.sum(1)  # (B, d)    A Phi_X(x)

        attention = {}
        for hop, transform in enumerate(self.transforms):
            p = masked_softmax((q[:, None] @ keys.mT).squeeze(1), mask)  # (B, N)
            o = (p[:, None] @ values).squeeze(1)  # (B, d)
            q = (q + o) @ transform.mT  # R_j (q + o)
            attention[f"hop.{hop}"] = p.unflatten(1, (here.shape[1], -1)).sum(2)  # (B, S)
        return Output(q @ self.answers.weight.mT, attention)

    def _slots(self, batch: StoryBatch, age: Tensor, here: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Keys (B, N, d), values (B, N, d) and the mask (B, N) of kept slots; slots of a sentence are adjacent."""
        words = self.embedding(batch.words) * batch.word_mask[..., None]  # (B, S, W, d)
        shared = (batch.words[..., None] == batch.question[:, None, None]) & batch.question_mask[:, None, None]
        rare = shared.any(-1) & (batch.words >= self.first_rare) & batch.word_mask  # (B, S, W) as in the question
        if self.windows:
            keys, values = self._around(words), words
            found = self._around(rare[..., None].to(words.dtype)).squeeze(-1) > 0
            real = batch.word_mask & here[..., None]
        else:
            keys = values = words.sum(2, True)  # (B, S, 1, d)
            found, real = rare.any(2, keepdim=True), here[..., None]
        if self.times is not None:
            time = self.times(age.clamp(0, self.memory_size - 1))[:, :, None]  # (B, S, 1, d)
            keys, values = keys + time, values + time
        hashed = (found & real).flatten(1)
        mask = hashed | (real.flatten(1) & ~hashed.any(1, keepdim=True))
        return keys.flatten(1, 2), values.flatten(1, 2), mask

    def _around(self, words: Tensor) -> Tensor:
        """(B, S, W, d) -> sums over the window around each word of a sentence."""
        width = 2 * self.side + 1
        total = F.pad(words, (0, 0, self.side + 1, self.side)).cumsum(2)
        return total[:, :, width:] - total[:, :, :-width]
