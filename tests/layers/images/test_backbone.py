"""torchvision's networks as image encoders: their numbers against the networks themselves, shapes, weights, errors."""

import copy
import re
from urllib.error import URLError

import pytest
import torch
import torch.nn.functional as F
import yaml
from torch import Tensor
from torchvision import models
from torchvision.transforms import v2

from tests.catalogue import ROOT
from tests.layers.images.test_cells import images, spec_of
from zoo.errors import ConfigError
from zoo.layers.images import weights as image_weights
from zoo.layers.images.backbone import Backbone
from zoo.layers.images.encoder import ImageEncoder, image_encoder
from zoo.layers.pretrained import not_pretrained

NAME = "shufflenet_v2_x0_5"
"""The smallest of all."""


def normalised(encoder: ImageEncoder, shown: Tensor) -> Tensor:
    return (shown - encoder.mean) / encoder.deviation


def network_of(encoder: Backbone, name: str, side: int) -> torch.nn.Module:
    """torchvision's network with the weights of the encoder."""
    network = image_weights.network(name, drawn=False, size=side)
    assert not network.load_state_dict(encoder.backbone.body.state_dict(), strict=False).unexpected_keys
    return network


def grid_of(cells: Tensor, encoder: Backbone) -> Tensor:
    """(I, D, h, w) of the cells of an encoder."""
    return cells.transpose(1, 2).unflatten(2, encoder.cells)


@pytest.mark.parametrize("name", ["vgg19", "resnet101", "convnext_tiny", "vit_b_16"])
def test_the_encoders_of_the_configuration(name: str) -> None:
    """Numbers and cells of 224 pixels, as their papers have them, and as the files say."""
    text = (ROOT / f"conf/model/encoder/{name}.yaml").read_text(encoding="utf-8")
    with not_pretrained():
        encoder = image_encoder(yaml.safe_load(text), spec_of((14, 14)))
    assert isinstance(encoder, Backbone)
    dim, side = {"vgg19": (512, 14), "resnet101": (2048, 7), "convnext_tiny": (768, 7), "vit_b_16": (768, 14)}[name]
    assert (encoder.dim, encoder.cells) == (dim, (side, side))
    assert f"{dim} numbers" in " ".join(text.replace("#", "").split()) and f"{side} x {side}" in text
    assert not any(parameter.requires_grad for parameter in encoder.parameters())


def test_vgg_is_the_convolutions_before_the_last_pool() -> None:
    with not_pretrained():
        encoder = Backbone(spec_of((4, 4), 64), name="vgg11", size=64)
    for parameter in encoder.parameters():
        torch.nn.init.normal_(parameter, std=0.03)
    network, shown = network_of(encoder, "vgg11", 64), images()
    *before, last, pool = network.features
    assert isinstance(last, torch.nn.ReLU) and isinstance(pool, torch.nn.MaxPool2d)
    expected = torch.nn.Sequential(*before, last)(normalised(encoder, shown))
    assert expected.max() > 0
    torch.testing.assert_close(grid_of(encoder(shown), encoder), expected)


def test_a_resnet_reads_a_shifted_image() -> None:
    """16 pixels of border come before it, and the cells on the border are dropped."""
    encoder = Backbone(spec_of((2, 2), 64), name="resnet18", weights="none", size=64)
    network, shown = network_of(encoder, "resnet18", 64), images()
    x = F.pad(normalised(encoder, shown), (16, 0, 16, 0), mode="replicate")
    x = network.maxpool(network.relu(network.bn1(network.conv1(x))))
    x = network.layer4(network.layer3(network.layer2(network.layer1(x))))
    assert x.shape == (2, 512, 3, 3)
    torch.testing.assert_close(grid_of(encoder(shown), encoder), x[:, :, 1:, 1:])


def test_a_vit_gives_its_patches() -> None:
    """The output of the last norm without the class token, row by row."""
    with not_pretrained():
        encoder = Backbone(spec_of((2, 3), 96, height=64), name="vit_b_32", size=96)
    body = encoder.backbone.body
    torch.nn.init.normal_(body.conv_proj.weight, std=0.02)
    torch.nn.init.normal_(body.encoder.pos_embedding)
    torch.nn.init.ones_(body.encoder.ln.weight)
    network, shown = network_of(encoder, "vit_b_32", 96), images(96)
    patches = network._process_input(normalised(encoder, shown))
    expected = network.encoder(torch.cat([network.class_token.expand(2, -1, -1), patches], 1))[:, 1:]
    torch.testing.assert_close(encoder.features(normalised(encoder, shown)).flatten(2).transpose(1, 2), expected)
    assert encoder.cells == (3, 3) and not torch.allclose(expected[0, 0], expected[0, 1])


def test_a_layer_that_has_its_channels_last() -> None:
    """Swin gives (I, h, w, D) after `features.7`; after its norm, `permute` exchanges the axes."""
    spec = spec_of((2, 2), 64)
    last = Backbone(spec, name="swin_t", layer="features.1", weights="none", size=64)
    assert (last.plan.layout, last.dim, last.cells) == ("channels last", 96, (16, 16))
    network, shown = network_of(last, "swin_t", 64), images()
    expected = network.features[1](network.features[0](normalised(last, shown)))
    torch.testing.assert_close(last.features(normalised(last, shown)), expected.permute(0, 3, 1, 2))


@pytest.mark.parametrize(
    ("sides", "options", "dim", "cells"),
    [
        ((64, 64), {"name": "resnet18", "layer": "layer3.0.relu_1", "size": 64}, 256, (4, 4)),
        ((64, 64), {"name": "resnet18", "layer": "layer3.0.relu_1", "size": None}, 256, (4, 4)),
        ((64, 64), {"name": "resnet18", "layer": "layer3.0.relu_1", "size": 128}, 256, (8, 8)),
        ((64, 96), {"name": NAME, "size": None}, 1024, (2, 3)),
    ],
)
def test_another_layer_and_another_size(sides, options, dim, cells) -> None:
    """A cell of layer3 is 16 pixels wide; images are scaled to `size`, or keep their size."""
    encoder = Backbone(spec_of((4, 4), sides[1], height=sides[0]), weights="none", **options)
    assert (encoder.dim, encoder.cells) == (dim, cells)
    assert encoder(torch.zeros(2, 3, *sides, dtype=torch.uint8)).shape == (2, 16, dim)


def test_an_image_is_scaled_as_by_torchvision() -> None:
    encoder = Backbone(spec_of((2, 2), 150), name=NAME, weights="none", size=64)
    shown = images(150)
    smaller = v2.functional.resize(shown.float(), [64, 64], antialias=True)
    torch.testing.assert_close(encoder(shown), encoder(smaller))


@pytest.mark.parametrize("finetune_from", [None, 0])
def test_it_computes_in_training_as_in_evaluation(finetune_from: int | None) -> None:
    """Batch norms keep their statistics, and nothing is dropped."""
    encoder = Backbone(spec_of((2, 2), 64), name=NAME, weights="none", size=64, finetune_from=finetune_from)
    before, shown = copy.deepcopy(encoder.state_dict()), images()
    expected = encoder.eval()(shown)
    found = encoder.train()(shown)
    assert torch.equal(found, expected)
    assert all(torch.equal(value, before[name]) for name, value in encoder.state_dict().items())
    assert not any(part.training for part in encoder.backbone.body.modules())
    learning = [parameter for parameter in encoder.parameters() if parameter.requires_grad]
    assert len(learning) == (0 if finetune_from is None else len(list(encoder.parameters())))
    assert found.requires_grad == bool(learning)
    if learning:
        found.square().sum().backward()
        assert all(parameter.grad is not None and parameter.grad.any() for parameter in learning)


def test_half_precision() -> None:
    """Larger images are scaled with an antialias that a CPU has only in full precision."""
    encoder, shown = Backbone(spec_of((2, 2), 80), name=NAME, weights="none", size=64), images(80)
    expected = encoder(shown)
    with torch.autocast("cpu", torch.bfloat16):
        cast = encoder(shown)
    found = encoder.bfloat16()(shown)
    assert found.dtype == torch.bfloat16
    assert (cast.float() - expected).norm() < 0.05 * expected.norm()
    assert (found.float() - expected).norm() < 0.1 * expected.norm()


def test_stored_features_need_no_network() -> None:
    spec = spec_of((2, 2), 2, channels=1024, encoded=True)
    encoder = Backbone(spec, name=NAME)
    assert encoder.dim == 1024 and not list(encoder.parameters())
    assert encoder(torch.zeros(1, 1024, 2, 2).half()).shape == (1, 4, 1024)
    with pytest.raises(ConfigError, match=r"finetune_from=3: the data hold features .* or use data with pixels"):
        Backbone(spec, name=NAME, finetune_from=3)


# Weights


@pytest.fixture
def saved(tmp_path):
    """A file of torchvision's form, and its contents."""
    state = models.get_model(NAME, weights=None).state_dict()
    torch.save(state, tmp_path / "weights.pth")
    return tmp_path / "weights.pth", state


def built(weights: object, name: str = NAME) -> Backbone:
    return Backbone(spec_of((2, 2), 64), name=name, weights=str(weights), size=64)


def test_weights_of_a_file(saved) -> None:
    path, state = saved
    body = built(path).backbone.body.state_dict()
    assert body and all(torch.equal(value, state[name]) for name, value in body.items())
    old = {name: value for name, value in state.items() if not name.endswith("num_batches_tracked")}
    torch.save(old, path)
    built(path)


def test_a_checkpoint_reads_no_file_and_draws_no_number(tmp_path) -> None:
    before = torch.get_rng_state()
    with not_pretrained():
        for weights in (tmp_path / "deleted.pth", "default", "none"):
            zeros = [parameter for parameter in built(weights).parameters() if parameter.dim() > 1]
            assert zeros and not any(parameter.any() for parameter in zeros)
    assert torch.equal(torch.get_rng_state(), before)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda state: state.pop("conv5.0.weight"), r"it has no conv5\.0\.weight \(and lacks 1 of the \d+ weights"),
        (
            lambda state: state.update({"conv5.0.weight": torch.zeros(3)}),
            r"conv5\.0\.weight is \(3,\) there, \(1024, 192",
        ),
        (lambda state: state.update(epoch=3), r"found a dict of conv1\.0\.weight, .*, expected a state dict"),
        (lambda state: [1, 2], "found list, expected a state dict"),
        (lambda state: b"<html>Not found</html>", "not readable as weights: damaged"),
    ],
)
def test_a_file_that_does_not_fit(saved, change, message: str) -> None:
    path, state = saved
    other = change(state)
    if isinstance(other, bytes):
        path.write_bytes(other)
    else:
        torch.save(other if isinstance(other, list) else state, path)
    with pytest.raises(ConfigError, match=f"weights={path}: {message}"):
        built(path)


def test_a_file_of_another_network(saved) -> None:
    message = r"it has no conv1\.weight .* found conv1\.0\.weight, .* Set name= to the netwo"
    with pytest.raises(ConfigError, match=message):
        built(saved[0], name="resnet18")


@pytest.fixture
def hub(tmp_path, monkeypatch):
    """The empty folder of torch's downloads, without a connection."""
    monkeypatch.setattr(torch.hub, "get_dir", lambda: str(tmp_path / "hub"))

    def offline(*_: object) -> None:
        raise URLError("Name or service not known")

    monkeypatch.setattr(torch.hub, "download_url_to_file", offline)
    return tmp_path / "hub/checkpoints"


def test_without_a_connection_the_message_names_the_place_of_the_file(hub, saved) -> None:
    file = models.get_model_weights(NAME).DEFAULT.url.rpartition("/")[2]
    with pytest.raises(ConfigError) as caught:
        built("default")
    message = str(caught.value)
    assert message.startswith("weights=default: https://download.pytorch.org/models/shufflenetv2_x0.5-")
    assert f"put it at {hub / file}" in message and "\n" not in message and "weights=none" in message
    path, state = saved
    path.rename(hub / file)
    assert torch.equal(built("default").backbone.body.state_dict()["conv5.0.weight"], state["conv5.0.weight"])


def test_weights_are_downloaded_once_and_checked(hub, saved, monkeypatch) -> None:
    asked, (path, _) = [], saved

    def download(url: str, target: str, prefix: str) -> None:
        asked.append(prefix)
        path.rename(target)

    monkeypatch.setattr(torch.hub, "download_url_to_file", download)
    built("default")
    built("default")
    assert len(asked) == 1 and asked[0] in models.get_model_weights(NAME).DEFAULT.url


def test_names_of_old_files_of_densenet(tmp_path) -> None:
    """torchvision renames them itself when it loads its own."""
    state = image_weights.network("densenet121", drawn=False, size=64).state_dict()
    old = {re.sub(r"(norm|conv)([12])", r"\1.\2", name): value for name, value in state.items()}
    assert old.keys() != state.keys()
    torch.save(old, tmp_path / "old.pth")
    built(tmp_path / "old.pth", name="densenet121")


def test_positions_of_a_vit_of_another_size(tmp_path, monkeypatch) -> None:
    """Positions of 32 pixels, 2 by 2 patches, are interpolated for 64; the class token's is unchanged."""

    def tiny(name: str, weights: None = None, image_size: int = 32) -> torch.nn.Module:
        return models.VisionTransformer(image_size, 16, num_layers=1, num_heads=2, hidden_dim=8, mlp_dim=8)

    torch.manual_seed(0)
    state = tiny("vit_b_16").state_dict()
    torch.save(state, tmp_path / "vit.pth")
    monkeypatch.setattr(image_weights.models, "get_model", tiny)
    same = Backbone(spec_of((2, 2), 32), name="vit_b_16", weights=str(tmp_path / "vit.pth"), size=32)
    wide = Backbone(spec_of((4, 4), 64), name="vit_b_16", weights=str(tmp_path / "vit.pth"), size=64)
    there = state["encoder.pos_embedding"]
    assert torch.equal(same.backbone.body.encoder.pos_embedding, there)
    found = wide.backbone.body.encoder.pos_embedding
    assert found.shape == (1, 17, 8) and torch.equal(found[:, 0], there[:, 0])
    corners = found[:, 1:].unflatten(1, (4, 4))[:, [0, 0, -1, -1], [0, -1, 0, -1]]
    assert ((corners - there[:, 1:]).abs() < 0.6 * there[:, 1:].std()).float().mean() > 0.5


# Errors


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"name": "resnet1O1"}, r"name=resnet1O1: torchvision has no such network .*; did you mean resnet101\?"),
        ({"layer": "layer5"}, r"layer=layer5: resnet18 has no such node; did you mean layer"),
        ({"layer": "avgpool"}, r"layer: it has one vector for the whole image"),
        ({"layer": "fc"}, r"layer: it has one vector for the whole image"),
        ({"size": 250}, r"size=250: a cell of resnet18 is 32 pixels wide, .* size=256"),
        ({"size": 8}, r"size=8: a cell of resnet18 is 32 pixels wide, .* size=32"),
        ({"weights": "/no/file.pth"}, r"weights=/no/file\.pth: file not found"),
    ],
)
def test_impossible_options(options, message: str) -> None:
    """An error of the configuration alone, before there are data, and again when the network is built."""
    options = {"name": "resnet18", "weights": "none"} | options
    with pytest.raises(ConfigError, match=message):
        Backbone.check(options)
    with pytest.raises(ConfigError, match=message):
        Backbone(spec_of((7, 7)), **options)


def test_a_network_for_one_size_only(capfd) -> None:
    """MaxViT's windows divide 224 pixels, but not the 240 pixels of shifted images."""
    with (
        pytest.raises(ConfigError, match=r"name=maxvit_t: it cannot read images of 240 by 240 pixels \("),
        not_pretrained(),
    ):
        Backbone(spec_of((7, 7)), name="maxvit_t")
    assert capfd.readouterr().err == ""


def test_a_vit_of_images_that_are_not_square() -> None:
    with pytest.raises(ConfigError, match=r"size=null: vit_b_32 requires square images, .* 64 by 96: set size=224"):
        Backbone(spec_of((2, 3), 96, height=64), name="vit_b_32", weights="none", size=None)
