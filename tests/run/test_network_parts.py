"""Parts of a network that the configuration chooses, such as `model/encoder=`: one line refuses arguments that their
class does not accept, before data are prepared. `Built` is such a part for any model."""

from __future__ import annotations

from typing import Any

import pytest
from omegaconf import OmegaConf

from tests.commands import resolve
from zoo.arguments import Count
from zoo.errors import ConfigError
from zoo.layers.pretrained import pretrained_wanted
from zoo.run.catalogue import choices, models
from zoo.run.check import check
from zoo.run.compose import compose

CAPTIONS = ["model=show_and_tell", "data=scenes"]


def test_what_can_be_chosen_of_a_group_is_no_model() -> None:
    assert {"small", "vgg19", "resnet101", "convnext_tiny", "vit_b_16"} == set(choices("model/encoder"))
    assert not set(choices("model/encoder")) & set(models()) and "encoder" not in models()


@pytest.mark.parametrize("name", ["vgg19", "vit_b_16"])
def test_a_choice_on_the_command_line(name: str) -> None:
    cfg = resolve(compose([*CAPTIONS, f"model/encoder={name}", "model.encoder.finetune_from=3"]))
    assert cfg.model.encoder.name == name and "dim" not in cfg.model.encoder


def test_a_run_from_a_checkpoint_needs_no_file_of_weights(tmp_path) -> None:
    gone = [*CAPTIONS, "model/encoder=vgg19", f"model.encoder.weights={tmp_path / 'gone.pth'}"]
    with pytest.raises(ConfigError, match=r"gone\.pth: there is no such file"):
        resolve(compose(gone))
    resolve(compose([*gone, "ckpt_path=last"]))
    resolve(compose([*gone, "start_from=last"]))
    assert pretrained_wanted()


class Built:
    """A part with a part: takes a place in the network first."""

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
