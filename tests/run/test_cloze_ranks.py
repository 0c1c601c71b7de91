"""Two processes train, test and re-rank as one does."""

import pytest

from tests.run.programs import same_on_two_ranks

TINY = [
    "model=aoa_reader",
    "data=cbt",
    "model.embedding_dim=8",
    "model.hidden_dim=4",
    "model.dropout=0",
    "data.sample.train=61",
    "data.sample.val=23",
    "data.sample.test=37",
    "data.loader.batch_size=16",
    "task.rerank=true",
    "callbacks=none",
    "optimizer=sgd",
    "optimizer.lr=0.1",
    "optimizer.momentum=0",
    "scheduler=none",
    "trainer.accelerator=cpu",
    "trainer.enable_progress_bar=false",
    "trainer.max_steps=1",
]


@pytest.mark.slow
def test_one_process_fits_the_re_ranking_and_both_test_with_it(program_env, tmp_path):
    # 37 questions on 2 ranks: one rank has one more
    assert "test/accuracy_reranked" in same_on_two_ranks(TINY, tmp_path, program_env)
    assert (tmp_path / "two" / "reranking.npz").is_file()
