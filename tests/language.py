"""The mechanical rules of plain English: `python -m tests.language [PATH ...]` prints the sentences that break them.

Docstrings, comments, messages, Markdown pages and comments of configurations are cut into passages, and each passage
is searched for the patterns of `RULES`.
"""

import ast
import io
import re
import sys
import tokenize
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]

LONGEST_SENTENCE = 35  # Words of two small letters or more, so that symbols and names do not count. The goal is 25.

UNITS = (
    "batch|case|class|command|document|epoch|example|file|folder|head|image|kind|line|model|name|node|page|pair|paper"
    "|process|rank|row|run|seed|sentence|set|side|split|step|story|task|tree|turn|word"
)

VERBS = "(is|was|has|in|on|of|for|to|as|with|by|from|at|per|than|and|begins|gives|takes|needs|share)"
"""Words after a number that do not count anything."""


class Rule(NamedTuple):
    name: str
    pattern: re.Pattern[str]
    advice: str


def rule(name: str, pattern: str, advice: str) -> Rule:
    return Rule(name, re.compile(pattern, re.IGNORECASE), advice)


OPENING = Rule(
    "opening",
    re.compile(r"(Of|What|Whose|Those|The same|Such|Who|Whoever|Behind)\b"),
    "begin a docstring with a verb, or with the noun that it describes",
)

RULES = (
    rule("of which", r"\b(of (which|whom|whose)|(to|by|with|from|for) (whom|whose))\b", "make two sentences of it"),
    rule("one a line", rf"\b(one|two|three|\d+) (?!{VERBS} )(\w+ )?an? ({UNITS})\b(?! (of|for|is|has|that))",
         "write 'one per line'"),
    rule("behind", r"\bbehind\b", "write 'after', or name the position"),
    rule("in a row", r"\bone after the other\b", "write 'in sequence' or 'one by one'"),
    rule("who", r"\b(whoever|who (always|never|asks|does|did|leaves|sees|gives|reads))\b", "'who' is for people"),
    rule("told", r"\b(told|untold)\b", "write 'given', 'stored', 'distinguished' or 'printed'"),
    rule("said", r"\b(said|speaks?|spoken|speaking)\b", "write 'stated', 'printed', 'given' or 'describe'"),
    rule("stands", r"\b(stands?|stood|standing)\b(?![- ](alone|for)\b)", "write 'is', 'lies' or 'is listed'"),
    rule("wants", r"\bwants\b|\bfor want of\b", "write 'requires', 'needs' or 'without'"),
    rule("heeds", r"\bheed(s|ed|ing|less)?\b", "write 'reads', 'follows' or 'ignores'"),
    rule("alike", r"\balike\b", "write 'equal', 'both' or 'in the same way'"),
    rule("by turns", r"\b(by|in) turns\b", "write 'alternately'"),
    rule("goes round", r"\b(go|goes|going|went) round\b", "write 'circulates'"),
    rule("is no", r"(?<!there )\b(is|are|was|were|be) no (?!(longer|more|less|better|worse|doubt)\b)",
         "negate the verb: 'is not a file'"),
    rule("mend", r"\bmend(s|ed|ing)?\b", "write 'fix'"),
)  # fmt: skip

PRODUCED = ("zoo/data/*/samples/*.py", "zoo/data/cloze/lexicon.py", "tests/*.py", "tests/*/*.py", "tests/*/*/*.py")
PRODUCED += ("notebooks/*.py",)
"""Files whose strings a generator produces or a test expects: only their docstrings and comments are read."""

EXCEPTIONS: tuple[tuple[str, str], ...] = (("zoo/visualize/", "behind"),)
"""Words of a rule that are right in some files: the beginning of the path and the words."""


class Passage(NamedTuple):
    """One piece of prose: the line where it begins, its kind, and its text."""

    line: int
    kind: str
    text: str


def prose_files() -> list[Path]:
    """Every file that the rules apply to, in alphabetical order."""
    patterns = ["*.py", "zoo/**/*.py", "tests/**/*.py", "benchmarks/**/*.py", "results/*.py", "notebooks/*.py"]
    patterns += ["README.md", "CONTRIBUTING.md", "results/*.md", "docs/**/*.md", "benchmarks/*.md", "conf/**/*.yaml"]
    found = {path for pattern in patterns for path in ROOT.glob(pattern)}
    return sorted(found - {Path(__file__), ROOT / "tests" / "test_language.py"})


def relative(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def passages(path: Path) -> list[Passage]:
    """The prose of a file."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        return list(python_passages(text, strings=not any(Path(relative(path)).match(name) for name in PRODUCED)))
    return list(markdown_passages(text) if path.suffix == ".md" else yaml_passages(text))


def python_passages(text: str, *, strings: bool = True) -> Iterator[Passage]:
    """Docstrings (also those of attributes), comments and, with `strings`, all other strings of three words or more."""
    seen: set[int] = set()
    for node in ast.walk(ast.parse(text)):  # parents before children
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            seen.add(id(node.value))
            yield Passage(node.lineno, "docstring", node.value.value)
        elif isinstance(node, ast.JoinedStr) and strings:
            seen.update(id(part) for part in node.values)
            parts = [str(part.value) if isinstance(part, ast.Constant) else "X" for part in node.values]
            yield Passage(node.lineno, "message", "".join(parts))
        elif strings and isinstance(node, ast.Constant) and id(node) not in seen and str(node.value).count(" ") > 1:
            yield Passage(node.lineno, "message", str(node.value))
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    found = [token for token in tokens if token.type == tokenize.COMMENT]
    yield from joined((token.start[0], not token.line[: token.start[1]].strip(), token.string) for token in found)


def yaml_passages(text: str) -> Iterator[Passage]:
    """The comments of a configuration, without indented lines, which are commands."""
    lines = enumerate(text.splitlines(), start=1)
    found = ((number, re.search(r"(?:^|\s)(#(?!  ).*)", line)) for number, line in lines)
    yield from joined((number, match.string.lstrip()[0] == "#", match[1]) for number, match in found if match)


def joined(comments: Iterable[tuple[int, bool, str]]) -> Iterator[Passage]:
    """Comments as passages: consecutive lines that hold nothing else are one passage."""
    first, last, text = 0, -1, ""
    for number, alone, comment in comments:
        if alone and number == last + 1:
            last, text = number, f"{text}\n{comment.lstrip('# ')}"
            continue
        if text:
            yield Passage(first, "comment", text)
        first, last, text = number, number if alone else -1, comment.lstrip("# ")
    if text:
        yield Passage(first, "comment", text)


def markdown_passages(text: str) -> Iterator[Passage]:
    """Paragraphs and list items of a page, without blocks of code, tables and comments."""
    number = 0
    inside = False
    passage: list[str] = []
    for number, line in enumerate([*text.splitlines(), ""], start=1):
        inside ^= line.startswith("```")
        ends = inside or not line.strip() or line.startswith(("```", "|", "#", "<!--"))
        if passage and (ends or re.match(r"\s*(-|\*|\d+\.) ", line)):
            yield Passage(number - len(passage), "page", "\n".join(passage))
            passage = []
        if not ends:
            passage.append(line)


def problems(path: Path) -> list[str]:
    """Every sentence of a file that breaks a rule, with its line, the words found and the advice."""
    allowed = [words for start, words in EXCEPTIONS if relative(path).startswith(start)]
    found = []
    for passage in passages(path):
        for name, words, advice in passage_problems(passage):
            if words.lower() not in allowed:
                found.append(f"{relative(path)}:{passage.line}: {passage.kind}, {name}: '{words}': {advice}")
    return found


def passage_problems(passage: Passage) -> Iterator[tuple[str, str, str]]:
    """The rule, the words and the advice of each problem of a passage."""
    paragraphs = [" ".join(re.sub(r"`[^`]*`|https?://\S+", "X", part).split()) for part in passage.text.split("\n\n")]
    if passage.kind == "docstring" and (match := OPENING.pattern.match(paragraphs[0])):
        yield OPENING.name, match[0], OPENING.advice
    for paragraph in paragraphs:
        for one in RULES:
            for match in one.pattern.finditer(paragraph):
                yield one.name, match[0], one.advice
        for sentence in re.split(r"(?<=[.:;!?])\)? |\s[-–|]\s", paragraph):
            count = len(re.findall(r"\b[a-z]{2,}\b", sentence))
            if count > LONGEST_SENTENCE and passage.kind != "message":
                yield "long", " ".join(sentence.split()[:4]) + " ...", f"{count} words: make two sentences of it"


def main(arguments: list[str]) -> int:
    """Print the problems of files and folders (all, if none is given)."""
    chosen = [Path(word).resolve() for word in arguments] or [ROOT]
    found = [
        line for path in prose_files() if any(path.is_relative_to(one) for one in chosen) for line in problems(path)
    ]
    print(*found, sep="\n")
    return int(bool(found))


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
