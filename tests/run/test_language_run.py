"""A language model from the command line: exact perplexity, a state that is carried, continuations and surprisals."""

import csv
import json
import math

import pytest
import torch

import zoo
from tests.run.programs import killed_and_resumed, launch, result, same_on_two_ranks
from zoo.cli import main
from zoo.data.language.batch import StreamBatch
from zoo.data.language.encoding import WholeText
from zoo.data.language.samples.grammar import Grammar
from zoo.tasks.language_modeling import LanguageModeling

TINY = [
    "model=rnn_lm",
    "data=text",
    "model.embedding_dim=8",
    "model.hidden_dim=8",
    "data.sample.train=120",
    "data.sample.val=20",
    "data.sample.test=30",
    "data.loader.batch_size=6",
    "data.window.length=9",
    "trainer.accelerator=cpu",
    "trainer.enable_progress_bar=false",
]


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    folder = tmp_path_factory.mktemp("language")
    assert launch([*TINY, "trainer.max_epochs=2", "data.window.columns=1", "hydra.run.dir=run"], folder) == 0
    return folder / "run"


@pytest.fixture
def say(capsys, finished, tmp_path, monkeypatch):
    """The output of `zoo predict` with the network of the run."""
    monkeypatch.chdir(tmp_path)

    def said(*words):
        capsys.readouterr()
        main(["predict", str(finished), *map(str, words)])
        return capsys.readouterr().out

    return said


def test_the_perplexity_of_a_test_in_one_column_is_that_of_one_pass(finished):
    """Read in windows of 9 that carry the state, and in one pass over the whole test: the same surprisal of each of the
    N - 1 tokens after the first."""
    predictor, facts = zoo.load(finished), result(finished)
    lines = Grammar().text(120 + 20 + 30, 1)[-30:]
    text = "".join(f"{' '.join(line.words)}\n" for line in lines)
    ids = torch.tensor(predictor.encoder.ids(text))
    batch = predictor.encoder([WholeText(text)])
    batch = type(batch)(
        index=batch.index, target_input=ids[None, :-1], target=ids[None, 1:], target_mask=ids[None, 1:] >= 0
    )
    with torch.no_grad():
        scores = predictor.task.network(batch).logits.double().log_softmax(1)
    nats = -scores.gather(1, ids[1:, None]).mean()
    assert facts["metrics"]["test/loss"] == pytest.approx(float(nats), rel=1e-5)
    assert facts["metrics"]["test/word_perplexity"] == pytest.approx(math.exp(nats), rel=1e-5)
    bytes_per_token = len(text) / len(ids)
    assert facts["metrics"]["test/bits_per_byte"] == pytest.approx(
        float(nats) / math.log(2) / bytes_per_token, rel=1e-5
    )
    words = [word for line in lines for word in (*line.words, "end")]
    least = Grammar().surprisal(words, "end")[1:].mean()
    assert facts["metrics"]["test/least_perplexity"] == pytest.approx(math.exp(least), rel=1e-5)
    assert facts["rate"]["unit"] == "tokens/s"


def test_agreement_is_counted_by_distance(finished):
    metrics = result(finished)["metrics"]
    assert 0 <= metrics["test/agreement"] <= 1
    by_distance = {int(name.rpartition("_")[2]): value for name, value in metrics.items() if "agreement_" in name}
    assert len(by_distance) > 6 and set(by_distance) <= set(range(1, 13))
    assert all(0 <= share <= 1 for share in by_distance.values())
    assert "test/attention_recall" not in metrics  # this network has no attention


def test_columns_begin_without_a_state(finished, tmp_path):
    """With more columns a test knows less of the text before, and its figure differs."""
    words = [*TINY, "train=false", f"ckpt_path={finished}", "data.window.columns=5", "hydra.run.dir=more"]
    assert launch(words, tmp_path) == 0
    one, more = (result(folder)["metrics"]["test/loss"] for folder in (finished, tmp_path / "more"))
    assert one != more and abs(one - more) < 0.1


def test_a_run_resumed_within_an_epoch_gives_the_weights_of_an_uninterrupted_one(tmp_path, monkeypatch):
    """With dropout, random windows, and the state of each column, which the checkpoint holds."""
    random = ["data.window.deviation=2", "data.window.half=0.2", "model.dropout=0.3"]
    every = [*TINY, *random, "callbacks=none", "trainer.max_epochs=2", "trainer.val_check_interval=10"]
    killed_and_resumed(every, tmp_path, LanguageModeling, monkeypatch, 4, 40)
    (state,) = torch.load(tmp_path / "killed4/checkpoints/last.ckpt", weights_only=True)["zoo"]["remembered"]
    assert state["carried"]["hidden"].shape == (6, 2, 8) and state["carried"]["hidden"].any()


def test_two_ranks_share_the_columns(program_env, tmp_path):
    steps = ["callbacks=none", "trainer.max_steps=9", "optimizer=sgd", "optimizer.lr=0.5", "scheduler=none"]
    metrics = same_on_two_ranks([*TINY, *steps], tmp_path, program_env)
    assert metrics["test/word_perplexity"] > 1
    states = torch.load(tmp_path / "two/checkpoints/last.ckpt", weights_only=True)["zoo"]["remembered"]
    assert [state["carried"]["hidden"].shape[0] for state in states] == [3, 3]


def test_predict_writes_on(say):
    text = say("the geese that", "--tokens", 7)
    assert text.startswith("the geese that ") and len(text.replace("\n", " <eos> ").split()) >= 10
    assert say("the geese that", "--tokens", 7) == text != say("the geese that", "--tokens", 7, "--seed", 2)
    found = json.loads(say("the geese that", "--tokens", 7, "--json"))
    assert found["whole"] == text.removesuffix("\n") and len(found["continuations"][0]["tokens"]) == 7
    total = -found["continuations"][0]["log_prob"] / math.log(2)  # the parallel pass gives what the steps gave
    assert len(found["bits"]) == 7 and sum(found["bits"]) == pytest.approx(total, rel=1e-5)
    greedy = say("the geese that", "--tokens", 7, "--greedy")
    assert (
        greedy
        == say("the geese that", "--tokens", 7, "--top-k", 1)
        == say("the geese that", "--tokens", 7, "--beam", 1)
    )
    two = say("the geese that", "--tokens", 5, "--beam", 3, "--nbest", 2).splitlines()
    assert [line.split(" ||| ")[0] for line in two] == ["0", "0"]
    both = say("the geese", "a dog", "--tokens", 3)
    assert both.startswith("the geese ") and "\n\n<unk> dog " in both  # the grammar has no `a`


def test_a_text_is_scored_token_by_token(say, finished, tmp_path):
    (tmp_path / "a.txt").write_text("the geese hear some zebras\nmy geese\n")
    say("--score", "a.txt", "--csv", "a.csv", "--attention", "a.png", "--html", "a.html")
    rows = list(csv.reader((tmp_path / "a.csv").open()))
    found = json.loads(say("--score", "a.txt", "--json"))
    assert found["tokens"] == ["the", "geese", "hear", "some", "zebras", "\n", "my", "geese", "\n"]
    assert found["unknown"] == [4] and rows[0] == ["line", "token", "bits"]
    assert [row[1] for row in rows[5:7]] == ["zebras", "⏎"]
    assert [float(row[2]) for row in rows[1:]] == pytest.approx(found["bits"], abs=1e-4)
    assert (tmp_path / "a.png").stat().st_size > 5_000
    assert "<h1>The surprisal of each token</h1>" in (tmp_path / "a.html").read_text()
    predictor = zoo.load(finished)
    ids = torch.tensor([predictor.encoder.prompt("the geese hear some zebras\nmy geese\n")])
    batch = StreamBatch(index=torch.zeros(1), target_input=ids[:, :-1], target=ids[:, 1:], target_mask=ids[:, 1:] >= 0)
    with torch.no_grad():
        log_probs = predictor.task.network(batch).logits.log_softmax(1)
    bits = -log_probs.gather(1, ids[0, 1:, None]).squeeze(1) / math.log(2)
    assert found["bits"] == pytest.approx(bits.tolist(), rel=1e-4)


def test_a_long_text_is_scored_in_windows_that_carry_the_state(finished, monkeypatch):
    predictor, text = zoo.load(finished), "the geese hear some dog\n" * 30
    (whole,) = predictor([WholeText(text)])
    monkeypatch.setattr("zoo.predicting.language_modeling.AT_ONCE", 7)
    (cut,) = predictor([WholeText(text)])
    assert cut.bits == pytest.approx(whole.bits, rel=1e-6)


def test_a_text_of_ones_own_without_known_subjects_has_no_agreement_and_no_warning(tmp_path, recwarn):
    (tmp_path / "own.txt").write_text("one two three\n" * 300)
    assert launch([*TINY, "data.path=own.txt", "trainer.max_epochs=1", "hydra.run.dir=run"], tmp_path) == 0
    assert not any("agreement" in name for name in result(tmp_path / "run")["metrics"])
    assert not any("GroupMeans" in str(one.message) for one in recwarn)


@pytest.mark.parametrize("way", [["--tokens", 5], ["--temperature", 2], ["--greedy"], ["--nbest", 2]])
def test_a_text_is_scored_or_continued(say, capsys, tmp_path, way):
    (tmp_path / "a.txt").write_text("the geese\n")
    with pytest.raises(SystemExit):
        say("--score", "a.txt", *way)
    option = "--beam" if way[0] == "--nbest" else way[0]
    assert f"--score and {option}: a text is scored as it is; leave {option} out" in capsys.readouterr().err


def test_a_text_to_score_in_another_encoding_is_named_without_a_key_that_predict_does_not_have(say, capsys, tmp_path):
    (tmp_path / "a.txt").write_bytes("Straße\n".encode("cp1252") * 9)
    with pytest.raises(SystemExit):
        say("--score", "a.txt")
    assert "probably cp1252: save it as UTF-8" in capsys.readouterr().err


def test_ways_that_exclude_each_other(say, capsys):
    with pytest.raises(SystemExit):
        say("the", "--greedy", "--top-k", 3)
    assert "--greedy and --top-k: a text is continued in one way" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        say("the", "--tokens", 0)
    assert "--tokens" in capsys.readouterr().err
