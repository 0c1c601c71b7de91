"""The attention sum reader against the paper's equations as slow loops."""

import math

import torch

from tests.models.cloze_batches import QUESTIONS, SPEC, assert_answers, assert_start, batch_of, shaken
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


def test_without_a_query_nothing_is_attended_to():
    model = ASReader(SPEC, **SMALL).eval()
    whole = batch_of([([3, 4], [2, 5], [3, 4]), ([3, 4], [2, 5], [3, 4])])
    mask = whole.query_mask.clone()
    mask[1] = False
    batch = type(whole)(whole.document, whole.document_mask, whole.query, mask, whole.candidate_mask, whole.occurrence)
    output = model(batch)
    assert output.attention["document"].sum(1).tolist()[1] == 0
    assert output.logits.isfinite().all()


def test_starts_as_the_paper_does():
    torch.manual_seed(0)
    assert_start(ASReader(SPEC, embedding_dim=200, hidden_dim=12), 0.1)
