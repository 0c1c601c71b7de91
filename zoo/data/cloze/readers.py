"""Formats of cloze questions. Each reader streams `ClozeQuestion`s and reports unusable ones with their file and line.

CBT: the Children's Book Test of Hill, Bordes, Chopra and Weston 2016, https://arxiv.org/abs/1511.02301. CNN and Daily
Mail: Hermann et al. 2015, https://arxiv.org/abs/1506.03340, with one file per question. Both consist of words already.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from zoo.data.cache import write_new
from zoo.data.cloze.batch import BLANK, ClozeQuestion
from zoo.data.rows import BadRows, Lines, decode_file, guarded, line_of, parsed_lines, reading
from zoo.data.sources import Source
from zoo.data.text.sentences import clean, split_sentences
from zoo.data.text.tokenization import TreebankTokenizer
from zoo.errors import DataError

SENTENCES, CANDIDATES = 20, 10  # The numbers of sentences and of candidates of a question of CBT
HUB_COLUMNS = ("sentences", "question", "answer", "options")
NUMBERED = re.compile(r"(\d{1,9})(?:\s(.*))?$", re.DOTALL)
QUESTION_LINE = "a question with XXXXX, a tab, its answer, two tabs and ten candidates with | between are expected"
PLACEHOLDER, ENTITY = "@placeholder", re.compile(r"@entity\d+")
PARTS = ("the address", "", "the document", "", "the query", "", "the answer")
"""The lines of a .question file; an empty name is a blank line."""
NAMES = {"train": "train", "val": "valid", "test": "test"}
"""The names of the splits in the names of CBT's files."""
ENDS, CLOSERS = {".", "!", "?"}, {"''", "'", '"', ")", "]"}


# CBT


@guarded
def read_cbt(path: Path, bad: BadRows) -> Iterator[ClozeQuestion]:
    """A file of CBT: blocks of twenty numbered sentences and a question, with a blank line between."""
    with Lines(path, encoding=bad.encoding) as lines:
        for first, block, broken in _blocks(lines):
            if broken:
                bad(*broken)
            elif len(block) != SENTENCES + 1:
                expected = f"{SENTENCES} sentences and a question, each after its number, and then a blank line"
                bad(line_of(path, first), "not 21 lines", f"this question has {len(block)}; expected {expected}")
            else:
                question = _cbt_question(path, first, block, bad)
                if question is not None and usable(question, line_of(path, first + len(block) - 1), bad):
                    yield question


def _blocks(lines: Lines) -> Iterator[tuple[int, list[str], tuple[str, str, str] | None]]:
    """(number of the first line, lines, problem of its bytes) of each block of lines that are not blank."""
    block: list[str] = []
    first, broken = 1, None
    for line in lines:
        if lines.undecodable:
            broken = broken or (line_of(lines.path, lines.number), lines.problem, lines.undecodable)
        elif "\0" in line:
            broken = broken or (line_of(lines.path, lines.number), "NUL byte", "the file is binary or damaged")
        lines.mark()
        if line.strip():
            first = first if block else lines.number
            block.append(line.rstrip("\r\n"))
        elif block:
            yield first, block, broken
            block, broken = [], None
    if block:
        yield first, block, broken


def _cbt_question(path: Path, first: int, block: Sequence[str], bad: BadRows) -> ClozeQuestion | None:
    """The question of a block that begins at line `first` of `path`. None, after a report, for lines that are not
    numbered from 1 or do not end in a question."""
    texts = []
    for number, line in enumerate(block, 1):
        found = NUMBERED.match(line)
        if found is None or int(found[1]) != number:
            detail = f"expected the number {number}, found {line[:20]!r}"
            bad(line_of(path, first + number - 1), "numbers do not run", detail)
            return None
        texts.append(found[2] or "")
    *sentences, last = texts
    place, fields = line_of(path, first + len(block) - 1), last.split("\t")
    if len(fields) != 4:
        bad(place, "wrong number of fields", f"found {len(fields)}; {QUESTION_LINE}")
        return None
    query, answer, _, candidates = fields
    named = [candidate.strip() for candidate in candidates.split("|")]
    if len(named) != CANDIDATES or not all(named):
        bad(place, "not ten candidates", f"found {len(list(filter(None, named)))} with | between; {QUESTION_LINE}")
        return None
    return ClozeQuestion(_words_of(sentences), query_of(query), named, answer.strip())


def _words_of(sentences: Iterable[str]) -> list[list[str]]:
    return [words for text in sentences if (words := text.split())]


def query_of(text: str) -> list[str]:
    """The words of a query. The blank becomes a word of its own, also in XXXXX's."""
    return text.replace(BLANK, f" {BLANK} ").split()


def usable(question: ClozeQuestion, place: str, bad: BadRows) -> bool:
    """Whether a question can be answered; a problem is reported. An answer that is missing only in the document is not
    a defect of the file: see `ClozeData`."""
    blanks = question.query.count(BLANK)
    if not question.sentences:
        bad(place, "empty document", "there is no word before the question")
    elif blanks != 1:
        problem = "several blanks" if blanks else "no blank"
        bad(place, problem, f"found {blanks} {BLANK} in the question, expected 1")
    elif question.answer not in question.candidates:
        named = ", ".join(map(repr, question.candidates))
        bad(place, "answer not among the candidates", f"{question.answer!r} is none of {named}")
    else:
        return True
    return False


def hub_question(record: Mapping[str, Any], place: str, bad: BadRows) -> Iterator[ClozeQuestion]:
    """A row of CBT on the Hugging Face hub, with HUB_COLUMNS."""
    named = [option.strip() for option in record["options"] or ()]
    query, answer = query_of(record["question"] or ""), (record["answer"] or "").strip()
    question = ClozeQuestion(_words_of(record["sentences"] or ()), query, named, answer)
    if len(list(filter(None, named))) != CANDIDATES:
        bad(place, "not ten candidates", f"found {named}")
    elif usable(question, place, bad):
        yield question


def write_cbt(source: Source, folder: Path, kind: str, bad: BadRows) -> list[Path]:
    """Write the questions of each split into a file that `data=cbt data.source=FOLDER` reads. Returns the files. Raises
    DataError for a split without a question, and if a file exists or cannot be written; no file remains then."""
    names = {split: f"cbtest_{kind}_{NAMES[split]}.txt" for split in source.splits}
    return write_new(folder, {name: _texts(source, split, name, bad) for split, name in names.items()})


def _texts(source: Source, split: str, name: str, bad: BadRows) -> Iterator[str]:
    import datasets

    with datasets.utils.tqdm(source.splits[split](bad), desc=name, unit=" questions", delay=2) as questions:
        written = False
        for question in questions:
            yield cbt_text(question)
            written = True
    if not written:
        raise DataError(f"{source.place}: no question in the {split} split, nothing is written")


def cbt_text(question: ClozeQuestion) -> str:
    """A question in the format of CBT, with the blank line that ends it. `read_cbt` reads it again."""
    # Sentences without a word were left out.
    sentences = [*question.sentences, *[[]] * (SENTENCES - len(question.sentences))]
    lines = [f"{number} {' '.join(words)}" for number, words in enumerate(sentences, 1)]
    last = f"{len(lines) + 1} {' '.join(question.query)}\t{question.answer or ''}\t\t{'|'.join(question.candidates)}"
    return "\n".join([*lines, last, "", ""])


# CNN and Daily Mail


def read_questions(files: Iterable[Path], bad: BadRows) -> Iterator[ClozeQuestion]:
    """The .question files of CNN and Daily Mail. The candidates are the entities of the document, in their order."""
    for path in files:
        question = _question_of(path, bad)
        if question is not None and usable(question, line_of(path, 5), bad):
            yield question


def _question_of(path: Path, bad: BadRows) -> ClozeQuestion | None:
    with reading(path):
        raw = path.read_bytes()
    text = decode_file(path, raw, bad)
    if text is None:
        return None
    lines = text.split("\n")
    for number, part in enumerate(PARTS, 1):
        line = lines[number - 1].strip() if number <= len(lines) else None
        if line is None:
            bad(line_of(path, number), "too few lines", f"the file ends here; expected {part or 'a blank line'}")
            return None
        if not part and line:
            bad(line_of(path, number), "no blank line", f"expected a blank line, found {line[:40]!r}")
            return None
    words, answer = lines[2].split(), lines[6].strip()
    entities = list(dict.fromkeys(word for word in words if ENTITY.fullmatch(word)))
    if words and answer not in entities:
        known = f"entities in the document: {len(entities):,}" + (f", such as {entities[0]}" if entities else "")
        bad(line_of(path, 7), "entity not in the document", f"the answer is {answer!r}; {known}")
        return None
    return ClozeQuestion(cut_sentences(words), query_of(lines[4].replace(PLACEHOLDER, BLANK)), entities, answer)


def cut_sentences(words: Sequence[str]) -> list[list[str]]:
    """Split words after the marks that end a sentence and after closing quotes and brackets. Only pages and pictures
    show these sentences; networks do not read them."""
    sentences: list[list[str]] = [[]]
    for word in words:
        last = sentences[-1]
        closes = word in CLOSERS and (word != '"' or last.count('"') % 2 == 1)
        closed = next((before for before in reversed(last) if before not in CLOSERS), None) in ENDS
        if closed and not closes and word not in ENDS:
            sentences.append([])
        sentences[-1].append(word)
    return [sentence for sentence in sentences if sentence]


# Questions of users


def parse_line(line: str) -> ClozeQuestion:
    """A line with a document, a sentence with XXXXX, and optionally candidates, as in ` | one|two|three`.

    The sentence with the blank is the query, and all others are the document. Without candidates every word of the
    document is one. Raises DataError for a line without a blank, with several, or without a document.
    """
    text, bar, listed = line.partition(" | ") if " | " in line else line.partition("|")
    sentences = [tokenize(sentence) for sentence in split_sentences(clean(text).replace("\n", " "))]
    blanks = sum(sentence.count(BLANK) for sentence in sentences)
    if blanks != 1:
        raise DataError(f"{line.strip()[:60]!r}: {blanks or 'no'} {BLANK} in it; {TYPED}")
    query = next(sentence for sentence in sentences if BLANK in sentence)
    document = [sentence for sentence in sentences if sentence is not query]
    if not document:
        raise DataError(f"{line.strip()[:60]!r}: one sentence, and no document before it; {TYPED}")
    named = _candidates(listed)
    if bar and not named:
        raise DataError(f"{line.strip()[:60]!r}: no candidate after |; {TYPED}")
    return ClozeQuestion(document, query, named or every_word(document), None)


TYPED = (
    f"expected a few sentences and one with {BLANK} in the place of the missing word, and perhaps candidates: "
    f"Ann is in the garden . Bob sleeps . The one outside is {BLANK} . | Ann|Bob"
)


def tokenize(text: str) -> list[str]:
    """The words of an English sentence by the rules of the Treebank; @entity5 is one word."""
    words: list[str] = []
    for word in TreebankTokenizer(lower=False).split(text).shown:
        if words and words[-1] == "@" and (f"@{word}" == PLACEHOLDER or ENTITY.fullmatch(f"@{word}")):
            words[-1] = f"@{word}"
        else:
            words.append(word)
    return [BLANK if word == PLACEHOLDER else word for word in words]


def _candidates(listed: str) -> list[str]:
    """The distinct candidates in `Ann|Bob`."""
    return list(dict.fromkeys(candidate.strip() for candidate in listed.split("|") if candidate.strip()))


def every_word(sentences: Iterable[Iterable[str]]) -> list[str]:
    """The distinct words of a document that have a letter or a digit, in their order."""
    words = (word for sentence in sentences for word in sentence)
    return list(dict.fromkeys(word for word in words if any(map(str.isalnum, word))))


def read_file(path: Path) -> list[ClozeQuestion | None]:
    """Questions to answer: a file in the format of CBT, with any number of sentences, where answer and candidates may
    be missing; or one question per line as `parse_line` reads it, with None for a blank line. Raises DataError with the
    line."""
    with Lines(path) as lines:
        numbered = NUMBERED.match(lines.peek().rstrip("\r\n"))
        if numbered is None or int(numbered[1]) != 1:
            return parsed_lines(path, parse_line)
        return [_loose_question(path, *found) for found in _blocks(lines)]


def _loose_question(path: Path, first: int, block: list[str], broken: tuple[str, str, str] | None) -> ClozeQuestion:
    place = line_of(path, first + len(block) - 1)
    if broken:
        raise DataError(": ".join(broken))
    texts = [(NUMBERED.match(line) or ["", "", line])[2] or "" for line in block]
    query, *rest = texts[-1].split("\t")
    sentences = _words_of(texts[:-1])
    answer = rest[0].strip() if rest else ""
    named = _candidates(rest[-1]) if len(rest) > 1 else []
    question = ClozeQuestion(sentences, query_of(query), named or every_word(sentences), answer or None)
    if not sentences or question.query.count(BLANK) != 1:
        raise DataError(f"{place}: {'no document' if not sentences else f'not one {BLANK} in the question'}; {TYPED}")
    return question
