"""Re-ranking: features against models that are trained separately, weights against scikit-learn, and the file."""

import numpy as np
import pytest
import torch
from sklearn.linear_model import LogisticRegression

from zoo.errors import CheckpointError
from zoo.reranking.kneser_ney import KneserNey
from zoo.reranking.reranker import FILE, SHRINK, Reranker, ScoredQuestion, fit_weights
from zoo.reranking.word_classes import word_classes

WORDS, UNKNOWN, BLANK = 30, 1, 2
LOWEST = float(np.finfo(np.float32).min)


def flat(sentences):
    return np.array([word for sentence in sentences for word in sentence]), np.array(list(map(len, sentences)))


def training(count=300, seed=0):
    """Word 5 follows 3, and 6 follows 4, in most sentences."""
    draw = np.random.default_rng(seed)
    rows = []
    for _ in range(count):
        first = int(draw.integers(3, 5))
        second = first + 2 if draw.random() < 0.9 else int(draw.integers(5, 20))
        rows.append([int(draw.integers(7, 20)), first, second, int(draw.integers(7, 20))])
    return flat(rows)


def learned(**options):
    text, lengths = training()
    options = {"order": 3, "classes": 5, "best": 3} | options
    return Reranker.learn(text, lengths, words=WORDS, unknown=UNKNOWN, vocabulary="v", **options)


def asked(log_p, document=(7, 5, 8, 6, 9, 5), query=(9, 3, BLANK, 10), ends=(3, 6), candidates=(5, 6, 8)):
    document = np.array(document)
    occurrence = np.full(len(document), -1)
    for number, word in enumerate(candidates):
        occurrence[document == word] = number
    place = query.index(BLANK)
    return ScoredQuestion(document, ends, occurrence, np.array(query), place, np.array(log_p, np.float64))


def test_features_are_the_readers_score_and_three_models_of_the_sentence():
    reranker, question = learned(), asked([-1.0, -2.0, -3.0])
    numbers, found = reranker.features(question)
    assert numbers.tolist() == [0, 1, 2] and found[:, 0].tolist() == [-1.0, -2.0, -3.0]
    text, lengths = training()
    classes = word_classes(text, lengths, WORDS, classes=2)  # 19 words are too few for more
    models = {
        1: KneserNey.train(text, lengths, WORDS, order=3, rare=2),
        3: KneserNey.train(classes[text].astype(np.int64), lengths, 2, order=3, rare=2),
    }
    for row, word in enumerate((5, 6, 8)):
        sentence = np.array([[9, 3, word, 10]])
        assert found[row, 1] == pytest.approx(models[1].log_probs(sentence).sum())
        assert found[row, 3] == pytest.approx(models[3].log_probs(classes[sentence].astype(np.int64)).sum())
    # of the document, with its two sentences: words 3, 5, 6, 7, 8, 9, 10 as 0 ... 6
    local = KneserNey.train(np.array([3, 1, 4, 2, 5, 1]), np.array([3, 3]), 7, order=3)
    for row, word in enumerate((1, 2, 4)):
        assert found[row, 2] == pytest.approx(local.log_probs(np.array([[5, 0, word, 6]])).sum())


def test_the_n_best_of_the_document_are_ranked():
    reranker = learned(best=2)
    assert reranker.features(asked([-3.0, -1.0, -2.0]))[0].tolist() == [1, 2]
    assert reranker.features(asked([LOWEST, -1.0, LOWEST]))[0].tolist() == [1]
    assert reranker.features(asked([LOWEST, LOWEST, LOWEST]))[0].tolist() == [0]
    scores = reranker.scores(asked([-3.0, -1.0, -2.0]))
    assert scores[0] == -np.inf and np.exp(scores).sum() == pytest.approx(1.0)


def test_without_weights_the_readers_order_stays():
    scores = learned().scores(asked([-3.0, -1.0, -2.0]))
    assert np.argsort(-scores).tolist() == [1, 2, 0]
    assert scores[1] - scores[2] == pytest.approx(1.0)


def test_fitted_weights_follow_the_language_model_if_the_reader_guesses():
    """The reader guesses; 5 follows 3, and 6 follows 4, in nine of ten training sentences."""
    draw = np.random.default_rng(1)
    reader = np.log(draw.dirichlet([1.0, 1.0, 1.0], 200))
    questions = [asked(log_p, query=(9, 3 + number % 2, BLANK, 10)) for number, log_p in enumerate(reader)]
    answers = [number % 2 for number in range(200)]
    reranker = learned().fitted(questions[:100], answers[:100])
    right = [int(reranker.scores(q).argmax()) == a for q, a in zip(questions[100:], answers[100:], strict=True)]
    guessed = [int(q.log_p.argmax()) == a for q, a in zip(questions[100:], answers[100:], strict=True)]
    assert np.mean(right) > 0.95 and np.mean(guessed) < 0.6
    assert reranker.weights[1] > 0


def test_answers_that_are_not_among_the_best_are_ignored():
    reranker = learned(best=1)
    assert reranker.fitted([asked([-1.0, -2.0, -3.0])], [2]).weights.tolist() == [1.0, 0.0, 0.0, 0.0]


def test_the_document_distinguishes_candidates_outside_the_vocabulary():
    """Two unseen words have the same id. One of them follows 3 in the document."""
    document, occurrence = np.array([3, 1, 7, 8, 1, 7]), np.array([-1, 0, -1, -1, 1, -1])
    question = ScoredQuestion(document, (3, 6), occurrence, np.array([3, BLANK, 7]), 1, np.array([-1.0, -1.0]))
    _, found = learned().features(question)
    assert found[0, 1] == found[1, 1] and found[0, 3] == found[1, 3]
    assert found[0, 2] > found[1, 2] + 0.3


# Weights


def test_with_two_candidates_it_is_logistic_regression_on_their_difference():
    draw = np.random.default_rng(0)
    features = draw.normal(size=(300, 2, 3)) * [1.0, 5.0, 0.1]
    difference = features[:, 1] - features[:, 0]
    answer = (draw.random(300) < 1 / (1 + np.exp(-difference @ [1.0, -0.3, 4.0]))).astype(int)
    found = fit_weights(features, np.ones((300, 2), bool), answer)
    spread = features.reshape(-1, 3).std(0)
    model = LogisticRegression(C=1 / (2 * SHRINK * 300), fit_intercept=False, tol=1e-10)
    expected = model.fit(difference / spread, answer).coef_[0]
    assert (found * spread).tolist() == pytest.approx(expected.tolist(), rel=1e-4, abs=1e-4)


def test_padding_of_shorter_lists_is_not_read():
    draw = np.random.default_rng(1)
    features = draw.normal(size=(50, 4, 2))
    real = np.arange(4) < draw.integers(1, 5, (50, 1))
    answer = np.zeros(50, np.int64)
    scribbled = np.where(real[..., None], features, 1e9)
    assert fit_weights(scribbled, real, answer).tolist() == fit_weights(features, real, answer).tolist()


def test_weights_of_a_feature_that_decides_all_and_of_a_constant_one():
    features = np.zeros((20, 3, 2))
    features[:, 0, 0] = 1.0
    weights = fit_weights(features, np.ones((20, 3), bool), np.zeros(20, np.int64))
    assert np.isfinite(weights).all() and weights[0] > 1
    assert weights[1] == pytest.approx(0.0, abs=1e-6)


def test_weights_are_fitted_in_inference_mode_too():
    features = np.random.default_rng(2).normal(size=(20, 3, 2))
    with torch.inference_mode():
        found = fit_weights(features, np.ones((20, 3), bool), np.zeros(20, np.int64))
    assert found.any()


# The file


def test_a_stored_file_ranks_in_the_same_way(tmp_path):
    questions = [asked([-1.0, -2.0, -3.0], query=(9, 3 + n % 2, BLANK, 10)) for n in range(20)]
    reranker = learned().fitted(questions, [n % 2 for n in range(20)])
    reranker.save(tmp_path / FILE)
    again = Reranker.load(tmp_path / FILE, "v")
    np.testing.assert_array_equal(again.scores(questions[0]), reranker.scores(questions[0]))
    assert [path.name for path in tmp_path.iterdir()] == [FILE]


def test_a_file_that_is_missing_damaged_or_of_another_run(tmp_path):
    path = tmp_path / FILE
    with pytest.raises(CheckpointError, match=r"there is no re-ranking; .* task.rerank=true"):
        Reranker.load(path, "v")
    learned().save(path)
    with pytest.raises(CheckpointError, match="another vocabulary"):
        Reranker.load(path, "w")
    whole = path.read_bytes()
    for damaged in (whole[: len(whole) // 2], b"", b"PK nothing"):
        path.write_bytes(damaged)
        with pytest.raises(CheckpointError, match="not a readable re-ranking"):
            Reranker.load(path, "v")


def test_a_folder_that_cannot_be_written(tmp_path):
    with pytest.raises(CheckpointError, match="could not write the re-ranking"):
        learned().save(tmp_path / "nowhere" / FILE)
