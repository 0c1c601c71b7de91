"""The readers of cloze questions against their papers' equations as slow loops, and at the edges."""

import math

import pytest
import torch

from tests.models.cloze_batches import QUESTIONS, SPEC, assert_answers, batch_of, shaken
from tests.models.equations import both_directions, softmax
from zoo.models import AoAReader, ASReader
from zoo.models.aoa_reader import attention_over_attention
from zoo.tasks.cloze import answer_losses

SMALL = {"embedding_dim": 5, "hidden_dim": 4}


def test_the_attention_sum_reader_equals_the_equations():
    model = shaken(ASReader(SPEC, **SMALL))
    output = model(batch_of(QUESTIONS))
    for b, (document, query, candidates) in enumerate(QUESTIONS):
        f = both_directions(model.document_encoder, [model.embedding.weight[word] for word in document])
        g = both_directions(model.query_encoder, [model.embedding.weight[word] for word in query])
        g = torch.cat([g[-1][:4], g[0][4:]])  # the last state of each direction
        s = softmax([(h @ g).detach() for h in f])  # (1)
        assert_answers(output, b, s, (document, query, candidates))  # (2)


def test_the_attention_over_attention_reader_equals_the_equations():
    model = shaken(AoAReader(SPEC, **SMALL))
    output = model(batch_of(QUESTIONS))
    for b, (document, query, candidates) in enumerate(QUESTIONS):
        h_doc = both_directions(model.document_encoder, [model.embedding.weight[word] for word in document])
        h_query = both_directions(model.query_encoder, [model.embedding.weight[word] for word in query])
        m = [[(h @ q).detach() for q in h_query] for h in h_doc]  # (5)
        alpha = [softmax([row[t] for row in m]) for t in range(len(query))]  # (6)-(7), over the document
        beta = [softmax(row) for row in m]  # (8), over the query
        beta = [sum(row[t] for row in beta) / len(document) for t in range(len(query))]  # (9)
        s = [sum(alpha[t][i] * beta[t] for t in range(len(query))) for i in range(len(document))]  # (10)
        assert_answers(output, b, s, (document, query, candidates))  # (11)
        expected = torch.tensor(beta, dtype=torch.float64)
        torch.testing.assert_close(output.attention["query"][b, : len(query)], expected, rtol=1e-12, atol=1e-12)


def test_matching_worked_by_hand():
    """Two words of a document, two of a query. In units of log 2 the matching is [[1, 0], [0, 0]]: over the document
    the query's words have 2/3, 1/3 and 1/2, 1/2; over the query the document's have 2/3, 1/3 and 1/2, 1/2, in the mean
    7/12 and 5/12. So s = (2/3 * 7/12 + 1/2 * 5/12, 1/3 * 7/12 + 1/2 * 5/12) = (43/72, 29/72)."""
    matching = torch.tensor([[[1.0, 0.0], [0.0, 0.0]]]).double() * math.log(2)
    real = torch.ones(1, 2, dtype=torch.bool)
    log_query, log_document = attention_over_attention(matching, real, real)
    assert log_query.exp()[0].tolist() == pytest.approx([7 / 12, 5 / 12], abs=1e-15)
    assert log_document.exp()[0].tolist() == pytest.approx([43 / 72, 29 / 72], abs=1e-15)


def test_scores_that_lie_far_apart_leave_a_finite_loss_and_its_gradient():
    """P(answer) is about e^-300, which is 0 in float32: its logarithm is not."""
    matching = torch.tensor([[[300.0], [0.0], [0.0]]], requires_grad=True)
    _, log_document = attention_over_attention(
        matching, torch.ones(1, 3, dtype=torch.bool), torch.ones(1, 1, dtype=torch.bool)
    )
    loss = -log_document[0, 1]
    loss.backward()
    assert loss.item() == pytest.approx(300.0)
    assert log_document.exp()[0].tolist() == [1.0, 0.0, 0.0]
    assert matching.grad.flatten().tolist() == pytest.approx([1.0, -1.0, 0.0], abs=1e-6)


def test_a_candidate_outside_the_document_is_never_the_answer():
    model = AoAReader(SPEC, **SMALL).eval()
    batch = batch_of([([3, 4, 3], [2, 5], [3, 17])], [1])
    logits = model(batch).logits
    assert logits.isfinite().all() and logits.argmax(1).item() == 0
    losses, counted = answer_losses(logits, batch)
    assert losses.tolist() == [0.0] and counted.tolist() == [0.0]
