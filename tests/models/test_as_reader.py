"""The attention sum reader against the paper's equations as slow loops."""

import math

import torch

from tests.models.cloze_batches import QUESTIONS, SPEC, assert_answers, batch_of, shaken
from tests.models.equations import both_directions
from zoo.models import ASReader

SMALL = {"embedding_dim": 5, "hidden_dim": 4}


def test_equals_the_equations_written_as_loops():
    model = shaken(ASReader(SPEC, **SMALL))
    output = model(batch_of(QUESTIONS))
    for b, (document, query, candidates) in enumerate(QUESTIONS):
        f = both_directions(model.document_encoder, [model.embedding.weight[word] for word in document])
        g = both_directions(model.query_encoder, [model.embedding.weight[word] for word in query])
        g = torch.cat([g[-1][:4], g[0][4:]])  # the last state of each direction
        exponentials = [math.exp(float((h @ g).detach())) for h in f]
        s = [one / sum(exponentials) for one in exponentials]  # (1)
        assert_answers(output, b, s, (document, query, candidates))  # (2)
