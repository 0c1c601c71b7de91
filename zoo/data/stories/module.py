"""Stories with questions: what every source of them shares."""

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar, Unpack

import datasets
import numpy as np
import pyarrow.compute as pc
from numpy.typing import NDArray

from zoo.data.notes import CHARACTERS, key, majority, uncut
from zoo.data.order import EXAMPLES, Nouns, Order, small_or_few, too_few
from zoo.data.rows import BadRows
from zoo.data.sources import SPLITS, Reading, Source
from zoo.data.stored import StoredSplit, histogram, numbers_of, values_of
from zoo.data.stories.batch import StorySpec
from zoo.data.stories.encoding import StoryEncoder, StoryTextOptions
from zoo.data.stories.stored import SentenceStore, StoredStories
from zoo.data.stories.story import Story, answer_form
from zoo.data.table_data import TableArguments, TableData
from zoo.data.table_encoder import TableEncoder
from zoo.data.text.vocabulary import Vocabulary
from zoo.errors import ConfigError, DataError

MOST_ANSWERS = 20  # The most answers whose shares are described
SHOWN_STATEMENTS = 6  # The most statements of a story that `zoo data` shows


class WithReplacement(Order):
    """Batches that are independent draws from all examples (Sukhbaatar et al. 2015, the authors' code).

    An epoch has as many whole batches as the examples fill: an example may occur twice in it, or not at all. Everything
    follows from (seed, epoch). Each process takes every world_size-th example of a global batch.
    """

    def __init__(
        self,
        size: int,
        *,
        batch_size: int,
        shuffle: bool = True,
        seed: int = 0,
        rank: int = 0,
        world_size: int = 1,
        nouns: Nouns = EXAMPLES,
    ) -> None:
        """Batches of `batch_size` out of `size` examples, over all processes, or of all if they are fewer. Without
        `shuffle` every epoch is the first. Raises ConfigError, with the data's `nouns`, if a process would have no
        example in some step."""
        super().__init__(rank=rank, world_size=world_size)
        self.size, self.seed, self.shuffle, self.nouns = size, seed, shuffle, nouns
        self._batch = min(batch_size, size)
        if self._batch < world_size:
            raise ConfigError(too_few(size, nouns.examples, world_size, small_or_few(batch_size, world_size)))
        self._count = size // self._batch

    def __len__(self) -> int:
        return self._count

    def batches(self) -> Iterator[list[int]]:
        draw = np.random.default_rng((self.seed, self.epoch if self.shuffle else 0))
        drawn = draw.integers(self.size, size=(self._count, self._batch))
        return iter(drawn[:, self.rank :: self.world_size].tolist())

    def state(self) -> dict[str, Any]:
        return {self.nouns.examples: self.size, **super().state(), "drawn": "with replacement", "seed": self.seed}


class StoryArguments(TableArguments, total=False):
    """The arguments of every family of stories."""

    replacement: bool


class StoryData(TableData):
    """Questions about stories, each with one answer.

    A training batch is a draw from all questions, with stories of any length: from the questions that are left in the
    epoch, or, with `replacement`, from all of them again.
    """

    tasks: ClassVar[tuple[str, ...]] = ("answering",)
    nouns: ClassVar[Nouns] = Nouns("questions", "words")
    encoding = StoryEncoder
    every_answer: ClassVar[bool]
    """Whether the vocabulary has the answers of all splits. Otherwise an answer that is not in the training vocabulary
    is an error."""
    task_names: dict[int, str]
    """The names of the tasks, by the numbers that the stories have."""
    text: StoryTextOptions
    spec: StorySpec
    encoder: StoryEncoder

    def __init__(self, *, replacement: bool = False, **rest: Unpack[TableArguments]) -> None:
        """With `replacement` each batch is drawn from all questions; `rest` as in `TableData`."""
        super().__init__(**rest)
        self.replacement = replacement
        if replacement and self.loader.max_tokens is not None:
            raise ConfigError(
                f"data.loader.max_tokens={self.loader.max_tokens}: with data.replacement=true a batch has "
                "data.loader.batch_size questions; remove one of the two"
            )

    # Preparing

    def _facts(self, source: Source) -> dict[str, Any]:
        names = {str(number): name for number, name in self.task_names.items()}
        return super()._facts(source) | {"story_tasks": names}

    @contextmanager
    def storing(self, folder: Path) -> Iterator[None]:
        self._store = SentenceStore(folder, self.text)
        yield

    def examples(self, rows: Iterator[Story], source: Source, reading: Reading) -> Iterator[dict[str, Any]]:
        store, most, self._bad = self._store, self.text.max_sentences, reading.bad
        task_of = {number: place for place, number in enumerate(self.task_names)}
        numbers: dict[int, int] = {}
        for place, story in enumerate(rows):
            number = numbers.setdefault(hash(story.statements) if story.statements else place, len(numbers))
            begin, place_of = len(store.statements), dict[int, int]()
            for line, one in enumerate(story.lines, 1):
                sentence = store.add(one.text)
                if one.answer is None:
                    place_of[line] = len(store.statements)
                    store.statements.append(sentence)
                    continue
                last = len(store.statements)
                first = max(begin, last - most)
                used = [*store.statements[first:last], sentence]
                places = (place_of[at] - first for at in dict.fromkeys(one.supporting))
                yield {
                    "first": first,
                    "last": last,
                    "asked": sentence,
                    "answer": [answer_form(one.answer)],
                    "task": task_of[story.task],
                    "supporting": [place for place in places if place >= 0],
                    "story_number": number,
                    "num_words": sum(len(store.sentences[at].forms) for at in used),
                    "cut": first > begin or any(store.cut[at] for at in used),
                    "key": key([*store.statements[begin:last], sentence]),
                    "place": one.place,
                }
        if reading.training:
            self._end_of_training = len(store.statements)

    def learn(self, encoder: TableEncoder, source: Source, splits: dict[str, datasets.Dataset]) -> None:
        """Words count as often as they occur in the training stories and questions, and answers are always kept."""
        counts, answers = Counter[str](), Counter[str]()
        used = self._used(splits["train"], every_statement=set(SPLITS) <= set(source.splits)).tolist()
        self._longest = max(len(one.forms) for one, times in zip(self._store.sentences, used, strict=True) if times)
        for sentence, times in zip(self._store.sentences, used, strict=True):
            for word in sentence.forms:
                counts[word] += times
        for split in splits.values() if self.every_answer else [splits["train"]]:
            answers.update(answer for (answer,) in values_of(split, "answer"))
        least = self.text.minimum_frequency
        kept = {
            word: counts[word] + answers[word]
            for word in {*counts, *answers}
            if counts[word] >= least or word in answers
        }
        (name,) = encoder.vocabulary_names
        encoder.by_name = {name: encoder.continued(name, Vocabulary.of_counts(kept))}
        if not self.every_answer:
            splits |= {name: _answerable(name, split, encoder.vocabulary, self._bad) for name, split in splits.items()}

    def finish(self, encoder: TableEncoder, source: Source, splits: Mapping[str, datasets.Dataset]) -> None:
        assert isinstance(encoder, StoryEncoder)
        self._sentences = self._store.save(encoder)
        self._words = encoder.vocabulary.words

    def _used(self, split: datasets.Dataset, every_statement: bool = False) -> NDArray[np.int64]:
        """How often each sentence occurs in a split. `every_statement` includes training statements that no question
        can see, because they are too old or come after the last question."""
        first, last, asked = (np.fromiter(values_of(split, name), np.int64) for name in ("first", "last", "asked"))
        if every_statement:
            first, last = np.array([0]), np.array([self._end_of_training])
        return self._store.used(first, last, asked)

    # Describing

    def facts(self, split: datasets.Dataset, encoder: TableEncoder) -> dict[str, Any]:
        answers, used = self._answers(split), self._used(split)
        lengths, unknown = (np.asarray(self._sentences[f"{name}_question"]) for name in ("num", "unknown"))
        tasks = np.bincount(numbers_of(split, "task"), minlength=len(self.task_names)).tolist()
        return {
            "stories": len(np.unique(numbers_of(split, "story_number"))),
            **({"tasks": dict(zip(self.task_names.values(), tasks, strict=True))} if len(tasks) > 1 else {}),
            "different_answers": len(answers),
            **({"answers": answers} if len(answers) <= MOST_ANSWERS else {}),
            "sentences": histogram(numbers_of(split, "last") - numbers_of(split, "first")),
            "words_of_a_sentence": histogram(np.repeat(lengths, used)),
            "unknown_rate": float(unknown @ used) / max(1, int(lengths @ used)),
        }

    def _answers(self, split: datasets.Dataset) -> dict[str, int]:
        """How often each answer is right, the most frequent first."""
        counts = Counter(answer for (answer,) in values_of(split, "answer"))
        return {self._words[answer]: count for answer, count in counts.most_common()}

    def about(self, splits: Mapping[str, datasets.Dataset], facts: Mapping[str, Any]) -> dict[str, Any]:
        train = self._answers(splits["train"])
        words = facts["train"]["words_of_a_sentence"]["mean"]
        notes = [*uncut("a training sentence", words, self.text.tokenizer, CHARACTERS), *majority(train, "questions")]
        for name, split in splits.items():
            if unheard := sum(count for answer, count in self._answers(split).items() if answer not in train):
                asked = f"{unheard:,} questions have answers" if unheard > 1 else "1 question has an answer"
                notes.append(
                    f"{name}: {asked} that no training question has: they count as errors, since no network can learn "
                    "them"
                )
        return {"tasks": list(self.task_names.values()), "longest_sentence": self._longest, "notes": notes}

    def example(self, row: Mapping[str, Any]) -> dict[str, str]:
        statements = self._store.statements[row["first"] : row["last"]]
        story, asked = (
            [" ".join(self._store.sentences[at].shown) for at in part] for part in (statements, [row["asked"]])
        )
        before = "... " * (len(story) > SHOWN_STATEMENTS)
        return {"story": before + " ".join(story[-SHOWN_STATEMENTS:]), "question": asked[0], "answer": row["answer"][0]}

    def contents(self, about: Mapping[str, Any]) -> list[str]:
        longest, tasks = about["longest_sentence"], about["tasks"]
        of_tasks = f", {len(tasks)} tasks" if len(tasks) > 1 else ""
        words = f"vocabulary {about['vocabulary_size']:,} words and answers, sentences of up to {longest} words"
        return [words + of_tasks]

    # Serving

    def set_spec(self, about: Mapping[str, Any]) -> None:
        self.spec = StorySpec(
            vocabulary_size=about["vocabulary_size"],
            longest_sentence=about["longest_sentence"],
            tasks=tuple(about["tasks"]),
        )

    def _read(self, folder: Path, about: Mapping[str, Any]) -> dict[str, StoredSplit]:
        self._prepared_folder = folder
        return super()._read(folder, about)

    def stored_split(self, split: datasets.Dataset, evaluated: bool) -> StoredSplit:
        columns = ["answer", "task"]
        if pc.any(pc.greater(pc.list_value_length(split.data.column("supporting")), 0)).as_py():
            columns.append("supporting")
        return StoredStories(split, columns, self.lengths(split), self._prepared_folder, shown=evaluated)

    def lengths(self, split: datasets.Dataset) -> NDArray[Any]:
        return numbers_of(split, "num_words")

    def training_order(self, part: StoredSplit) -> Order:
        if not self.replacement:
            return self._bucketed(part, 1)
        batches = {"batch_size": self.loader.batch_size, "seed": self.loader.seed}
        return WithReplacement(len(part), **batches, **self.ranks, shuffle=not self.overfitting, nouns=self.nouns)


def _answerable(name: str, split: datasets.Dataset, vocabulary: Vocabulary, bad: BadRows) -> datasets.Dataset:
    """The questions whose answers are in the vocabulary; the others are bad rows."""
    known = np.array([answer in vocabulary for (answer,) in values_of(split, "answer")])
    for row in split.select(np.flatnonzero(~known)).with_format(None):
        bad(
            row["place"],
            "answer that is not in training's vocabulary",
            f"{row['answer'][0]!r} is in no training story and answers no training question, and this one is of {name}",
        )
    if not known.any():
        raise DataError(f"{split[0]['place']}: no answer of the {name} split is in training's vocabulary")
    return split if known.all() else split.select(np.flatnonzero(known))
