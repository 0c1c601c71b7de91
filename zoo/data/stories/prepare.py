"""From a source of stories to ids on the disk, once: stories -> splits -> vocabulary of the training split -> ids."""

from __future__ import annotations

import json
from array import array
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from zoo.data.notes import key, majority, repeated, uncut
from zoo.data.rows import BadRows, counted
from zoo.data.sources import SPLITS
from zoo.data.stored import histogram, offsets
from zoo.data.stories.encoding import StoryEncoder
from zoo.data.stories.options import HoldOutOptions, OwnStorySplitOptions, StoryTextOptions
from zoo.data.stories.readers import Told
from zoo.data.stories.sources import NOUN, StorySource
from zoo.data.stories.stored import Numbers, Questions, Sentences
from zoo.data.stories.words import answer_form, split_words
from zoo.data.text.vocabulary import UNKNOWN, Vocabulary
from zoo.errors import DataError

FORMAT = 2
"""Raise it with every change of what is stored or of how text becomes words: older caches are then left alone."""
ENCODER, SENTENCES = "encoder.json", "sentences"
MOST_ANSWERS = 20
"""Of more the shares are not told."""

CHARACTERS = "text without blanks between words needs data.text.tokenizer=characters"

SplitChoice = HoldOutOptions | OwnStorySplitOptions


class Numbering:
    """Numbers for what is told and asked, in the order in which it first comes."""

    def __init__(self, text: StoryTextOptions) -> None:
        self._text = text
        self._sentences: dict[str, int] = {}
        self._ids: dict[str, int] = {}
        """Of words and answers."""
        self.shown: list[list[str]] = []
        self.words, self.lengths = array("i"), array("i")
        self.cut: list[bool] = []
        """True for a sentence that lost words to a limit."""

    def sentence(self, text: str) -> int:
        """The number of a sentence, which is written down when it first comes."""
        number = self._sentences.setdefault(text, len(self._sentences))
        if number == len(self.shown):
            shown, forms = split_words(text, self._text.tokenizer)
            most = self._text.max_words
            self.shown.append(shown[:most])
            self.words.extend(map(self.word, forms[:most]))
            self.lengths.append(len(forms[:most]))
            self.cut.append(len(forms) > most)
        return number

    def word(self, word: str) -> int:
        """The number of a word or an answer."""
        return self._ids.setdefault(word, len(self._ids))

    @property
    def known(self) -> list[str]:
        """The words and answers, by number."""
        return list(self._ids)


class Split(NamedTuple):
    """The questions of a split; answers by `Numbering`."""

    questions: Questions
    places: list[str]
    """File and line of each question."""
    story: Numbers
    """(Q,) number of the story of each."""
    cut: NDArray[np.bool_]
    """(Q,) True where a limit took something of the story or the question away."""
    keys: NDArray[np.int64]
    """(Q,) equal where story and question are."""

    def chosen(self, which: Numbers) -> Split:
        """The questions at the places `which`."""
        return Split(
            self.questions.chosen(which),
            [self.places[at] for at in which.tolist()],
            self.story[which],
            self.cut[which],
            self.keys[which],
        )


def prepare(
    folder: Path,
    source: StorySource,
    text: StoryTextOptions,
    split: SplitChoice,
    bad: BadRows,
) -> dict[str, Any]:
    """Write the stories of `source` into an empty folder; their description. Raises DataError for what cannot be
    used. Distinct sentences and the numbers of the others are held in memory, a few bytes a statement."""
    numbering = Numbering(text)
    splits = {name: _gathered(read(bad), numbering, source, text) for name, read in source.splits.items()}
    for name, part in splits.items():
        if not len(part.questions):
            skipped = f"; left out: {counted(bad.problems)}" if bad.total else ""
            raise DataError(f"{source.place}: no question in the {name} split{skipped}")
    splits = _drawn(splits, source, split)
    sentences = Sentences(np.array(numbering.words), offsets(numbering.lengths))
    vocabulary = _vocabulary(splits, sentences, numbering, source, text)
    untrained = {name: _untrained(splits[name], splits["train"]) for name in SPLITS[1:]}
    if not source.every_answer:
        splits = {name: _answerable(name, part, numbering, vocabulary, bad) for name, part in splits.items()}
    ids = np.array(vocabulary.encode(numbering.known))
    sentences = Sentences(ids[sentences.words], sentences.first_word)
    sentences.save(folder / SENTENCES, numbering.shown)
    for name, part in splits.items():
        Questions(**{**vars(part.questions), "answer": ids[part.questions.answer]}).save(folder / name)
    state = StoryEncoder(vocabulary, text).state()
    (folder / ENCODER).write_text(json.dumps(state, ensure_ascii=False), "utf-8")
    facts = {
        name: _facts(part, sentences, np.array(numbering.cut), numbering.known, source) for name, part in splits.items()
    }
    return {
        "source": source.description.replace("{count}", f"{sum(len(part.questions) for part in splits.values()):,}"),
        "tasks": list(source.tasks.values()),
        "vocabulary_size": len(vocabulary),
        "longest_sentence": _longest(splits["train"].questions, sentences),
        "skipped": dict(bad.problems),
        "splits": facts,
        "notes": [
            *repeated({name: part.keys for name, part in splits.items()}, f"{NOUN} and their stories"),
            *uncut("a training sentence", facts["train"]["words_of_a_sentence"]["mean"], text, CHARACTERS),
            *majority(_answers(splits["train"], numbering.known), NOUN),
            *(_unheard(name, count) for name, count in untrained.items() if count and source.every_answer),
        ],
        "examples": _examples(splits["train"].questions, numbering),
    }


def _gathered(rows: Iterable[Told], numbering: Numbering, source: StorySource, text: StoryTextOptions) -> Split:
    """The questions of the stories."""
    task_of = {number: place for place, number in enumerate(source.tasks)}
    told, first, last, asked, answer, task, story = (array("q") for _ in range(7))
    supporting, supported = array("q"), array("q")
    places, cut, keys = [], array("b"), array("q")
    for number, (one, where) in enumerate(rows):
        begin, at = len(told), dict[int, int]()
        for line, (said, place) in enumerate(zip(one.lines, where, strict=True), 1):
            sentence = numbering.sentence(said.text)
            if said.answer is None:
                at[line] = len(told)
                told.append(sentence)
                continue
            oldest = max(begin, len(told) - text.max_sentences)
            kept = [at[n] for n in dict.fromkeys(said.supporting) if at[n] >= oldest]
            supporting.extend(kept)
            supported.append(len(kept))
            first.append(oldest)
            last.append(len(told))
            asked.append(sentence)
            answer.append(numbering.word(answer_form(said.answer)))
            task.append(task_of[one.task])
            story.append(number)
            places.append(place)
            cut.append(oldest > begin)
            keys.append(key([*told[begin:], sentence]))
    questions = Questions(
        told=np.array(told),
        first=np.array(first),
        last=np.array(last),
        asked=np.array(asked),
        answer=np.array(answer),
        task=np.array(task),
        supporting=np.array(supporting),
        first_supporting=offsets(supported),
    )
    return Split(questions, places, np.array(story), np.array(cut, np.bool_), np.array(keys, np.int64))


# Splits


def _drawn(splits: Mapping[str, Split], source: StorySource, split: SplitChoice) -> dict[str, Split]:
    """Train, val and test, the ones that are missing taken from train as `source.drawn` says. Raises DataError where
    there are too few questions, or stories, for that."""
    missing, whole = [name for name in SPLITS if name not in splits], splits["train"]
    if not missing:
        return dict(splits)
    units = whole.story if source.drawn == "stories" else np.arange(len(whole.questions))
    count = len(np.unique(units))
    sizes = [max(1, round(float(getattr(split, name)) * count)) for name in missing]
    if sum(sizes) >= count:
        noun = "stories" if source.drawn == "stories" else NOUN
        raise DataError(
            f"{source.place}: too few {noun} ({count}) to draw {' and '.join(missing)} from them; "
            + split.advice(missing, noun)
        )
    names = np.unique(units)
    order = names[::-1] if source.drawn == "last" else np.random.default_rng(split.seed).permutation(names)
    parts = np.split(order, np.cumsum(sizes))
    of_unit = dict(zip(names.tolist(), range(count), strict=True))
    place = np.array([of_unit[unit] for unit in units.tolist()])
    found = dict(splits)
    for name, part in zip([*missing, "train"], parts, strict=True):
        wanted = np.zeros(count, np.bool_)
        wanted[[of_unit[unit] for unit in part.tolist()]] = True
        found[name] = whole.chosen(np.flatnonzero(wanted[place]))
    return {name: found[name] for name in SPLITS}


def _vocabulary(
    splits: Mapping[str, Split], sentences: Sentences, numbering: Numbering, source: StorySource, text: StoryTextOptions
) -> Vocabulary:
    """The words of the training stories and questions and the answers, of all splits where the source says so."""
    questions, known = splits["train"].questions, numbering.known
    used = np.concatenate([questions.told, questions.asked])
    times = np.repeat(np.bincount(used, minlength=len(sentences.lengths)), sentences.lengths)
    counts = np.bincount(sentences.words, times, len(known)).astype(int)
    asked = [part.questions.answer for name, part in splits.items() if name == "train" or source.every_answer]
    answers = np.bincount(np.concatenate(asked), minlength=len(known))
    rare = (counts < text.minimum_frequency) & (answers == 0)
    kept = {word: int(count) for word, count, left in zip(known, counts + answers, rare, strict=True) if not left}
    return Vocabulary.of_counts(kept)


def _untrained(part: Split, train: Split) -> int:
    """Questions with an answer that no training question has."""
    return int((~np.isin(part.questions.answer, train.questions.answer)).sum())


def _answerable(name: str, part: Split, numbering: Numbering, vocabulary: Vocabulary, bad: BadRows) -> Split:
    """The questions whose answers are in the vocabulary; the others are bad rows."""
    known = numbering.known
    inside = np.array([known[answer] in vocabulary for answer in part.questions.answer.tolist()])
    for at in np.flatnonzero(~inside).tolist():
        answer = known[int(part.questions.answer[at])]
        bad(
            part.places[at],
            "answer that is not in training's vocabulary",
            f"{answer!r} stands in no training story and answers no training question, and this one is of {name}",
        )
    if not inside.any():
        raise DataError(f"{part.places[0]}: no answer of the {name} split is in training's vocabulary")
    return part if inside.all() else part.chosen(np.flatnonzero(inside))


# What the data is


def _longest(questions: Questions, sentences: Sentences) -> int:
    """Words of the longest statement or question."""
    lengths = sentences.lengths
    return int(max(lengths[questions.told].max(), lengths[questions.asked].max()))


def _facts(
    part: Split, sentences: Sentences, cut: NDArray[np.bool_], known: Sequence[str], source: StorySource
) -> dict[str, Any]:
    """Counts of one prepared split."""
    questions, lengths = part.questions, sentences.lengths
    used = np.concatenate([questions.told, questions.asked])
    unknown = np.diff(offsets(sentences.words == UNKNOWN)[sentences.first_word])
    until = offsets(cut[questions.told])
    shortened = part.cut | cut[questions.asked] | (until[questions.last] > until[questions.first])
    answers = _answers(part, known)
    tasks = np.bincount(questions.task, minlength=len(source.tasks))
    return {
        "questions": len(questions),
        "stories": len(np.unique(part.story)),
        **({"tasks": _named_counts(source.tasks.values(), tasks)} if len(source.tasks) > 1 else {}),
        "different_answers": len(answers),
        **({"answers": answers} if len(answers) <= MOST_ANSWERS else {}),
        "sentences": histogram(questions.last - questions.first),
        "words_of_a_sentence": histogram(lengths[used]),
        "unknown_rate": float(unknown[used].sum() / max(1, lengths[used].sum())),
        "truncated": int(shortened.sum()),
    }


def _answers(part: Split, known: Sequence[str]) -> dict[str, int]:
    """How often each answer is right, the most frequent first."""
    counts = Counter(part.questions.answer.tolist()).most_common()
    return {known[answer]: count for answer, count in counts}


def _named_counts(names: Iterable[str], counts: Numbers) -> dict[str, int]:
    return {name: int(count) for name, count in zip(names, counts, strict=True)}


def _unheard(name: str, count: int) -> str:
    asked = f"{count:,} questions have answers" if count > 1 else "1 question has an answer"
    return f"{name}: {asked} that no training question has: they count, and no network can know them"


def _examples(questions: Questions, numbering: Numbering) -> list[dict[str, str]]:
    found = []
    for at in range(min(3, len(questions))):
        begin, end = questions.first[at], questions.last[at]
        told = [" ".join(numbering.shown[sentence]) for sentence in questions.told[max(begin, end - 6) : end]]
        found.append(
            {
                "story": ("... " if end - begin > 6 else "") + " ".join(told),
                "question": " ".join(numbering.shown[questions.asked[at]]),
                "answer": numbering.known[questions.answer[at]],
            }
        )
    return found
