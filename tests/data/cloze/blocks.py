"""Small files in the forms of CBT, of CNN and of the Daily Mail."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

NAMES = ("Ann", "Bob", "Cat", "Dan", "Eve", "Fay", "Gil", "Hal", "Ivy", "Jim")


def block(number: int = 0, **changes: Any) -> list[str]:
    """The 21 lines of a question; `changes` are `query`, `answer`, `candidates`, and `lines` by their numbers from
    1."""
    name = NAMES[number % 10]
    lines = [f"{n} {NAMES[n % 10]} met the {number} cats {'.' * (n % 3)}".rstrip() for n in range(1, 21)]
    query, answer = changes.get("query", f"Then XXXXX slept {number} ."), changes.get("answer", name)
    lines.append(f"21 {query}\t{answer}\t\t{'|'.join(changes.get('candidates', NAMES))}")
    for n, line in changes.get("lines", {}).items():
        lines[n - 1] = line
    return lines


def write_blocks(path: Path, blocks: Sequence[Sequence[str]], end: str = "\n") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes("".join(line + end for lines in blocks for line in [*lines, ""]).encode())
    return path


def question_file(path: Path, **changes: str) -> Path:
    """A .question file; `changes` are its `document`, `query` and `answer`, or its whole `text`."""
    parts = {
        "document": '@entity3 ( @entity1 ) saw @entity2 . " why ? " asked @entity1 , who left',
        "query": "@placeholder asked why",
        "answer": "@entity1",
    } | changes
    text = changes.get(
        "text",
        f"http://web.archive.org/1\n\n{parts['document']}\n\n{parts['query']}\n\n{parts['answer']}\n\n"
        "@entity1:Ann\n@entity2:Bob\n@entity3:CNN",
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path
