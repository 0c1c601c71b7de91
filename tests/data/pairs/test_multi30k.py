"""Multi30k: its sample, the hub, and the official files; also the real ones, if they are there."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.data.serving import batches, prepared, served, written
from zoo.data.pairs.multi30k import Multi30k
from zoo.data.pairs.samples import translations
from zoo.data.text.tokenization import RuleTokenizer
from zoo.errors import ConfigError, DataError

SMALL = {"train": 60, "val": 10, "test": 15}


def official(folder, tests=("test_2016_flickr",), languages=("de", "en", "fr"), suffix=".gz"):
    """A repository of a few lines."""
    for name, count in (("train", 30), ("val", 5), *((test, 7) for test in tests)):
        for language in languages:
            text = "".join(f"{language}: a man and {number % 4} dogs, {name}.\n" for number in range(count))
            written(folder / f"{name}.{language}{suffix}", text)
    return folder


def test_sample(cache_dir):
    data = prepared(Multi30k(sample=SMALL))
    assert data.sizes == SMALL
    assert data.source_description == "sample: 85 generated pairs of sentences, seed 1"
    pairs = list(translations.generate(85, seed=1))[70:]
    for pair, (text, links) in zip(pairs, served(data, "test", "source_text", "alignment"), strict=True):
        assert data.encoder.display(text) == [*pair.source, "</s>"]
        assert sorted((s, t) for t, s in links.nonzero().tolist()) == pair.alignment


def test_the_sample_the_other_way_round(cache_dir):
    data = prepared(Multi30k(sample=SMALL, source_language="en", target_language="de"))
    pair, text = list(translations.generate(85, seed=1))[70], served(data, "test", "source_text")[0]
    links = served(data, "test", "alignment")[0]
    assert data.encoder.display(text)[:-1] == pair.target
    assert sorted((t, s) for t, s in links.nonzero().tolist()) == pair.alignment
    with pytest.raises(ConfigError, match=r"its languages are German and English; for fr-en use data.source=PATH"):
        Multi30k(source_language="fr").prepare_data()


@pytest.mark.parametrize("inside", [".", "data/task1/raw", "data/raw", "task1/raw"])
def test_official_files(tmp_path, cache_dir, inside):
    official(tmp_path / "multi30k" / inside, suffix=".gz" if inside == "." else "")
    for path in {tmp_path / "multi30k", tmp_path / "multi30k" / inside}:
        data = prepared(Multi30k(source=str(path)))
        assert data.sizes == {"train": 30, "val": 5, "test": 7}
        assert data.source_description.startswith(f"path: {tmp_path / 'multi30k'}")
        assert data.source_description.endswith(", de-en, test_2016_flickr, 42 pairs")
    other = prepared(Multi30k(source=str(tmp_path / "multi30k"), source_language="fr", target_language="de"))
    batch = batches(other, "test")[0]
    assert batch.source_text[0].startswith("fr: a man") and batch.target_text[0].startswith("de: a man")
    assert batch.alignment is None


def test_another_test_set(tmp_path, cache_dir):
    folder = official(tmp_path / "m", ("test_2016_flickr", "test_2017_mscoco"))
    data = prepared(Multi30k(source=str(folder), test="test_2017_mscoco"))
    assert batches(data, "test")[0].source_text[0].endswith("test_2017_mscoco.")
    message = r"test_2018_flickr\.de: file not found, nor test_2018_flickr\.de\.gz; found: .*test_2017_mscoco\.en"
    with pytest.raises(DataError, match=message):
        Multi30k(source=str(folder), test="test_2018_flickr").prepare_data()
    with pytest.raises(DataError, match=r"train\.cs: file not found"):
        Multi30k(source=str(folder), source_language="cs").prepare_data()


def test_languages():
    with pytest.raises(ConfigError, match=r"data\.target_language=es: expected en, de, fr or cs, found 'es'"):
        Multi30k(target_language="es")
    with pytest.raises(ConfigError, match="are both 'en'"):
        Multi30k(source_language="en")


def test_the_hub_as_a_local_repository(tmp_path, cache_dir, monkeypatch):
    repository = tmp_path / "repository"
    repository.mkdir()
    for name, count in (("train", 30), ("validation", 5), ("test", 7)):
        table = {"en": [f"Dog {n % 3}." for n in range(count)], "de": [f"Hund {n % 3}." for n in range(count)]}
        pq.write_table(pa.table(table), repository / f"{name}.parquet")
    monkeypatch.setattr("zoo.data.pairs.multi30k.HUB", str(repository))
    monkeypatch.setattr("datasets.config.HF_DATASETS_CACHE", str(cache_dir))
    data = prepared(Multi30k(source="hub"))
    assert data.sizes == {"train": 30, "val": 5, "test": 7}
    assert batches(data, "test")[0].target_text[0].startswith("Dog")
    assert data.source_description == f"hub: {repository}, 42 pairs de-en"


def test_what_the_hub_does_not_hold(tmp_path, cache_dir):
    for options in ({"source_language": "fr"}, {"test": "test_2017_flickr"}):
        with pytest.raises(ConfigError, match=r"source=hub: bentrevett/multi30k holds en and de with test_2016_flickr"):
            Multi30k(source="hub", **options).prepare_data()
    with pytest.raises(DataError, match=r"bentrevett/multi30k: the split 'train' cannot be loaded .*columns de and en"):
        Multi30k(source="hub").prepare_data()  # the tests are offline


# the real files


@pytest.fixture(scope="module")
def real(shared_data, tmp_path_factory):
    folder = shared_data / "multi30k"
    if not folder.is_dir():
        pytest.skip("no Multi30k beside the clone (../shared/data/multi30k)")
    cache = tmp_path_factory.mktemp("multi30k")
    return prepared(Multi30k(source=str(folder), loader={"cache_dir": str(cache), "max_tokens": 2500}))


def test_the_real_files(real, caplog):
    assert real.sizes == {"train": 29_000, "val": 1_014, "test": 1_000}
    assert (real.spec.source_size, real.spec.target_size) == (7_864, 5_923)
    assert (real.spec.longest_source, real.spec.longest_target) == (45, 41)
    first = real.describe()["examples"][0]
    assert first["source_tokens"] == "zwei junge weiße männer sind im freien in der nähe vieler büsche ."
    assert first["target_tokens"] == "two young , white males are outside near many bushes ."
    assert first["target_text"] == "Two young, White males are outside near many bushes."
    assert served(real, "test", "target_text")[0] == "A man in an orange hat starring at something."
    with caplog.at_level("INFO", "zoo"):
        prepared(Multi30k(source=real.source, loader={"cache_dir": real.loader.cache_dir}))
    assert "preparing" not in caplog.text


@pytest.mark.parametrize(("kind", "share"), [("words", 0.97), ("spacy", 0.997)])
def test_detokenised_references_are_the_references(real, kind, share):
    """Outputs are scored against the text of the file: joining tokens must not cost a point."""
    if kind == "spacy":
        pytest.importorskip("spacy")
    tokenizer = RuleTokenizer(kind, "en", lower=True)
    texts = served(real, "val", "target_text")
    equal = sum(tokenizer.join(tokenizer.split(text).shown) == text for text in texts)
    assert equal / len(texts) > share


@pytest.mark.slow
def test_spacys_words_give_the_public_tables_vocabulary(shared_data, tmp_path):
    """7,853 and 5,893 words in bentrevett/pytorch-seq2seq."""
    pytest.importorskip("spacy")
    if not (shared_data / "multi30k").is_dir():
        pytest.skip("no Multi30k beside the clone (../shared/data/multi30k)")
    source, loader = str(shared_data / "multi30k"), {"cache_dir": str(tmp_path)}
    data = prepared(Multi30k(source=source, loader=loader, text={"tokenizer": "spacy"}))
    assert (data.spec.source_size, data.spec.target_size) == (7_853, 5_893)
