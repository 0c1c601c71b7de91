"""CIDEr-D as a reward: the metric's numbers on ids, by hand, and what it reads of the data."""

import math
import random
from types import SimpleNamespace

import pytest
import torch

from tests.data.images.toy import Toy as ToyImages
from tests.data.serving import prepared
from tests.objectives.toy import SPEC
from zoo.data.pairs.multi30k import Multi30k
from zoo.errors import ConfigError
from zoo.metrics import CiderD, DocumentFrequency
from zoo.objectives import CiderReward, Reinforce

END = SPEC.end


def made(references):
    reward = CiderReward()
    reward.check(SPEC)
    reward.read(references)
    return reward


def rows(*index):
    """All that the reward reads of a batch."""
    return SimpleNamespace(index=torch.tensor(index))


def words(ids):
    return " ".join(map(str, [*ids, END]))


def test_it_is_the_metric_with_the_frequencies_of_the_training_captions():
    draw = random.Random(0)

    def caption():
        return [draw.randint(4, 9) for _ in range(draw.randint(0, 7))]

    training = [[caption() for _ in range(draw.randint(1, 5))] for _ in range(30)]
    table = DocumentFrequency([[words(ids).split() for ids in several] for several in training])
    index = [17, 3, 17, 0, 29]  # of one image there may be several rows
    hypotheses = [caption() if draw.random() < 0.5 else draw.choice(training[number]) for number in index for _ in "ab"]
    found = made(training)(hypotheses, [[] for _ in hypotheses], rows(*index))
    for row, (hypothesis, reward) in enumerate(zip(hypotheses, found, strict=True)):
        metric = CiderD(table)
        metric.update([words(hypothesis)], [[words(ids) for ids in training[index[row // 2]]]])
        assert reward == pytest.approx(metric.compute().item(), rel=1e-12, abs=1e-15)
    assert max(found) > 2


def test_by_hand():
    """Both images have "4" and the end, so that these weigh nothing. Other n-grams are in one image and weigh log 2.
    The hypothesis "4 5" has all n-grams of the reference "4 5", which are 5, 4 5, 5 end and 4 5 end: 1 in three orders
    of 4."""
    reward = made([[[4, 5]], [[4, 6, 7]]])
    whole, cut, other = reward([[4, 5], [4], [4, 6, 7]], [[]] * 3, rows(0, 0, 0))
    assert whole == pytest.approx(10 * 3 / 4)
    assert cut == other == 0  # the bigram "4 end" is nowhere
    one, both = reward([[6, 5], [4, 6]], [[]] * 2, rows(0, 1))
    # (6, 5) and (5): cosine 1 / sqrt 2; (6 5, 5 end) and (4 5, 5 end): 1 / 2
    assert one == pytest.approx(10 * (1 / math.sqrt(2) + 1 / 2) / 4)
    # (6) and (6, 7); (4 6, 6 end) and (4 6, 6 7, 7 end); (4 6 end) and (4 6 7, 6 7 end); one bigram less
    assert both == pytest.approx(10 * (1 / math.sqrt(2) + 1 / math.sqrt(6)) / 4 * math.exp(-1 / 72))


def test_it_reads_first():
    with pytest.raises(AssertionError, match="read"):
        CiderReward()([[4]], [[4]], rows(0))
    with pytest.raises(AssertionError, match="check"):
        CiderReward().read([[[4]]])


def test_references_of_images_are_all_captions_by_the_number_of_the_image(cache_dir):
    for options in ({"batches": "pictures", "captions_per_image": 1}, {"batches": "lengths"}):
        data = prepared(ToyImages(**options))
        references = list(data.training_references())
        assert len(references) == data.sizes["train"]
        assert [len(several) for several in references] == data.part("train").captions_of.tolist()
        for batch in data.train_dataloader():
            for number, target, length in zip(
                batch.index.tolist(), batch.target.tolist(), batch.target_mask.sum(1).tolist(), strict=True
            ):
                assert target[length - 1] == data.spec.end
                assert target[: length - 1] in references[number]


def test_data_without_such_references_say_so():
    data = Multi30k()
    objective = Reinforce(reward=CiderReward())
    with pytest.raises(ConfigError, match="data=multi30k does not have them: use data of images with captions"):
        objective.build(SPEC, data.training_references)
