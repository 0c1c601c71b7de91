"""Mistakes end in one line that names the key and what to do: a typo, a wrong value, parts that do not fit."""

import io
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from hydra.errors import HydraException
from hydra.utils import instantiate
from omegaconf import OmegaConf

from tests.commands import resolve
from zoo.arguments import Count
from zoo.errors import ConfigError, DataError, did_you_mean, one_of
from zoo.layers.pretrained import pretrained_wanted
from zoo.run.arguments import check_arguments
from zoo.run.catalogue import choices, models
from zoo.run.check import check
from zoo.run.compose import compose
from zoo.run.messages import explain
from zoo.values import hold

MISTAKES = """\
modl=han -> modl: unknown key; did you mean model?
model=hann -> @: unknown model; did you mean model=han?
data=yellp -> did you mean data=yelp?
data=images -> data=images: a family of data, not a data set; available: captions, coco, flickr30k
experimnt=x -> experimnt: unknown key; did you mean experiment?
experiment=nothing -> @: unknown experiment; available: aoa_reader_books, aoa_reader_cbt_cn
experiment=han_yelp215 -> did you mean experiment=han_yelp2015?
seeed=2 -> did you mean seed?
+colour=red -> colour: unknown key
model -> model
model.word_hiden_dim=10 -> model.word_hiden_dim: unknown key; did you mean model.word_hidden_dim?
+model.word_hiden_dim=10 -> model.word_hiden_dim: HAN has no such argument; did you mean model.word_hidden_dim?
model.zzzzzz=1 -> unknown key; available:
model.zzzzzz=1 -> embedding_dim
trainer.precison=16 -> did you mean trainer.precision?
optimizer.lrr=1 -> did you mean optimizer.lr?
trainer=ddp_cup -> did you mean trainer=ddp_cpu?
callbacks.best.moniter=x -> did you mean callbacks.best.monitor?
data.batch_size=16 -> did you mean data.loader.batch_size?
scheduler.scheduler.totl_steps=3 -> did you mean scheduler.scheduler.total_steps?
+scheduler.intervall=epoch -> scheduler.intervall: unknown key; did you mean scheduler.interval?
model.word_hidden_dim.x=3 -> , and has no keys below it
ckpt_path.x=3 -> ckpt_path is empty; use +ckpt_path.x=... to add to it
data=documents -> data.path has no value yet
scheduler=null -> @: a group needs the name of a choice; to remove the group, use ~scheduler
~trainer -> trainer has no _target_, the class to build; choose one with trainer=NAME
~model model.dropout=0.1 -> model.dropout: ~model removes the whole group; remove ~model or model.dropout=...
seed=abc -> @: expected a whole number from 0 to 4294967295, found 'abc'
seed=-1 -> @: expected a whole number from 0 to 4294967295, found -1
train=maybe -> @: expected true or false
model.word_hidden_dim=abc -> @: expected a whole number
model.dropout=[1,2] -> model.dropout=[1, 2]: expected a number
model.dropout=1.5 -> @: expected a number from 0 to below 1, found 1.5
model.word_pooling=median -> @: expected attention, mean or max, found 'median'; did you mean 'mean'?
task.class_weights=balancd -> @: expected balanced, a group of keys (each a number above 0) or null, found 'balancd'
task.class_weights={bad:0} -> expected balanced, a group of keys (each a number above 0) or null, found {"bad": 0}
task.label_smoothing=1 -> @: expected a number from 0 to below 1, found 1
task.threshold=0 -> @: expected a number above 0 and below 1, f1 or null, found 0
task.threshold=F1 -> @: expected a number above 0 and below 1, f1 or null, found 'F1'; did you mean 'f1'?
task.baselines=true test=false -> task.baselines=true adds rows to the table of a test: set test=true, or remove it
task.threshold=f1 trainer.limit_val_batches=0 -> task.threshold=f1: a validation chooses it, and trainer.limit_val
data.loader.batch_size=0 -> @: expected a whole number from 1 on, found 0
data.loader.batch_size=many -> @: expected a whole number from 1 on, found 'many'
data.text.lower='yes' -> data.text.lower=yes: expected true or false, found 'yes'
data.loader.batch_size=true -> @: expected a whole number from 1 on, found true
data.loader.max_tokens=1.5 -> @: expected a whole number from 1 on or null, found 1.5
data.loader.num_workers=-1 -> @: expected a whole number from 0 on, found -1
data.loader.on_bad_row=skipp -> @: expected error or skip, found 'skipp'; did you mean 'skip'?
data.loader.cache_dir=3 -> @: expected text or null, found 3
data.loader.encoding=utf9 -> @: unknown encoding; expected the name of an encoding, such as utf-8
data.text.sentences=dots -> @: expected punkt or lines, found 'dots'
data.text.language=de-1 -> @: expected the code of a language, such as de, found 'de-1'
data.text.max_words=0 -> @: expected a whole number from 1 on, found 0
data.split.val=1 -> @: expected a share between 0 and 1, found 1
data.split.val=a.csv -> @: expected a share between 0 and 1, found 'a.csv'
data.sample.seed=-1 -> @: expected a whole number from 0 on, found -1
optimizer.lr=fast -> @: expected a number from 0 on, found 'fast'
optimizer.lr=-1 -> @: expected a number from 0 on, found -1
optimizer.betas=[0.9,1] -> optimizer.betas=[0.9, 1]: expected a list of 2 (each a number from 0 to below 1)
optimizer.weight_decay=-1 -> @: expected a number from 0 on, found -1
optimizer.fused=1 -> @: expected true, false or null, found 1
scheduler.interval=never -> @: expected step or epoch, found 'never'
scheduler=step scheduler.scheduler.step_size=0 -> @: expected a whole number from 1 on, found 0
scheduler=cosine scheduler.scheduler.T_max=0 -> @: expected a whole number
trainer.max_epochs=two -> @: expected a whole number
trainer.precision=bf17 -> @: expected
trainer.precision=16-true -> @: in float16 Adam's eps of 1e-8 becomes 0, and training fails; use bf16-true
trainer.limit_val_batches=some -> @: expected a number or null, found 'some'
trainer.val_check_interval=0 -> @: expected a number above 0,
trainer.check_val_every_n_epoch=0 -> @: expected a whole number from 1 on or null, found 0
trainer.num_sanity_val_steps=-2 -> @: expected a whole number from -1 on or null, found -2
trainer.log_every_n_steps=-1 -> @: expected a whole number from 0 on or null, found -1
trainer.accumulate_grad_batches=0 -> @: expected a whole number from 1 on, found 0
trainer.gradient_clip_val=-1 -> @: expected a number from 0 on or null, found -1
trainer.deterministic=maybe -> @: expected true, false, warn or null, found 'maybe'
callbacks.best.monitor=val/acc -> @: classification has no such metric; did you mean val/accuracy?
callbacks.best.mode=min -> @: expected max for val/accuracy
callbacks.last.every_n_steps=0 -> @: expected a whole number from 1 on or null, found 0
callbacks.last.every_n_minutes=0 -> @: expected a number above 0 or null, found 0
callbacks.early_stopping.patience=-1 -> @: expected a whole number from 0 on, found -1
callbacks.early_stopping.monitor=val/acc -> @: classification has no such metric; did you mean val/accuracy?
callbacks.attention_maps.count=-1 -> @: expected a whole number from 0 on, found -1
callbacks.attention_maps.every_n_minutes=0 -> @: expected a number above 0, found 0
callbacks.predictions.count=1.5 -> @: expected a whole number from 0 on or null, found 1.5
callbacks=[default,averaging] callbacks.averaging.decay=1 -> @: expected a number from 0 to below 1, found 1
callbacks.whole_test=3 -> callbacks.whole_test has no _target_
logger.csv.version=[1] -> @: expected a whole number, text or null, found [1]
logger=wandb logger.wandb.offline=perhaps -> @: expected true or false, found 'perhaps'
logger=wandb logger.wandb.log_model=some -> @: expected all, true or false, found 'some'
task=translation -> the data are for classification; remove task=..., since the data choose their task
task.monitor=val/acc -> @: classification has no such metric; did you mean val/accuracy?
task.monitor=accuracy -> did you mean val/accuracy?
task.monitor=train/loss -> @: classification has no such metric; did you mean
task.mode=min -> expected max for val/accuracy; remove task.mode
objective=reinforce -> objective: classification, the task of these data, does not use this group; remove objective=...
model=han data=copy -> HAN and Copy do not fit: the data are for translation, the model is for classification
model=han data=copy -> For this model: data=
scheduler=noam -> scheduler.scheduler: the learning rate depends on the network's width
trainer.max_epochs=-1 -> scheduler: the learning rate falls until the last step, but this run has no last step
trainer.max_epochs=null trainer.max_time=00:00:01:00 -> add trainer.max_epochs=N or trainer.max_steps=N
scheduler.scheduler.warmup=2 -> scheduler.scheduler: warmup is a share of the steps, from 0 to 1; got 2
model._target_=zoo.models.nothing.Net -> model._target_: zoo.models.nothing.Net cannot be imported
optimizer._target_=torch.optim.Adamm -> optimizer._target_: torch.optim.Adamm cannot be imported
callbacks.best._target_=nothing -> callbacks.best._target_: nothing cannot be imported
model._target_=os.getcwd -> model._target_: os.getcwd is not a class
[model=rnnsearch data=multi30k]
decoding._target_=os.getcwd -> decoding._target_: os.getcwd is not a class
decoding._target_=tests.run.test_messages.Anything -> not a subclass of Decoding; inherit from zoo.decoding.D
model=luong model.score=my_zoo.MyScore -> model.score: my_zoo.MyScore cannot be imported: No module
objective=reinforce objective.reward=bleu -> @: expected a group with a _target_, found 'bleu'
model=luong model.score=doot -> @: expected dot, scaled_dot,
model.score=doot -> found 'doot'; did you mean 'dot'?
objective=reenforce -> did you mean objective=reinforce?
objective.label_smothing=0.1 -> did you mean objective.label_smoothing?
objective=scheduled_sampling objective.k=-1 -> @: expected a number from 0 on, found -1
objective=scheduled_sampling objective.k=0.5 -> objective.decay=inverse_sigmoid needs k >= 1
decoding.beam_size=0 -> @: expected a whole number from 1 on, found 0
decoding.nbest=9 -> decoding.nbest=9, beam_size=5: expected nbest from 1 to beam_size
regularizer=coverage regularizer.coverage.tou=1 -> tou
regularizer=coverage regularizer.coverage.tau=0 -> @: expected a number above
scheduler=noam scheduler.scheduler.warmup=0 -> @: expected a whole number
[model=luong data=multi30k]
data.text.vocabulary_size=5 -> @: expected a whole number from 6 on, for separate vocabularies a list
data.text.vocabulary_size=[9,8,7] -> data.text.vocabulary_size=[9, 8, 7]: expected
data.text.joint=true data.text.vocabulary_size=[9,8] -> .vocabulary_size=[9, 8]: expected one whole number, for one voc
data.text.tokenizer=moses -> @: expected words, spacy, whitespace, characters, bpe or unigram
data.text.max_length=0 -> @: expected a whole number from 1 on or null, found 0
data.text.max_ratio=0.5 -> @: expected a number from 1 on or null, found 0.5
[model=encoder_decoder data=copy]
regularizer=coverage -> @: EncoderDecoder has no attention on its source (no `source`
decoding.coverage_penalty=0.2 -> decoding.coverage_penalty: EncoderDecoder has no attention
task.replace_unknown=true -> task.replace_unknown: EncoderDecoder has no attention
[model=memn2n data=babi]
model=kv_memnn task.linear_start=3 -> @: KeyValueMemNN does not support linear start
task.restarts=2 start_from=some.ckpt -> task.restarts=2: all restarts would begin with the weights of
task.restarts=2 callbacks=[default,averaging] -> task.restarts=2 with callbacks=averaging
task.restarts=2 model=universal_transformer_encoder -> task.restarts=2: UniversalTransformerEncoder decides by its
task.restarts=0 -> @: expected a whole number from 1 on
task.clip=some -> @: expected all or matrix
model.encoding=position -> @: expected
model=kv_memnn model.side=-1 -> @: expected a whole number from 0 on
[model=show_and_tell data=scenes]
model/encoder=vg19 -> @: unknown model/encoder; did you mean model/encoder=vgg19?
model.encoder=resnet10 -> @: expected a group of keys, found 'resnet10'; to choose one by name: did you mean model/enc
model.encoder.dim=wide -> @: expected a whole number from 1 on, found 'wide'
+model.encoder.dimm=3 -> model.encoder.dimm: SmallEncoder has no such argument; did you mean model.encoder.dim?
~model.encoder -> model.encoder: ShowAndTell needs it, but the configuration does not give it
model.encoder._target_=zoo.layers.Nothing -> cannot be imported: module 'zoo.layers' has no attribute 'Nothing'
[]
model=han model/encoder=vgg19 -> model/encoder: the chosen model has no encoder; remove model/encoder=...
[model=show_and_tell data=scenes model/encoder=vit_b_16]
model.encoder.name=resnet1O1 -> @: torchvision has no such network for images; did you mean resnet101?
model.encoder.finetune_from=-1 -> @: expected a whole number from 0 on or null, found -1
model.encoder.learning_rate=0 -> @: expected a number above 0, found 0
model.encoder.weights=null -> @: expected text, found null
[]
model=ntm data=copy_bits model.memory_size=1000000000 -> @: the network has 22,000,058,954
model=as_reader data=cbt model.hidden_dim=10000000000 -> 000 parameters, which take more than 9,223,372
model=phrase_lstm data=sst model.layers=1000000 model.hidden_dim=3000 -> model.layers=1000000: the network has more than
model=memn2n data=babi model.embedding_dim=100000000 -> has 23,300,000,000 parameters, which take 186 GB
model=tree_lstm data=sst data.sample.train=100000000000 -> generated examples take at least 25.0 TB
model=show_attend_tell data=scenes objective=reinforce_tour -> objective.reward: TourLength is for pointing
model=rntn data=sick -> data.parse=dependency: these trees have a word at every node
model=pointer_net data=convex_hull data.size=100000000 -> a batch of 128 sets
model=pointer_net data=convex_hull data.size=100000000 -> takes 102 GB
[model=rnn_lm data=text]
model=transformer_lm data.window.length=20 -> model.window=35 is longer than data.window.length=20: no training window
model=transformer_lm model.window=64 -> set model.window=35, or data.window.length=64
optimizer=nt_asgd callbacks=[default,averaging] -> callbacks.averaging: NTASGD averages the weights itself
+trainer.max_steps=10 -> +trainer.max_steps: the key exists already; use trainer.max_steps=... without the +
[]
model=pointer_net data=convex_hull data.size=[50,5] -> expected [least, most], so [5, 50]: th
"""
"""Overrides, and a part of the error line that they cause. @ is the last override; the words in [...] are added to the
rows below."""


class Anything:
    def __init__(self, **anything):
        pass


def mistakes() -> Iterator[tuple[str, str]]:
    common = ""
    for row in MISTAKES.splitlines():
        if row.startswith("["):
            common = row.strip("[]")
        else:
            overrides, expected = row.split(" -> ")
            yield f"{common} {overrides}".strip(), expected.replace("@", overrides.split()[-1])


def refusal_of(*words):
    """The line that keeps a run from starting, before its data are prepared."""
    try:
        cfg = compose([*words])
        check(cfg)
        instantiate(cfg.data, _convert_="all")
    except (HydraException, ValueError) as error:
        return explain(error, [*words])
    pytest.fail("it would start")


@pytest.mark.parametrize(("overrides", "expected"), list(mistakes()))
def test_a_mistake_is_named_in_one_line(overrides, expected, monkeypatch):
    for module in ("zoo.tasks.size", "zoo.data.points.generated"):
        monkeypatch.setattr(f"{module}.memory", lambda: 25e9)
    line = refusal_of(*overrides.split())
    assert line.startswith("error: ") and "\n" not in line and expected in line


@dataclass
class Width:
    width: int


class WithOptions:
    def __init__(self, options: Width) -> None: ...


def test_a_dataclass_among_the_arguments_is_left_to_itself():
    node = {"_target_": "tests.run.test_messages.WithOptions", "options": {"width": 3}}
    check_arguments(OmegaConf.create(node), "model")


def test_values_with_letters_that_hydra_does_not_read_are_to_be_quoted_all_at_once():
    first, *words = "data.label_column=étoiles", "data.split.val='là'", "data.text_column=评论"
    quoted = "\"data.label_column='étoiles'\" \"data.text_column='评论'\""
    expected = f"error: cannot read {first} {words[1]}: put such values in quotes, {quoted}"
    assert refusal_of("data=documents", first, *words) == expected


def test_a_quoted_form_that_the_terminal_cannot_show_names_the_key_alone(monkeypatch):
    monkeypatch.setattr("sys.stderr", io.TextIOWrapper(io.BytesIO(), "cp1252", errors="replace"))
    with pytest.raises(HydraException) as caught:
        compose(overrides := ["data=documents", "data.path=Łódź.csv"])
    expected = "error: cannot read the value of data.path: put such values in quotes, \"data.path='...'\""
    assert explain(caught.value, overrides) == expected


@pytest.mark.parametrize(
    ("word", "quoted"),
    [
        ("data.path=a=b.csv", "\"data.path='a=b.csv'\""),
        ("data.path=re (1).csv", "\"data.path='re (1).csv'\""),
        ("data.path=x,y.csv", "\"data.path='x,y.csv'\""),
        ("data.path=my files/x,y", "\"data.path='my files/x,y'\""),
        ("ckpt_path=logs/epoch=3-step=10.ckpt", "\"ckpt_path='logs/epoch=3-step=10.ckpt'\""),
        ("data.path=it's.csv", "'data.path='\"'\"'it\\'\"'\"'s.csv'\"'\"''"),
        ("data.path=50$.csv", None),
        ("data.path=5 $ (old).csv", "'data.path='\"'\"'5 $ (old).csv'\"'\"''"),
    ],
)
def test_a_value_with_signs_that_mean_something_to_hydra_is_answered_with_its_quoted_form(word, quoted):
    typed, (key, _, value) = word, word.partition("=")
    if quoted is not None:
        expected = f"error: cannot read {word}: put such values in quotes, {quoted}"
        assert refusal_of("data=documents", word) == expected
        (typed,) = shlex.split(quoted)
    assert OmegaConf.select(compose(["data=documents", typed]), key) == value


def test_a_list_that_is_not_closed_is_not_a_value_to_be_quoted():
    assert "put such values in quotes" not in refusal_of("model.word_hidden_dim=[1,2")


def test_a_node_without_target():
    with pytest.raises(ConfigError, match="choose one with model=NAME"):
        check_arguments(None, "model")


def test_a_bad_choice_is_a_value_error_too():
    with pytest.raises(ValueError, match="score=genral: expected dot or general, found 'genral'; did you mean 'genera"):
        one_of("score", "genral", ["dot", "general"])


def test_what_there_is_where_nothing_is_near():
    assert did_you_mean("x", ["b", "a"]) == "available: a, b"
    assert did_you_mean("modl", ["model", "data"], "conf.") == "did you mean conf.model?"


def test_a_message_shows_the_beginning_of_a_long_value():
    """A value of a damaged file may be a megabyte long."""
    long = "it's" * 40_000
    assert str(DataError(f"a.csv, line 3: {long!r} isn't a number")) == (
        f'a.csv, line 3: "{long[:120]}..." isn\'t a number'
    )
    for refuse in (lambda: one_of("score", long, ["dot"]), lambda: hold("data.path", [long], int)):
        with pytest.raises(ConfigError) as caught:
            refuse()
        assert len(str(caught.value)) < 600
    assert len(str(DataError(", ".join(f"column_{n}" for n in range(10_000))))) < 5000


def test_a_message_with_short_values_stays_as_it_is():
    about = "the network's words are 'a.', and then, after many other words that are not in quotes at all, and more, "
    assert str(DataError(about + "'b' isn't theirs")) == about + "'b' isn't theirs"


# parts of a network that the configuration chooses, such as `model/encoder=`

CAPTIONS = ["model=show_and_tell", "data=scenes"]


def test_what_can_be_chosen_of_a_group_is_no_model() -> None:
    assert {"small", "small_frames", "vgg19", "resnet101", "convnext_tiny", "vit_b_16"} == set(choices("model/encoder"))
    assert not set(choices("model/encoder")) & set(models()) and "encoder" not in models()


@pytest.mark.parametrize("name", ["vgg19", "vit_b_16"])
def test_a_choice_on_the_command_line(name: str) -> None:
    cfg = resolve(compose([*CAPTIONS, f"model/encoder={name}", "model.encoder.finetune_from=3"]))
    assert cfg.model.encoder.name == name and "dim" not in cfg.model.encoder


def test_a_run_from_a_checkpoint_needs_no_file_of_weights(tmp_path) -> None:
    gone = [*CAPTIONS, "model/encoder=vgg19", f"model.encoder.weights={tmp_path / 'gone.pth'}"]
    with pytest.raises(ConfigError, match=r"gone\.pth: file not found"):
        resolve(compose(gone))
    resolve(compose([*gone, "ckpt_path=last"]))
    resolve(compose([*gone, "start_from=last"]))
    assert pretrained_wanted()


class Built:
    """A part of a network that may contain another part; the network gives `width` by position."""

    def __init__(self, width: int, *, depth: Count, inside: Any = None) -> None: ...

    @classmethod
    def check(cls, arguments: Any) -> None:
        if arguments["depth"] > 9:
            raise ConfigError(f"depth={arguments['depth']}: deeper than 9")


@pytest.mark.parametrize(
    ("inner", "message"),
    [
        ({"depth": 3}, None),
        ({"depth": 0}, r"model\.encoder\.inside\.depth=0: expected a whole number from 1 on"),
        ({"depth": 10}, r"model\.encoder\.inside\.depth=10: deeper than 9"),
        ({}, r"model\.encoder\.inside\.depth: Built needs it"),
        ({"depth": 3, "dept": 4}, r"model\.encoder\.inside\.dept: Built has no such argument; did you mean .*\.depth"),
        ({"depth": "???"}, r"model\.encoder\.inside\.depth has no value yet"),
    ],
)
def test_parts_of_parts(inner: dict[str, Any], message: str | None) -> None:
    cfg = compose(CAPTIONS)
    OmegaConf.set_struct(cfg, False)
    target = f"{__name__}.Built"
    cfg.model.encoder = {"_target_": target, "depth": 1, "inside": {"_target_": target, **inner}}
    if message is None:
        check(cfg)
        return
    with pytest.raises(ConfigError, match=message):
        check(cfg)


def test_a_key_of_other_data_is_not_proposed_where_two_keys_are_wrong():
    overrides = ["data=documents", "data.path=x.csv", "data.sample.train=9", "data.sample.val=9"]
    with pytest.raises(HydraException) as caught:
        compose(overrides)
    assert explain(caught.value, overrides) == "error: data.sample.train: unknown key; did you mean data.split?"
