"""The trees of a prepared corpus as plain trees, and small files."""

from tests.data.serving import batches
from zoo.data.rows import BadRows
from zoo.data.trees.batch import NO_LABEL
from zoo.data.trees.tree import Tree


def trees(data, split):
    """The trees of a split in order, with the names of classes as labels, and words as the vocabulary decodes them."""
    found = {}
    for batch in batches(data, split):
        labels = batch.trees.by_tree(batch.label)
        every = zip(batch.index.tolist(), batch.trees.plain(), batch.trees.ids(), labels, strict=True)
        for number, (parent, word), ids, label in every:
            names = [None if one == NO_LABEL else data.spec.classes[one] for one in label]
            found[number] = Tree(data.encoder.vocabulary.decode(ids), parent, word, names)
    assert sorted(found) == list(range(data.sizes[split]))
    return [found[number] for number in sorted(found)]


def pairs(data, split):
    """(first, second, score) of each pair of a split in order; the trees are those of `trees`, without labels."""
    found = {}
    for batch in batches(data, split):
        every = list(zip(batch.trees.plain(), batch.trees.ids(), strict=True))
        sides = [
            Tree(data.encoder.vocabulary.decode(ids), parent, word, [None] * len(parent))
            for (parent, word), ids in every
        ]
        scores = zip(batch.index.tolist(), sides[::2], sides[1::2], batch.score.tolist(), strict=True)
        found |= {number: (first, second, round(score, 4)) for number, first, second, score in scores}
    assert sorted(found) == list(range(data.sizes[split]))
    return [found[number] for number in sorted(found)]


def folder_of(data):
    """The name of the prepared folder in the cache, which depends on the source and the options."""
    return data._folder(data.open_source()).name


def rows(data, split):
    """The rows of a split without their places."""
    return [row._replace(place="") for row in data.open_source().splits[split](BadRows("error"))]


def conllu(text):
    """Sentences in CoNLL-U. Lines of three fields, number, word and head, get the other columns."""
    lines = []
    for line in text.split("\n"):
        if len(fields := line.split()) == 3 and not line.startswith("#"):
            number, word, head = fields
            line = "\t".join([number, word, "lemma", "X", "_", "_", head, "dep", "_", "_"])
        lines.append(line)
    return "\n".join(lines)


def written(folder, **files):
    """Text files in a folder, by their names without .txt."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (folder / f"{name}.txt").write_text(content if isinstance(content, str) else "".join(f"{x}\n" for x in content))
    return folder
