"""Small runs of each family, for the tests of all of them and for its own."""

from typing import Any, NamedTuple

from tests.run.programs import TINY, TINY_PAIRS
from tests.tasks.thawing import TARGET

QUIET = ["trainer.accelerator=cpu", "trainer.enable_progress_bar=false"]
UNEVEN = ["data.sample.train=25", "data.sample.val=7", "data.sample.test=11", "data.loader.batch_size=4"]
"""Neither batches nor ranks divide these."""
EVEN = ["data.sample.train=40", "data.sample.val=10", "data.loader.batch_size=8"]
SGD = ["optimizer=sgd", "scheduler=none", "trainer.max_epochs=1"]
GRADIENT = [*SGD, "optimizer.momentum=0", "optimizer.lr=1", "trainer.gradient_clip_val=null", "trainer.max_steps=1"]
"""One plain step of rate 1: the change of the weights is the gradient."""

NTM = ["model=ntm", "model.memory_size=8", "model.memory_width=4", "model.controller_dim=8"]
BITS = [*NTM, "data=copy_bits", "data.length=[1,3]", "data.bits=2", "data.test_lengths=[3,5]", *EVEN, *QUIET]
ALGORITHMIC = [*BITS, "data.sample.test=6", "callbacks=checkpoint"]

STORIES = ["model=memn2n", "data=babi", "model.embedding_dim=4", "data.replacement=true", *EVEN, *QUIET]
ANSWERING = [*STORIES, "data.sample.test=10", "callbacks=checkpoint"]
RESTARTS = ["task.restarts=3", "task.loss=sum", "task.clip=matrix", "trainer.gradient_clip_val=5"]

LOOKS = ["model=show_attend_tell", "model.embedding_dim=8", "model.hidden_dim=8", "model.attention_dim=8"]
IMAGES = [*LOOKS, "model.encoder.dim=8", "model.encoder.width=4", "data=scenes", "data.size=32", "data.grid=[4,4]"]
CAPTIONING = [*IMAGES, "decoding.beam_size=2", *UNEVEN, *QUIET]

FILMS = ["model=temporal_attention", "model.embedding_dim=8", "model.hidden_dim=8", "model.attention_dim=8"]
FILMS = [*FILMS, "model.encoder.dim=4", "model.encoder.width=4", "data=clips", "data.captions_per_clip=1"]
CLIPS = [*FILMS, "decoding.beam_size=2", *UNEVEN, *QUIET]

HEARS = ["model=las", "model.hidden_dim=8", "model.embedding_dim=8", "model.decoder_dim=8", "model.attention_dim=8"]
SOUNDS = [*HEARS, "data=tones", "data.shortest=2", "data.longest=4", "data.spectrogram.mels=8"]
TRANSCRIBING = [*SOUNDS, "decoding.beam_size=2", *UNEVEN, *QUIET]
CHANGED = ["data.augment.masks=SS", "data.augment.speed=[0.9,1.1]"]

READER = ["model=aoa_reader", "model.embedding_dim=8", "model.hidden_dim=4", "model.dropout=0"]
DOCUMENTS = ["data.sample.train=61", "data.sample.val=23", "data.sample.test=37", "data.loader.batch_size=16"]
CLOZE = [*READER, "data=cbt", *DOCUMENTS, "task.rerank=true", "callbacks=none", *QUIET]

SMALL = ["model.embedding_dim=8", "model.hidden_dim=8", "data.size=[4,6]", "data.test_sizes=[4,7]"]
POINTS = [*SMALL, *EVEN, "data.sample.test=6", *QUIET, "callbacks=checkpoint"]
HULLS = ["model=pointer_net", "data=convex_hull", *POINTS]
CRITIC = ["objective=reinforce_critic", "objective.critic.hidden_dim=8", "objective.critic.embedding_dim=8"]
TOURS = ["model=neural_combinatorial", "data=tsp", "data.solve=false", "task.monitor=val/length", *CRITIC, *POINTS]
"""Learned from their length alone, beside a critic."""

FOREST = ["model.hidden_dim=8", *UNEVEN, *QUIET, "callbacks=checkpoint"]
SENTIMENT = ["model=rntn", "data=sst", *FOREST]
PAIRS = ["model=tree_lstm", "data=sick", "model.embedding_dim=8", "model.similarity_dim=4", *FOREST]

THAWING = [*TINY, f"model._target_={TARGET}", "+model.finetune_from=1", "callbacks=none", "trainer.max_epochs=2"]
"""A part of the network is frozen in the first of two epochs, of 4 steps each."""


class TwoRanks(NamedTuple):
    """A run that two ranks make as one process does: plain steps, without random numbers."""

    overrides: list[str]
    metric: str  # One that its test has
    value: float | None = None
    rtol: float = 1e-4


TWO_RANKS = {
    "classification": TwoRanks([*TINY, *GRADIENT, "callbacks=none"], "test/attention_recall", rtol=1e-5),
    "translation": TwoRanks([*TINY_PAIRS, *GRADIENT, "callbacks=none"], "test/bleu", rtol=1e-5),
    "algorithmic": TwoRanks(
        [*ALGORITHMIC, *SGD, "optimizer.lr=0.01", "task.converged=50"], "test/sequences_to_converge", 40
    ),
    "answering": TwoRanks(
        [*ANSWERING, *RESTARTS, *SGD, "optimizer.lr=0.01", "model.time_noise=0", "trainer.max_steps=2"],
        "test/restart_2/error",
        rtol=1e-5,
    ),
    "captioning": TwoRanks(
        [*CAPTIONING, *SGD, "optimizer.lr=0.1", "model.dropout=0.0", "callbacks=checkpoint"], "test/bleu4"
    ),
    "clip_captioning": TwoRanks(
        [*CLIPS, *SGD, "optimizer.lr=0.1", "model.dropout=0.0", "callbacks=checkpoint"], "test/bleu4"
    ),
    "cloze": TwoRanks(
        [*CLOZE, *SGD, "optimizer.lr=0.1", "optimizer.momentum=0", "trainer.max_steps=1"], "test/accuracy_reranked"
    ),
    "pointing": TwoRanks([*HULLS, *SGD, "optimizer.lr=0.1"], "test/non_simple_n7"),
    "tree_classification": TwoRanks(
        [*SENTIMENT, *SGD, "optimizer.lr=0.05", "model.dropout=0", "trainer.max_epochs=2"], "test/accuracy_roots_binary"
    ),
    # nearly equal scores: their correlation would depend on rounding
    "relatedness": TwoRanks(
        [*PAIRS, *SGD, "optimizer.lr=0.05", "model.dropout=0", "trainer.max_epochs=2", "trainer.precision=64-true"],
        "test/spearman",
    ),
    "transcription": TwoRanks(
        [*TRANSCRIBING, *SGD, "optimizer.lr=0.1", "model.dropout=0", "callbacks=checkpoint"], "test/cer"
    ),
    # Adam, whose state tells what its gradients were
    "freezing": TwoRanks(
        [*THAWING, "data.sample.train=64", "scheduler=none", "optimizer.eps=0.01", "trainer.gradient_clip_val=null"],
        "test/accuracy",
    ),
}
KILLED: dict[str, tuple[Any, ...]] = {
    "algorithmic": ([*ALGORITHMIC, "task.converged=50", "trainer.max_epochs=3"], 7),
    # in the middle of the last epoch, of linear start, with restarts: what was counted in it comes along
    "answering": ([*ANSWERING, *RESTARTS, "task.linear_start=2", "trainer.max_epochs=2"], 20),
    "captioning": ([*CAPTIONING, "callbacks=checkpoint", "trainer.max_epochs=2"], 9),
    "pointing": ([*TOURS, "trainer.max_epochs=3"], 7),
    # within an epoch, since AdaGrad forgets only at its start
    "tree_classification": ([*SENTIMENT, "optimizer=adagrad_rntn", "trainer.max_epochs=2"], 10),
    "transcription": ([*TRANSCRIBING, *CHANGED, "callbacks=checkpoint", "trainer.max_epochs=2"], 9),
    "freezing": (THAWING, 3, 4, 6),  # before, at the beginning of, and within the epoch of the part
}
"""A run of each family, and the steps before which it is killed."""
