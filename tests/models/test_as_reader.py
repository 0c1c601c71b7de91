"""The attention sum reader against the paper's equations as slow loops."""

import math

import torch

from tests.models.cloze_batches import QUESTIONS, SPEC, batch_of, both_directions, shaken
from zoo.models import ASReader

SMALL = {"embedding_dim": 5, "hidden_dim": 4}
EXACT = {"rtol": 1e-12, "atol": 1e-12}


def test_equals_the_equations_written_as_loops():
    model = shaken(ASReader(SPEC, **SMALL))
    output = model(batch_of(QUESTIONS))
    for b, (document, query, candidates) in enumerate(QUESTIONS):
        f = both_directions(model.document_encoder, [model.embedding.weight[word] for word in document])
        g = both_directions(model.query_encoder, [model.embedding.weight[word] for word in query])
        g = torch.cat([g[-1][:4], g[0][4:]])  # the last state of each direction
        exponentials = [math.exp(float((h @ g).detach())) for h in f]
        s = [one / sum(exponentials) for one in exponentials]  # (1)
        total = dict.fromkeys(candidates, 0.0)
        for word, share in zip(document, s, strict=True):
            if word in total:
                total[word] += share  # (2)
        torch.testing.assert_close(
            output.attention["document"][b, : len(document)], torch.tensor(s, dtype=torch.float64), **EXACT
        )
        expected = torch.tensor([math.log(total[word]) for word in candidates], dtype=torch.float64)
        torch.testing.assert_close(output.logits[b, : len(candidates)], expected, **EXACT)


def test_without_a_query_nothing_is_attended_to():
    model = ASReader(SPEC, **SMALL).eval()
    whole = batch_of([([3, 4], [2, 5], [3, 4]), ([3, 4], [2, 5], [3, 4])])
    mask = whole.query_mask.clone()
    mask[1] = False
    batch = type(whole).of(
        whole.document, whole.document_mask, whole.query, mask, whole.candidate_mask, whole.occurrence
    )
    output = model(batch)
    assert output.attention["document"].sum(1).tolist()[1] == 0
    assert output.logits.isfinite().all()


def test_starts_as_the_paper_does():
    torch.manual_seed(0)
    model = ASReader(SPEC, embedding_dim=200, hidden_dim=12)
    table = model.embedding.weight
    assert 0.0999 < table.abs().max() <= 0.1 and not table[0].any()
    for name, weight in model.document_encoder.named_parameters():
        if "bias" in name:
            assert not weight.any()
        else:
            for matrix in weight.detach().chunk(3):
                torch.testing.assert_close(matrix @ matrix.T, torch.eye(12), rtol=0, atol=1e-5)
