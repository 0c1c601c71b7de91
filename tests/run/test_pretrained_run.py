"""Networks that bring weights along: a checkpoint of them needs neither the file nor a network to download it from."""

import pytest
import torch
from torchvision import models

import zoo
from tests.run.programs import launch, weights

NAME = "shufflenet_v2_x0_5"
SMALL = [
    "model=show_and_tell",
    "model/encoder=vgg19",
    f"model.encoder.name={NAME}",
    "model.encoder.layer=null",
    "model.encoder.size=64",
    "model.embedding_dim=8",
    "model.hidden_dim=8",
    "data=scenes",
    "data.sample={train:12,val:4,test:4,seed:1}",
    "data.loader.batch_size=4",
    "callbacks=none",
    "scheduler=none",
    "trainer=cpu",
    "trainer.enable_progress_bar=false",
]
BACKBONE = "network.encoder.backbone.body.conv5.0.weight"


@pytest.mark.slow
def test_a_run_goes_on_where_the_file_of_weights_is_gone(tmp_path, capfd) -> None:
    """Resumed, begun from, evaluated and loaded, the backbone frozen and then trained."""
    file = tmp_path / "weights.pth"
    state = models.get_model(NAME, weights=None).state_dict()
    torch.save(state, file)
    run = [*SMALL, f"model.encoder.weights={file}"]
    assert launch([*run, "trainer.max_epochs=1", "hydra.run.dir=one"], tmp_path) == 0
    assert torch.equal(weights(tmp_path / "one")[BACKBONE], state["conv5.0.weight"])
    file.unlink()
    assert launch([*run, "trainer.max_epochs=1", "hydra.run.dir=none"], tmp_path) == 2
    assert "model.encoder.weights=" in capfd.readouterr().err
    assert launch([*run, "trainer.max_epochs=2", "hydra.run.dir=resumed", "ckpt_path=one"], tmp_path) == 0
    assert torch.equal(weights(tmp_path / "resumed")[BACKBONE], state["conv5.0.weight"])
    tuned = ["model.encoder.finetune_from=0", "model.encoder.learning_rate=0.1", "trainer.max_epochs=1"]
    assert launch([*run, *tuned, "hydra.run.dir=tuned", "start_from=one"], tmp_path) == 0
    assert not torch.equal(weights(tmp_path / "tuned")[BACKBONE], state["conv5.0.weight"])
    assert launch([*run, "train=false", "hydra.run.dir=tested", "ckpt_path=one"], tmp_path) == 0

    predictor = zoo.load(tmp_path / "one")
    assert predictor.task.network is not None
    found = predictor.task.network.state_dict()["encoder.backbone.body.conv5.0.weight"]
    assert torch.equal(found, state["conv5.0.weight"])
    assert len(predictor([torch.zeros(3, 64, 64, dtype=torch.uint8).numpy()])) == 1
