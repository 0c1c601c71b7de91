"""Beam search of the Transformer against CTranslate2's on the same weights. Run: python -m benchmarks.ctranslate2

Needs `pip install -e ".[benchmarks]"`. Transformer 3 + 3 layers, pre-norm, 8 heads, 256 and 512 wide, vocabulary
10,000, random weights; sources of 20 to 40 tokens, one or 32 of them; 30 tokens written; float32, one thread, processor
time. Ours returns attention, CTranslate2 does not.

Both count the end of a hypothesis in its score, but not at the maximum length. CTranslate2 cuts a hypothesis there: no
end, and no probability of one. Ours writes the end as the last token, with its probability, so that another hypothesis
may be the best. With `cut` ours cuts too, since it continues a text: then both find the same, and write as many words.
CTranslate2's scores are higher, since tokens that may not be written get probability 0 before its softmax. Ours are the
network's own. `agreement` has the numbers.
"""

import argparse
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any

import ctranslate2
import torch
from ctranslate2.specs import TransformerSpec
from ctranslate2.specs.common_spec import Activation

from benchmarks.decoding import BEAM, COMMIT, STEPS, VOCABULARY, agree, import_before, searching, sources, transformer
from benchmarks.timing import paired, prepare, ratio, write
from zoo.data.pairs.batch import PairBatch, PairSpec
from zoo.decoding import BeamSearch
from zoo.layers.state import State, Step
from zoo.models import Transformer

SPEC = PairSpec(VOCABULARY, VOCABULARY, 40, 40)


class Cut:
    """A network whose texts continue the begin token: nothing forces their end."""

    def __init__(self, network: Transformer) -> None:
        self.network = network

    def start(self, batch: PairBatch) -> State:
        """The network's state, with begin as the first token to read."""
        return replace(self.network.start(batch), first=torch.full((len(batch),), SPEC.begin))

    def step(self, tokens: torch.Tensor, state: State) -> Step:
        """The network's step."""
        return self.network.step(tokens, state)


def network(width: int) -> Transformer:
    """The Transformer of `benchmarks.decoding`, equal at every call."""
    torch.manual_seed(0)
    sizes = {"hidden_dim": width, "layers": 3, "heads": 8, "feedforward_dim": 4 * width}
    return Transformer(SPEC, norm="pre", **sizes).eval()


def written(ours: Transformer) -> TransformerSpec:
    """The weights of `ours` in CTranslate2's form."""
    theirs = TransformerSpec.from_config((3, 3), 8, pre_norm=True, activation=Activation.RELU)

    def linear(spec: Any, weight: torch.Tensor, bias: torch.Tensor) -> None:
        spec.weight, spec.bias = weight.detach().numpy(), bias.detach().numpy()

    def norm(spec: Any, layer: Any) -> None:
        spec.gamma, spec.beta = layer.weight.detach().numpy(), layer.bias.detach().numpy()

    for side, layers, embedding, positions, end in (
        (theirs.encoder, ours.encoder, ours.source_embedding, ours.source_positions, ours.encoder_norm),
        (theirs.decoder, ours.decoder, ours.target_embedding, ours.target_positions, ours.decoder_norm),
    ):
        table = side.embeddings[0] if isinstance(side.embeddings, list) else side.embeddings
        table.weight = embedding.weight.detach().numpy()
        side.scale_embeddings = True
        side.position_encodings.encodings = positions(torch.arange(64)).numpy()
        norm(side.layer_norm, end)
        for spec, layer in zip(side.layer, layers, strict=True):
            own = layer.self_attention
            norm(spec.self_attention.layer_norm, layer.self_attention_residual.norm)
            linear(spec.self_attention.linear[0], own.weights[0], own.bias)
            linear(spec.self_attention.linear[1], own.output.weight, own.output.bias)
            if hasattr(layer, "cross_attention"):
                other, d = layer.cross_attention, ours.dim
                norm(spec.attention.layer_norm, layer.cross_attention_residual.norm)
                linear(spec.attention.linear[0], other.weights[0][:d], other.bias[:d])
                linear(spec.attention.linear[1], other.weights[-1][-2 * d :], other.bias[d:])
                linear(spec.attention.linear[2], other.output.weight, other.output.bias)
            norm(spec.ffn.layer_norm, layer.feedforward_residual.norm)
            linear(spec.ffn.linear_0, layer.feedforward[0].weight, layer.feedforward[0].bias)
            linear(spec.ffn.linear_1, layer.feedforward[3].weight, layer.feedforward[3].bias)
    linear(theirs.decoder.projection, ours.vocabulary.weight, ours.vocabulary.bias)
    words = ["<pad>", "<unk>", "<s>", "</s>", *(str(number) for number in range(4, VOCABULARY))]
    theirs.register_source_vocabulary(words)
    theirs.register_target_vocabulary(words)
    theirs.config.decoder_start_token = "<s>"
    return theirs


@contextmanager
def translator(ours: Transformer) -> Iterator[ctranslate2.Translator]:
    """CTranslate2 with the weights of `ours`, in float32 and with one thread."""
    with tempfile.TemporaryDirectory() as folder:
        spec = written(ours)
        spec.validate()
        spec.save(folder)
        assert (Path(folder) / "model.bin").exists()
        yield ctranslate2.Translator(folder, compute_type="float32", inter_threads=1, intra_threads=1)


def words_of(batch: PairBatch) -> list[list[str]]:
    """The source tokens as CTranslate2 reads them."""
    names = {SPEC.unknown: "<unk>", SPEC.end: "</s>"}
    rows = zip(batch.source.tolist(), batch.source_mask.sum(1).tolist(), strict=True)
    return [[names.get(token, str(token)) for token in row[:length]] for row, length in rows]


def theirs(model: ctranslate2.Translator, batch: PairBatch, *, beam: int) -> list[Any]:
    """CTranslate2's best hypotheses of STEPS tokens, ranked by log P as ours are."""
    return model.translate_batch(
        words_of(batch),
        beam_size=beam,
        length_penalty=0,
        min_decoding_length=STEPS,
        max_decoding_length=STEPS,
        suppress_sequences=[["<pad>"], ["<s>"]],
        return_scores=True,
    )


def agreement(ours: Transformer, model: ctranslate2.Translator, batch: PairBatch) -> dict[str, Any]:
    """How many of the best hypotheses have the same words, for either rule of ours; the largest relative difference of
    our scores from CTranslate2's, as they are and without the tokens that may not be written."""
    found: dict[str, Any] = {"sentences": len(batch)}
    for beam in (1, BEAM):
        for rule, searched, steps in (("end", ours, STEPS + 1), ("cut", Cut(ours), STEPS)):
            other = [result.hypotheses[0] for result in theirs(model, batch, beam=beam)]
            search = BeamSearch(beam_size=beam, min_length=(0, steps), max_length=(0, steps))
            mine = [[str(token) for token in best.ids[:STEPS]] for best, *_ in search(searched, batch, SPEC)]
            found[f"beam {beam}, {rule}"] = sum(one == two for one, two in zip(mine, other, strict=True))
    results = theirs(model, batch, beam=BEAM)
    scores = torch.tensor([result.scores[0] for result in results])
    target = torch.tensor([[int(word) for word in result.hypotheses[0]] for result in results])
    read = replace(batch, target=target, target_mask=torch.ones_like(target, dtype=torch.bool))
    with torch.no_grad():
        logits = read.forced.packing.unpack(ours(read, need_weights=False).logits)
    without = logits.index_fill(2, torch.tensor([SPEC.padding, SPEC.begin, SPEC.end]), -torch.inf)
    for name, values in (("as they are", logits), ("without forbidden tokens", without)):
        sums = values.log_softmax(2).gather(2, target[:, :, None]).sum((1, 2))
        found[f"scores {name}"] = float(f"{float(((sums - scores) / scores).abs().max()):.1e}")
    return found


def main() -> None:
    """Measure both widths, for one sentence and for 32; print and write the ratios."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=40, help="timed rounds of one sentence; a quarter of them for 32")
    parser.add_argument("--commit", default=COMMIT, help="the earlier code")
    arguments = parser.parse_args()
    import_before(arguments.commit)
    result: dict[str, Any] = {
        "environment": prepare(1) | {"ctranslate2": ctranslate2.__version__},
        "before": arguments.commit,
        "rounds": arguments.rounds,
    }
    for width in (256, 512):
        ours = network(width)
        with translator(ours) as model:
            result[f"agreement, {width}"] = agreement(ours, model, PairBatch(*sources(32)))
            print(width, result[f"agreement, {width}"], flush=True)
            for count in (1, 32):
                batch = PairBatch(*sources(count))
                searches: dict[str, Callable[[], Any]] = {
                    "ctranslate2": lambda model=model, batch=batch: theirs(model, batch, beam=BEAM),
                    "cut": searching("zoo", Cut(ours), batch, SPEC, steps=STEPS),
                    "before": transformer(width, count)("zoo_before"),
                    "now": transformer(width, count)("zoo"),
                }
                agree(searches["before"], searches["now"])
                seconds = paired(
                    searches,
                    rounds=max(4, arguments.rounds // (1 if count == 1 else 4)),
                    warmup=1,
                    clock=time.process_time,
                )
                pairs = (("now", "before"), ("cut", "ctranslate2"), ("before", "ctranslate2"))
                found: dict[str, Any] = {f"{one}_by_{other}": ratio(seconds, one, other) for one, other in pairs}
                found["milliseconds"] = {name: round(1000 * median(times), 1) for name, times in seconds.items()}
                result[f"{width}, {count}"] = found
                print(width, count, found, flush=True)
    write("ctranslate2", result)


if __name__ == "__main__":
    main()
