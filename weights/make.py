"""Train the included networks and store them. Run: python weights/make.py [NAME ...] [--runs DIR]

Each network is trained by the default command of its task, with fewer units where the default is over the limit of
1.3 MB. One that misses a bar is not stored. The stored prediction and the stored test score are those of the weights
after they were rounded to half precision; the score is on 200 examples. tests/run/test_weights.py repeats both. The
inputs in `examples.json`, which `zoo explore` offers, are written by hand: each is a list of the values of a form.
"""

import argparse
import contextlib
import json
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

import zoo
from zoo.run.checkpoint import read_checkpoint
from zoo.run.weights import model_card, write_folder

HERE = Path(__file__).resolve().parent
EXPECTED = "expected.json"
LARGEST, ALL = 1_300_000, 13_000_000  # Bytes of one network, and of all
FEW = "data.sample.test=200"


@dataclass(frozen=True)
class Recipe:
    """How a network is trained, what it has to reach, and an input."""

    command: str
    """The overrides of train.py."""
    bars: Mapping[str, float]
    """The lowest value of each test metric; a negative number -b is an upper bound b."""
    example: Any
    """An input as JSON, whose prediction is stored; a path is relative to the folder of the network."""


RECIPES = {
    "han": Recipe(
        "model=han data=yelp",
        {"accuracy": 0.98, "attention_recall": 0.7},
        "The food was lovely. The service was poor.",
    ),
    "transformer": Recipe(
        "model=transformer data=multi30k model.hidden_dim=96 model.layers=2 model.heads=4 model.feedforward_dim=192 "
        "trainer.max_epochs=10",
        {"bleu": 85.0},
        "jan lacht, sobald die katze einschläft.",
    ),
    "memn2n": Recipe(
        "model=memn2n data=babi",
        {"error": -0.1},
        "Mary went to the kitchen. John went to the garden. Where is Mary?",
    ),
    "aoa_reader": Recipe(
        "model=aoa_reader data=cbt",
        {"accuracy": 0.9},
        "The clock was lost by Viktor. The pearl was smashed by Edgar. Nadia mended the clock. XXXXX broke the pearl.",
    ),
    "pointer_net": Recipe(
        "model=pointer_net data=convex_hull model.embedding_dim=128 model.hidden_dim=128",
        {"accuracy": 0.8},
        [[0.1, 0.1], [0.9, 0.2], [0.5, 0.5], [0.8, 0.9], [0.2, 0.8]],
    ),
    "ntm": Recipe("model=ntm data=copy_bits", {"exact_length20": 0.95}, "10111101 01001111 11100010"),
    "show_attend_tell": Recipe(
        "model=show_attend_tell data=scenes model.hidden_dim=160",
        {"true": 0.85, "attention_recall": 0.6},
        "example.png",
    ),
    "rnn_lm": Recipe(
        "model=rnn_lm data=text model.embedding_dim=150 model.hidden_dim=150",
        {"word_perplexity": -8.05, "agreement": 0.95},
        "the geese that",
    ),
    "pointer_generator": Recipe(
        "model=pointer_generator data=summaries model.embedding_dim=96 model.hidden_dim=96",
        {"copy_accuracy": 0.95, "fact_accuracy": 0.95, "attention_recall": 0.9},
        "On Friday a new library was opened in Quuxhaven by mayor Anna Zyzzyva. The plans had been drawn by Blorptin.",
    ),
    "hred": Recipe(
        "model=hred data=dialogues model.attention=hierarchical",
        {"fact_accuracy": 0.9, "attention_recall": 0.3},
        ["i live in Oslo .", "thank you for telling me .", "where do i live ?"],
    ),
    "t_dmca": Recipe(
        "model=t_dmca data=passages data.sample.train=8000",
        {"fact_accuracy": 0.9},
        "Dunmere ||| An inn by the river has ten rooms. Dunmere is built of granite. ||| Trains stop here on working "
        "days. Dunmere was ruled by bishops. ||| Pellworm is built of basalt. Dunmere is known for brewing.",
    ),
    "las": Recipe("model=las data=tones", {"exact_match": 0.85}, "example.wav"),
    "gated_pixelcnn": Recipe("model=gated_pixelcnn data=glyphs", {"nats": -8.34}, "example.png"),
    "sagan": Recipe(
        "model=sagan data=glyphs", {"class_accuracy": 0.8}, {"picture": "example.png", "label": "7", "number": 0}
    ),
    "wavenet": Recipe(
        "model=wavenet data=chords model.condition=label",
        {"bits": -4.3, "class_accuracy": 0.8},
        {"sound": "example.wav", "label": "C major"},
    ),
    "handwriting": Recipe(
        "model=handwriting data=strokes", {"letter_accuracy": 0.95, "stop_error": -0.05}, "hello world"
    ),
    "temporal_attention": Recipe("model=temporal_attention data=clips", {"true": 0.9}, "example.gif"),
    "tree_lstm": Recipe("model=tree_lstm data=sst", {"accuracy_roots": 0.9}, "critics loved this film ."),
    "tree_lstm_sick": Recipe(
        "model=tree_lstm data=sick",
        {"pearson": 0.9},
        ["the old photo is repaired by a bunny .", "an aged picture is not broken by the rabbit ."],
    ),
}


def main() -> None:
    """Make the networks that are named, or all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", choices=[*RECIPES, []], metavar="NAME", help="by default all")
    parser.add_argument("--runs", type=Path, default=Path("logs/weights"), help="finished runs here are not repeated")
    options = parser.parse_args()
    missed = [name for name in options.names or RECIPES if not make(name, options.runs.resolve() / name)]
    size = sum(path.stat().st_size for path in HERE.glob("*/*"))
    print(f"all networks take {size:,} bytes of {ALL:,}")
    if missed or size > ALL:
        sys.exit(f"not stored: {', '.join(missed)}" if missed else "the networks take too much room")


def make(name: str, run: Path) -> bool:
    """Train a network, unless its run is finished, and store it. False where a bar is missed."""
    recipe = RECIPES[name]
    if not (run / "result.json").is_file():
        train(recipe.command, run)
    result = json.loads((run / "result.json").read_text(encoding="utf-8"))
    result["overrides"] = recipe.command.split()  # without the folder of the run
    metrics = result["metrics"]
    for metric, bar in recipe.bars.items():
        value = metrics[f"test/{metric}"]
        if (value > -bar) if bar < 0 else (value < bar):
            print(f"{name}: {metric} is {value:.4f}, and the bar is {abs(bar)}", file=sys.stderr)
            return False
    content, folder = read_checkpoint(run / "checkpoints" / "best.ckpt"), HERE / name
    if name in EXAMPLES:
        folder.mkdir(exist_ok=True)
        EXAMPLES[name](folder)
    write_folder(folder, content, model_card(content, result, name))
    expected = {"input": recipe.example, "prediction": prediction(folder, recipe.example), "metric": scored(name, run)}
    (folder / EXPECTED).write_text(json.dumps(expected, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    size = sum(path.stat().st_size for path in folder.iterdir())
    print(f"{name}: {size:,} bytes; {expected['metric']['name']} {expected['metric']['value']:.4f} on 200 examples")
    if size > LARGEST:
        shutil.rmtree(folder)
        print(f"{name}: {size:,} bytes, and the limit is {LARGEST:,}", file=sys.stderr)
    return size <= LARGEST


def train(command: str, run: Path) -> None:
    """Run train.py from the root of the clone."""
    words = ["train.py", *shlex.split(command), f"hydra.run.dir={run}"]
    subprocess.run([sys.executable, *words], check=True, cwd=HERE.parent)


def prediction(folder: Path, example: Any) -> Any:
    """The prediction for an input as plain data. It is made in the folder, since it may name a file."""
    with contextlib.chdir(folder):
        return json.loads(json.dumps(zoo.load(folder)([example])[0].to_dict()))


def scored(name: str, run: Path) -> dict[str, Any]:
    """The first bar's metric on 200 examples, and the command that computes it."""
    recipe, metric = RECIPES[name], next(iter(RECIPES[name].bars))
    words = [word for word in recipe.command.split() if not word.startswith("trainer.")]
    command = " ".join(["train=false", f"ckpt_path={name}", *words, FEW])
    train(f"{command} callbacks=none", run / "few")
    value = json.loads((run / "few" / "result.json").read_text(encoding="utf-8"))["metrics"][f"test/{metric}"]
    return {"command": command, "name": metric, "value": value}


def _pictures(folder: Path) -> None:
    """Write the first three pictures of the generated scenes: example.png, example-2.png, ..."""
    from PIL import Image

    batch = next(iter(zoo.load_data("scenes", sample={"train": 8, "val": 1, "test": 3}).test_dataloader())).each_image()
    for index, pixels in zip(batch.index.tolist(), batch.image, strict=True):
        name = f"example-{index + 1}.png" if index else "example.png"
        Image.fromarray(pixels.permute(1, 2, 0).numpy()).save(folder / name)


def _sounds(folder: Path) -> None:
    """Write the first three generated sounds: example.wav, and example-2.ogg and example-3.ogg, which are smaller."""
    import soundfile

    batch = next(iter(zoo.load_data("tones", sample={"train": 8, "val": 1, "test": 3}).test_dataloader()))
    for index, about in zip(batch.index.tolist(), batch.about, strict=True):
        name = f"example-{index + 1}.ogg" if index else "example.wav"
        soundfile.write(folder / name, about.sound.samples.numpy(), about.sound.rate)


def _clips(folder: Path) -> None:
    """Write the first three generated clips: example.gif, example-2.gif, ..."""
    from PIL import Image

    batch = next(iter(zoo.load_data("clips", sample={"train": 8, "val": 1, "test": 3}).test_dataloader())).each_image()
    for index, frames, mask in zip(batch.index.tolist(), batch.frames, batch.frame_mask, strict=True):
        name = f"example-{index + 1}.gif" if index else "example.gif"
        first, *others = map(Image.fromarray, frames[mask].permute(0, 2, 3, 1).numpy())
        first.save(folder / name, save_all=True, append_images=others, duration=200, loop=0)


def _glyph(folder: Path) -> None:
    """Write a generated 7 as example.png."""
    from PIL import Image

    from zoo.data.pictures.samples.glyphs import generate

    Image.fromarray(next(generate(1, seed=1, characters="7")).pixels[..., 0]).save(folder / "example.png")


def _chord(folder: Path) -> None:
    """Write a generated C major as example.wav."""
    import soundfile

    from zoo.data.waves.mu_law import decode
    from zoo.data.waves.samples.chords import RATE, generate

    levels = next(one.levels for one in generate(100, seed=1) if one.name == "C major")
    soundfile.write(folder / "example.wav", decode(torch.from_numpy(levels)).numpy(), RATE)


EXAMPLES = {
    "show_attend_tell": _pictures,
    "las": _sounds,
    "temporal_attention": _clips,
    "gated_pixelcnn": _glyph,
    "sagan": _glyph,
    "wavenet": _chord,
}
"""The functions that write the inputs of the networks that read files."""


if __name__ == "__main__":
    main()
