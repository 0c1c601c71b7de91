"""HAN with a part that brings its weights along, for tests of what is frozen until some epoch."""

from typing import Any

from torch import Tensor, nn

from zoo.arguments import Natural, Positive
from zoo.data.documents.batch import DocumentBatch, DocumentSpec
from zoo.layers.pretrained import Pretrained
from zoo.models.han import HAN
from zoo.models.output import Output

TARGET = f"{__name__}.Thawing"


class Thawing(HAN):
    """Word vectors, averaged over a document, go through `brought` on the way to the scores, beside HAN's own."""

    def __init__(
        self, spec: DocumentSpec, *, finetune_from: Natural | None = None, learning_rate: Positive = 0.1, **han: Any
    ) -> None:
        super().__init__(spec, **han)
        width = self.embedding.embedding_dim
        body = nn.Sequential(nn.Linear(width, width), nn.Tanh(), nn.Dropout(0.5), nn.Linear(width, spec.num_classes))
        self.brought = Pretrained(body, finetune_from=finetune_from, learning_rate=learning_rate)

    def forward(self, batch: DocumentBatch) -> Output:
        output = super().forward(batch)
        return Output(output.logits + self.brought(self._mean(batch)), output.attention)

    def _mean(self, batch: DocumentBatch) -> Tensor:
        mask = batch.word_mask[..., None]
        return (self.embedding(batch.words) * mask).sum((1, 2)) / mask.sum((1, 2)).clamp(min=1)
