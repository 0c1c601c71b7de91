"""The tests compose faster than Hydra alone, with the same results."""

from pathlib import Path

import omegaconf._utils
import omegaconf.base
import pytest
from hydra._internal import defaults_list
from hydra._internal.config_repository import ConfigRepository
from hydra.core.config_store import ConfigStore
from omegaconf import OmegaConf

from tests import composing
from tests.commands import forgotten
from zoo.run import search_path
from zoo.run.compose import compose

COMMANDS = [
    [],
    ["model=ntm", "data=copy_bits", "model.memory_size=8"],
    ["experiment=show_and_tell_coco", "trainer=fast", "seed=3"],
    ["model=show_attend_tell", "data=scenes", "model/encoder=vgg19", "callbacks=[default,averaging]", "~scheduler"],
    ["model=luong", "data=multi30k", "objective=scheduled_sampling", "regularizer=[coverage,entropy]"],
]


def text(overrides: list[str]) -> str:
    return OmegaConf.to_yaml(compose(overrides))


@pytest.mark.parametrize("overrides", COMMANDS, ids=" ".join)
def test_a_configuration_is_the_one_that_hydra_composes_alone(
    overrides: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert ConfigRepository.load_config is composing.load_config, "tests/conftest.py installs it"
    first, again = text(overrides), text(overrides)
    monkeypatch.setattr(ConfigRepository, "load_config", composing._load_config)
    monkeypatch.setattr(defaults_list, "_create_interpolation_map", composing._create_interpolation_map)
    monkeypatch.delattr(ConfigStore, "__deepcopy__")
    for module in (omegaconf.base, omegaconf._utils):
        monkeypatch.setattr(module, "parse", composing._parse.__wrapped__)
    assert first == again == text(overrides)


def test_a_file_that_has_changed_is_read_again(tmp_path: Path) -> None:
    (tmp_path / "conf" / "model").mkdir(parents=True)
    mine = tmp_path / "conf" / "model" / "mine.yaml"
    with forgotten():
        search_path.add(tmp_path / "conf")
        for dropout in (0.1, 0.2):
            mine.write_text(f"defaults: [han, _self_]\ndropout: {dropout}\n", encoding="utf-8")
            assert compose(["model=mine"]).model.dropout == dropout
