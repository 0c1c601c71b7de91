"""The keys of handwriting: how texts become letters, and the lists of a published split."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from zoo.data.options import Options
from zoo.data.text.options import TokenOptions


@dataclass(frozen=True)
class LetterOptions(TokenOptions):
    """How the text of a line becomes letters, and the letters ids."""

    tokenizer: Literal["characters"] = "characters"
    lower: bool = False
    """Whether capitals become small letters."""


@dataclass(frozen=True)
class ListOptions(Options):
    """The lists of forms of each split, as files in the folder of the data. Without any list, all lines are training
    lines, and the other splits are drawn from them."""

    group: ClassVar[str] = "lists"

    train: tuple[str, ...] = ()
    val: tuple[str, ...] = ()
    test: tuple[str, ...] = ()
