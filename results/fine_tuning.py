"""Makes the tables that data=documents reads, to fine-tune a network on few documents.

python results/fine_tuning.py reviews movie_reviews.zip FOLDER --seed 1    100 reviews to train, 100 to validate
python results/fine_tuning.py books childrens_books FOLDER                 passages of books, by author
python results/fine_tuning.py sentences sst FOLDER                         sentences of film reviews, by sentiment

FOLDER gets train.csv, and val.csv and test.csv if the data have these splits, with the columns text and label.
The arguments after the kind are the archive of NLTK, or the folder of the books or of the treebank.
"""

import argparse
import csv
import random
import re
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from zoo.data.text.vocabulary import PLAIN

Splits = dict[str, list[tuple[str, str]]]
"""Texts with their labels, by split."""
LEAF = re.compile(r"\(\d ([^()\s]+)\)")


def reviews(archive: Path, options: argparse.Namespace) -> Splits:
    """The reviews of Pang and Lee (2004). Those to train and to validate are drawn from folds 1 to 9, equally many of
    both classes; the test is all of fold 10."""
    draw, splits = random.Random(options.seed), {"train": [], "val": [], "test": []}
    with zipfile.ZipFile(archive) as opened:
        names = sorted(name for name in opened.namelist() if name.endswith(".txt"))
        for label in ("neg", "pos"):
            of_class = [name for name in names if Path(name).parent.name == label]
            test = [name for name in of_class if Path(name).name.startswith("cv9")]
            drawn = draw.sample([name for name in of_class if name not in test], (options.train + options.val) // 2)
            parts = {"train": drawn[: options.train // 2], "val": drawn[options.train // 2 :], "test": test}
            for split, part in parts.items():
                splits[split] += [(opened.read(name).decode("ascii"), label) for name in part]
    for table in options.more:
        with open(table, encoding="utf-8", newline="") as file:
            splits["train"] += [(row["text"], row["label"]) for row in csv.DictReader(file)]
    return splits


def books(folder: Path, options: argparse.Namespace) -> Splits:
    """Passages of whole paragraphs with at least `options.words` words, labelled with the author of the book."""
    with open(folder / "index.tsv", encoding="utf-8", newline="") as file:
        authors = {row["file"]: row["author"] for row in csv.DictReader(file, delimiter="\t")}
    texts = {name: (folder / "books" / name).read_text("utf-8").splitlines() for name in sorted(authors)}
    return {"train": [(one, authors[name]) for name, text in texts.items() for one in passages(text, options.words)]}


def passages(lines: Iterable[str], words: int) -> Iterator[str]:
    """Join the lines of a book, which are paragraphs. Headings are left out, and so is a shorter rest at the end."""
    joined: list[str] = []
    for line in lines:
        if line.strip() and not line.startswith(("#", "---")):
            joined.append(line.strip())
        if sum(len(one.split()) for one in joined) >= words:
            yield "\n\n".join(joined)
            joined = []


def sentences(folder: Path, options: argparse.Namespace) -> Splits:
    """The sentences of the Stanford Sentiment Treebank with ordinary marks, negative or positive; the neutral ones are
    left out."""
    labels = {"0": "neg", "1": "neg", "3": "pos", "4": "pos"}
    trees = {split: (folder / f"{name}.txt").read_text("utf-8").splitlines() for split, name in SST_FILES.items()}
    return {
        split: [
            (" ".join(PLAIN.get(word, word) for word in LEAF.findall(tree)), labels[tree[1]])
            for tree in part
            if tree[1] in labels
        ]
        for split, part in trees.items()
    }


SST_FILES = {"train": "train", "val": "dev", "test": "test"}
READERS = {"reviews": reviews, "books": books, "sentences": sentences}


def main() -> None:
    """Reads the command line and writes the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", choices=READERS)
    parser.add_argument("source", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seed", type=int, default=1, help="of the drawn reviews")
    parser.add_argument("--train", type=int, default=100, help="number of reviews to train")
    parser.add_argument("--val", type=int, default=100, help="number of reviews to validate")
    parser.add_argument("--more", type=Path, nargs="*", default=[], help="tables whose texts are also trained on")
    parser.add_argument("--words", type=int, default=300, help="least number of words in a passage of a book")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    for split, rows in READERS[options.kind](options.source, options).items():
        with open(options.folder / f"{split}.csv", "w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows([("text", "label"), *rows])
        print(f"{split}: {len(rows):,} texts, {len({label for _, label in rows})} labels")


if __name__ == "__main__":
    main()
