"""Published corpora of documents: every source, and every layout of the official files."""

import json
import re

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch

from tests.data.serving import batches, prepared, served, written
from zoo.data.documents.ag_news import AgNews
from zoo.data.documents.imdb import Imdb, generate_polar
from zoo.data.documents.samples import news, reviews
from zoo.data.documents.yelp import Yelp
from zoo.data.text.tokenization import TreebankTokenizer
from zoo.errors import DataError

SMALL = {"train": 60, "val": 20, "test": 30}
ANY = {"minimum_frequency": 1}
SENTENCE = "The food was good. We liked it.\\n\\nIt &amp; wine #39;s fine."


def corpus(cls, **options):
    return prepared(cls(**{"text": ANY, "sample": SMALL} | options))


def first_words(data):
    batch = batches(data, "train")[0]
    return " ".join(data.encoder.vocabulary.decode(batch.words[0][batch.word_mask[0]].tolist()))


# samples


@pytest.mark.parametrize(("cls", "classes"), [(Yelp, 5), (Imdb, 2), (AgNews, 4)])
def test_samples(cls, classes, cache_dir):
    data = corpus(cls)
    assert data.sizes == SMALL
    assert data.spec.num_classes == classes == len(data.spec.classes)
    assert data.spec.vocabulary_size == len(data.encoder.vocabulary)
    assert data.source_description == f"sample: 110 generated {cls.noun}, seed 1"
    assert data.describe()["name"] == cls.name
    json.dumps(data.describe())
    assert all(set(map(int, served(data, split, "label"))) == set(range(classes)) for split in SMALL)
    for batch in batches(data, "test"):
        assert batch.evidence.dtype == torch.bool
        assert not (batch.evidence & ~batch.word_mask).any() and batch.evidence.flatten(1).any(1).all()
        for document, mask in zip(batch.text, batch.word_mask, strict=True):
            assert [len(sentence) for sentence in document] == mask.sum(1)[mask.any(1)].tolist()
    assert batches(data, "train")[0].text is None


def test_the_sample_is_the_generators_and_the_splits_do_not_overlap(cache_dir):
    data = corpus(AgNews, text={"minimum_frequency": 3, "max_sentences": 2, "max_words": 8})
    items = list(news.generate(110, seed=1))
    assert served(data, "train", "label") == [item.label for item in items[:60]]
    assert served(data, "val", "label") == [item.label for item in items[60:80]]
    assert served(data, "test", "label") == [item.label for item in items[80:]]
    encode = data.encoder.vocabulary.encode
    found = served(data, "val", "words", "word_mask", "evidence")
    for item, (words, mask, evidence) in zip(items[60:80], found, strict=True):
        assert [encode(sentence[:8]) for sentence in item.sentences[:2]] == [
            row[real].tolist() for row, real in zip(words, mask, strict=True) if real.any()
        ]
        assert evidence[mask].tolist() == [flag for flags in item.evidence[:2] for flag in flags[:8]]


def test_generated_words_are_those_of_the_tokenizer():
    """Otherwise a text that is typed would have other words than the sample."""
    for generate in (reviews.generate, news.generate):
        for document in generate(200, seed=3):
            for sentence in document.sentences:
                assert TreebankTokenizer(lower=False).split(" ".join(sentence)).shown == sentence


def test_two_classes_from_five_stars():
    polar = list(generate_polar(50, seed=4))
    assert len(polar) == 50
    five = [review for review in reviews.generate(200, seed=4) if review.label != 2][:50]
    assert [review.sentences for review in polar] == [review.sentences for review in five]
    assert [review.label for review in polar] == [int(review.label >= 3) for review in five]


# official files


def zhang(folder, classes, count=24, name="train.csv"):
    lines = [f'"{n % classes + 1}","{SENTENCE} {n % 7}"\n' for n in range(count)]
    return written(folder / name, "".join(lines)).parent


def parquet(folder, classes, text=SENTENCE, **counts):
    for name, count in counts.items():
        columns = {"text": [text.format(n % 3) for n in range(count)], "label": [n % classes for n in range(count)]}
        pq.write_table(pa.table(columns), folder / f"{name.replace('_', '-')}.parquet")


@pytest.mark.parametrize(("cls", "classes"), [(Yelp, 5), (AgNews, 4)])
def test_zhang_folder(tmp_path, cache_dir, cls, classes):
    zhang(zhang(tmp_path / "files", classes), classes, 10, "test.csv")
    data = corpus(cls, source=str(tmp_path / "files"))
    assert data.sizes == {"train": 22, "val": 2, "test": 10}
    assert served(data, "test", "label") == [n % classes for n in range(10)]
    assert data.source_description == f"path: {tmp_path / 'files'}, 34 {cls.noun}"
    assert first_words(data).startswith("the food was good . we liked it . it & wine 's fine .")
    assert batches(data, "test")[0].evidence is None


def test_yelp_json_lines(tmp_path, cache_dir):
    lines = [json.dumps({"stars": n % 5 + 1.0, "text": f"Good. {n % 3}", "useful": 1}) for n in range(50)]
    path = tmp_path / "yelp_academic_dataset_review.json"
    path.write_text("\n".join(lines), "utf-8")
    (tmp_path / "yelp_academic_dataset_user.json").write_text("{}")
    for source in (path, tmp_path):
        assert corpus(Yelp, source=str(source)).sizes == {"train": 40, "val": 5, "test": 5}


@pytest.mark.parametrize(("cls", "classes"), [(Yelp, 5), (Imdb, 10)])
def test_tang(tmp_path, cache_dir, cls, classes):
    for split, count in (("train", 30), ("dev", 12), ("test", 11)):
        lines = [f"u\t\tp\t\t{n % classes + 1}\t\tit was . <sssss> good {n % 5} .\n" for n in range(count)]
        (tmp_path / f"{cls.name}-2013-{split}.txt.ss").write_text("".join(lines))
    data = corpus(cls, source=str(tmp_path), text=ANY | {"sentences": "lines"})
    assert data.sizes == {"train": 30, "val": 12, "test": 11}
    assert data.spec.num_classes == classes
    assert served(data, "test", "label") == [n % classes for n in range(11)]
    assert batches(data, "test")[0].sentence_mask.sum(1).tolist() == [2] * 11


def test_acl_imdb(tmp_path, cache_dir):
    for split, count in (("train", 15), ("test", 5)):
        for name in ("pos", "neg", "unsup"):
            for n in range(count):
                text = f"Film {n % 4}.<br /><br />It was {name}."
                written(tmp_path / "aclImdb" / split / name / f"{n}_7.txt", text)
        (tmp_path / "aclImdb" / split / "urls_pos.txt").write_text("http://")
    for source in (tmp_path, tmp_path / "aclImdb"):
        data = corpus(Imdb, source=str(source))
        assert data.sizes == {"train": 27, "val": 3, "test": 10}
        assert served(data, "test", "label") == [0] * 5 + [1] * 5
        assert data.spec.classes == ("negative", "positive")
        assert "unsup" not in data.encoder.vocabulary


@pytest.mark.parametrize(("cls", "classes"), [(Yelp, 5), (Imdb, 2), (AgNews, 4)])
def test_parquet_of_the_hub_fetched_by_hand(tmp_path, cache_dir, cls, classes):
    parquet(tmp_path, classes, train_00000_of_00002=20, train_00001_of_00002=20, test_00000_of_00001=10)
    data = corpus(cls, source=str(tmp_path))
    assert data.sizes == {"train": 36, "val": 4, "test": 10}
    assert served(data, "test", "label") == [n % classes for n in range(10)]
    plain = first_words(data)
    assert ("\\n" in plain or "#" in plain) == (cls is Imdb)  # the escapes of Zhang are not IMDb's


# the hub


def test_the_hub_as_a_local_repository(tmp_path, cache_dir, monkeypatch):
    """`load_dataset` reads a folder of parquet files as it reads a repository."""
    repository = tmp_path / "repository"
    repository.mkdir()
    parquet(repository, 5, r"So \"good\".\n\nOr not {}?", train_00000_of_00001=40, test_00000_of_00001=10)
    monkeypatch.setattr(Yelp, "hub", str(repository))
    monkeypatch.setattr("datasets.config.HF_DATASETS_CACHE", str(cache_dir))
    data = corpus(Yelp, source="hub")
    assert data.sizes == {"train": 36, "val": 4, "test": 10}
    assert served(data, "test", "label") == [n % 5 for n in range(10)]
    assert data.source_description == f"hub: {repository}, 50 reviews"
    assert first_words(data).startswith('so " good " . or not')


# mistakes


def test_paths_without_the_official_files(tmp_path):
    zhang(tmp_path / "half", 5, name="test.csv")
    (tmp_path / "a.docx").write_text("x")
    for cls, name, message in (
        (Yelp, "half", r"half: found test.csv; expected a folder with train.csv and test.csv, or the open dataset"),
        (AgNews, "", r"found a.docx, half/; expected a folder with train.csv and test.csv \(class from 1 to 4"),
        (Imdb, "a.docx", r"a.docx: this file has another form; expected the folder aclImdb"),
    ):
        with pytest.raises(DataError, match=message):
            cls(source=str(tmp_path / name)).open_source()


def advised(message):
    """The keys that a message names."""
    return set(re.findall(r"data\.[a-z_]+(?:\.[a-z_]+)?", message))


def test_advice_names_keys_that_the_data_have(tmp_path, cache_dir):
    """Unlike documents of your own, a corpus has no keys for columns and for files of a split."""
    pq.write_table(pa.table({"txt": ["a"], "label": [1]}), tmp_path / "train.parquet")
    with pytest.raises(DataError, match=rf"no column 'text'; found: .*expected: the files of {Yelp.hub}") as caught:
        corpus(Yelp, source=str(tmp_path))
    assert advised(str(caught.value)) == {"data.source"}
    zhang(tmp_path / "few", 4, count=4)
    message = r"too few documents \(4\) to draw val and test from them and to train on each of 4 classes; use more doc"
    with pytest.raises(DataError, match=message) as caught:
        corpus(AgNews, source=str(tmp_path / "few"))
    assert advised(str(caught.value)) == {"data.split.val", "data.split.test"}
    AgNews(split={"val": 0.05, "test": 0.05})
