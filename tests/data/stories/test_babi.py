"""bAbI: its sample, the hub, official folders, the splits that are cut off, and the real files."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.data import serving
from tests.data.serving import prepared
from tests.data.stories import tiny
from tests.data.stories.tiny import official, questions, read_slowly
from zoo.cli import main
from zoo.data.stories import babi
from zoo.data.stories.babi import Babi, file_name
from zoo.data.stories.samples import babi as generator
from zoo.errors import ConfigError, DataError

SMALL = {"train": 30, "val": 6, "test": 9}


def test_every_question_of_the_official_files_is_served(tmp_path, cache_dir):
    folder = official(tmp_path / "en", (2,), valid=True)
    data = tiny.babi(folder, tasks=2)
    assert data.sizes == {"train": 20, "val": 6, "test": 10}
    for split, name in (("train", "train"), ("val", "valid"), ("test", "test")):
        assert questions(data, split) == read_slowly(folder / file_name(2, name), shown=split != "train")


@pytest.mark.parametrize("inside", [".", "en", "tasks_1-20_v1-2/en"])
def test_the_folder_of_the_set_is_found(tmp_path, cache_dir, inside):
    official(tmp_path / "babi" / inside)
    data = prepared(Babi(source=str(tmp_path / "babi")))
    assert data.source_description == f"path: {tmp_path / 'babi' / inside}, 30 questions of task 1"


def test_a_set_is_chosen(tmp_path, cache_dir):
    official(tmp_path / "en")
    official(tmp_path / "en-10k", train=20)
    assert Babi(source=str(tmp_path), set="en-10k").open_source().place == str(tmp_path / "en-10k")
    message = r"found en-10k/, en/; expected the folder tasks_1-20_v1-2 with the folder of data.set"
    with pytest.raises(DataError, match=message):
        Babi(source=str(tmp_path), set="hn").open_source()


def test_of_one_task_the_last_training_questions_validate(tmp_path, cache_dir):
    folder = official(tmp_path / "en")
    data = tiny.babi(folder, split={"val": 0.25})
    assert questions(data, "train") == read_slowly(folder / file_name(1, "train"), shown=False)[:15]
    assert questions(data, "val") == read_slowly(folder / file_name(1, "train"))[15:]


def test_of_several_tasks_a_draw_from_all_validates(tmp_path, cache_dir):
    folder = official(tmp_path / "en", (3, 7), train=40)
    data = tiny.babi(folder, tasks=[7, 3])
    assert data.sizes == {"train": 144, "val": 16, "test": 20}
    assert data.spec.tasks == ("qa3", "qa7")
    expected = [one for task in (3, 7) for one in read_slowly(folder / file_name(task, "train"), shown=False)]
    served = questions(data, "train") + [one for one in questions(data, "val") if one.pop("shown")]
    assert sorted(map(repr, served)) == sorted(map(repr, expected))
    texts = [one["shown"] for one in read_slowly(folder / file_name(3, "train"))]
    found = [(int(task), shown.sentences) for task, shown in serving.served(data, "val", "task", "text")]
    assert {task for task, _ in found} == {0, 1} and all((task == 0) == (text in texts) for task, text in found)
    assert questions(tiny.babi(folder, tasks=[3, 7]), "val") == questions(data, "val")


def test_too_few_questions_to_validate(tmp_path, cache_dir):
    (official(tmp_path / "en") / file_name(1, "train")).write_text("1 A left.\n2 Who left?\tA\t1\n")
    with pytest.raises(DataError, match=r"too few questions \(1\) to draw val .*smaller share as data.split.val"):
        tiny.babi(tmp_path)


def test_a_missing_task_is_named_with_those_that_are_there(tmp_path):
    official(tmp_path / "en", (1, 2, 3, 7))
    message = r"qa4_two-arg-relations_train.txt: file not found; the files of tasks 1-3, 7 are there \("
    with pytest.raises(DataError, match=message):
        Babi(source=str(tmp_path), tasks="all").open_source()
    (tmp_path / "en" / file_name(2, "test")).unlink()
    with pytest.raises(DataError, match=r"qa2_two-supporting-facts_test.txt: .* the files of tasks 1, 3, 7 are"):
        Babi(source=str(tmp_path), tasks=[1, 2]).open_source()


def test_what_is_asked_for_has_to_make_sense():
    with pytest.raises(ConfigError, match="task 2 is listed twice"):
        Babi(tasks=[2, 1, 2])
    with pytest.raises(ConfigError, match=r"with data\.replacement=true a batch has data\.loader\.batch_size"):
        Babi(replacement=True, loader={"max_tokens": 100})


def test_an_answer_that_training_lacks_has_an_entry_and_is_noted(tmp_path, cache_dir):
    """As in the real task 8, where one test question asks for a list that no training question has."""
    folder = official(tmp_path / "en")
    file = folder / file_name(1, "test")
    file.write_text(file.read_text() + "1 Zoe went home.\n2 What has Mary?\tmilk,football\t1\n")
    data = tiny.babi(folder)
    last = questions(data, "test")[-1]
    assert last["answer"] == "milk,football"
    assert last["story"] == [["<unk>", "went", "<unk>"]]
    notes = data.describe()["notes"]
    assert any(note.startswith("test: 1 question has an answer that no training question has") for note in notes)


@pytest.mark.parametrize("override", ["data.tasks=21", "data.tasks=every", "data.tasks=[]"])
def test_a_wrong_key(capsys, override):
    with pytest.raises(SystemExit) as left:
        main(["data", "babi", override])
    assert left.value.code == 2 and f"{override}: expected" in capsys.readouterr().err


def test_the_sample_and_its_official_files(tmp_path, cache_dir):
    data = prepared(Babi(tasks=[1, 12], sample=SMALL))
    assert data.sizes == {"train": 60, "val": 12, "test": 18}
    assert data.source_description == "sample: 90 generated questions, tasks 1, 12, seed 1"
    stories = generator.questions(1, 9, seed=1, split="test")
    made = [line for story in stories for line in story.lines if line.answer is not None]
    assert [one["answer"] for one in questions(data, "test")[:9]] == [line.answer for line in made]
    files = data.write(tmp_path / "new" / "en")
    splits = ("train", "valid", "test")
    assert {file.name for file in files} == {file_name(task, split) for task in (1, 12) for split in splits}
    again = tiny.babi(tmp_path / "new", tasks=[1, 12])
    assert again.spec == data.spec
    assert all(questions(again, split) == questions(data, split) for split in data.sizes)


# the hub

ROW = {
    "id": ["1", "2", "3", "4", "5"],
    "type": [0, 0, 1, 0, 1],
    "text": ["Mary left.", "John came.", "Who left? ", "Bill left.", "Who left? "],
    "supporting_ids": [[], [], ["1"], [], ["4", "1"]],
    "answer": ["", "", "Mary", "", "Bill"],
}
LINES = [{key: values[line] for key, values in ROW.items()} for line in range(5)]


def hub(monkeypatch, folder, rows, splits=("train", "test")):
    """A repository with a folder for each configuration and split, without a README.md that lists them; `rows` has
    the story of each configuration."""
    for part, row in rows.items():
        for split in splits:
            (folder / part / split).mkdir(parents=True)
            count = 10 if split == "train" else 2
            pq.write_table(pa.table({"story": [row] * count}), folder / part / split / "0000.parquet")
    monkeypatch.setattr(babi, "HUB", str(folder))


def test_hub(tmp_path, cache_dir, monkeypatch):
    other = ROW | {"answer": ["", "", "Zoe", "", "Ulf"]}
    hub(monkeypatch, tmp_path, {f"en-10k-qa{task}": other if task == 3 else ROW for task in (1, 2, 3)})
    data = prepared(Babi(source="hub", tasks=[1, 2], set="en-10k"))
    assert data.sizes == {"train": 36, "val": 4, "test": 8}
    first, second = questions(data, "test")[:2]
    assert first["story"] == [["mary", "left"], ["john", "came"]] and first["supporting"] == {0}
    assert (second["answer"], second["supporting"]) == ("bill", {0, 2})
    assert data.source_description == f"hub: {tmp_path}, en-10k, tasks 1, 2, 48 questions"


def test_the_hub_as_lists_of_lines_with_its_validation(tmp_path, cache_dir, monkeypatch):
    hub(monkeypatch, tmp_path, {"en-valid-qa1": LINES}, ("train", "validation", "test"))
    assert prepared(Babi(source="hub", set="en-valid")).sizes == {"train": 20, "val": 4, "test": 4}


def test_a_broken_row_of_the_hub_is_named(tmp_path, cache_dir, monkeypatch):
    hub(monkeypatch, tmp_path, {"en-qa1": LINES[2:]})
    with pytest.raises(DataError, match=f"^{tmp_path}, en-qa1, train, row 1, line 3: question about an empty story"):
        Babi(source="hub").prepare_data()


# the real files


def test_the_real_tasks_jointly(shared_data, cache_dir):
    """20,000 + 20,000 questions and 174 distinct words, those of answers among them (PROVENANCE.md)."""
    real = prepared(Babi(source=str(shared_data / "babi"), tasks="all"))
    assert real.sizes == {"train": 18_000, "val": 2_000, "test": 20_000}
    assert real.spec.vocabulary_size == 174 + 2
    parts = real.describe()["splits"]
    assert set(parts["test"]["tasks"].values()) == {1000}
    assert parts["test"]["unknown_rate"] == 0
    assert real.spec.longest_sentence == 11
    # of 228 statements the newest 130 are kept
    assert parts["train"]["sentences"]["max"] == 130 and parts["train"]["truncated"] > 0
    assert len(real.describe()["notes"]) == 4
    commas = [word for word in real.encoder.vocabulary.words if "," in word]
    assert {"milk,football", "n,w"} <= set(commas)
