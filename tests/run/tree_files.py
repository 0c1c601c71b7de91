"""Trees and pairs of them as the official files have them, small, written by the tests of runs."""

from pathlib import Path

import numpy as np

SIZES = {"train": 60, "dev": 11, "test": 13}
"""Examples of each split; no batch divides them."""
WORTH = ("dreadful", "dull", "long", "good", "superb")
"""The word that decides each class of sentiment."""
MISSING = {"story", "cat"}
"""Words without a vector."""


def write_sst(folder: Path) -> Path:
    """train.txt, dev.txt and test.txt in brackets, with a class at every node that its one word of worth decides."""
    folder.mkdir()
    for split, size in SIZES.items():
        lines = (_sentence(number + len(split)) for number in range(size))
        (folder / f"{split}.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder


def _sentence(number: int) -> str:
    worth, noun = number % 5, ("film", "plot", "cast")[number % 3]
    thing = f"(2 (2 The) (2 {noun}))" if number % 2 else f"(2 (2 The) (2 (2 {noun}) (2 (2 and\\/or) (2 story))))"
    return f"({worth} {thing} ({worth} ({worth} (2 was) ({worth} {WORTH[worth]})) (2 .)))"


PAIRS = (
    # tokens and heads of two sentences, 0 the root, -1 a token that is not in the tree; the score
    ("A dog runs .", "2 3 0 -1", "A dog is running .", "2 4 4 0 -1", 4.5),
    ("A dog runs .", "2 3 0 -1", "A cat sleeps .", "2 3 0 -1", 1.25),
    ("A cat and a dog run", "2 6 5 5 2 0", "A dog sleeps .", "2 3 0 -1", 3.0),
    ("A cat sleeps .", "2 3 0 -1", "A cat sleeps", "2 3 0", 5.0),
)


def write_sick(folder: Path) -> Path:
    """Folders train, dev and test, each as the Tree-LSTM's authors prepare them, with parses of both kinds."""
    for split, size in SIZES.items():
        where = folder / split
        where.mkdir(parents=True)
        pairs = [PAIRS[(number * 7 + len(split)) % len(PAIRS)] for number in range(size)]
        a, a_heads, b, b_heads, score = zip(*pairs, strict=True)
        files = {"sim.txt": score, "id.txt": range(1, size + 1)}
        for side, sentences, heads in (("a", a, a_heads), ("b", b, b_heads)):
            files |= {f"{side}.txt": sentences, f"{side}.toks": sentences, f"{side}.parents": heads}
            files[f"{side}.cparents"] = [_branching(len(sentence.split())) for sentence in sentences]
        for name, lines in files.items():
            (where / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return folder


def _branching(words: int) -> str:
    """Parents, from 1, of the words and then of the inner nodes of (a (b (c d)))."""
    inner = [words + number for number in range(1, words)]
    return " ".join(map(str, [*inner, inner[-1], 0, *inner[:-1]]))


def write_vectors(path: Path, size: int = 300) -> dict[str, list[float]]:
    """A file as GloVe's, without a header, with vectors of all words of the files above but MISSING ones; these."""
    words = {word for pair in PAIRS for text in (pair[0], pair[2]) for word in text.split()}
    words |= {"The", "film", "plot", "cast", "and/or", "story", "was", ".", *WORTH}
    rows = np.random.default_rng(1).normal(0, 0.3, (len(words), size)).round(4).tolist()
    found = {word: row for word, row in zip(sorted(words), rows, strict=True) if word not in MISSING}
    lines = (" ".join([word, *map(str, row)]) for word, row in found.items())
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return found
