"""A trained network of the explorer: its form, its examples, its model card and its answers."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from zoo.errors import DataError
from zoo.run.checkpoint import load, read_checkpoint
from zoo.run.weights import CARD, EXAMPLES, model_card, result_of
from zoo.visualize.blocks import Block
from zoo.visualize.view import AttentionMap, Field, view_of


@dataclass(frozen=True)
class Answer:
    """The answer of a network to one input."""

    network: Network
    prediction: Any
    blocks: list[Block]
    maps: list[AttentionMap]


class Network:
    """A trained network with the view of its task. Raises CheckpointError where it cannot be loaded."""

    def __init__(self, name: str) -> None:
        self.name, self.predictor = name, load(name)
        self.view, self.task = view_of(self.predictor.task), self.predictor.task.name
        options = argparse.ArgumentParser()
        options.add_argument("--attention")
        self.view.options(options.add_argument_group())
        self.view.prepare(self.predictor, options.parse_args([]))
        self._answered = lru_cache(maxsize=8)(self._answer)  # the files of an answer are made after it is shown

    @property
    def form(self) -> tuple[Field, ...]:
        """The fields of one input."""
        return self.view.form()

    @property
    def examples(self) -> list[list[str]]:
        """Inputs as values of the form: those that are stored beside the weights."""
        folder = self.path if self.path.is_dir() else self.path.parent
        if not (folder / EXAMPLES).is_file():
            return []
        rows = json.loads((folder / EXAMPLES).read_text(encoding="utf-8"))
        files = [field.gives_file for field in self.form]
        return [[str(folder / one) if file else one for one, file in zip(row, files, strict=True)] for row in rows]

    @property
    def path(self) -> Path:
        """The file or folder that holds the weights."""
        assert self.predictor.checkpoint is not None, "a predictor that was loaded knows its checkpoint"
        return self.predictor.checkpoint

    @property
    def card(self) -> str:
        """The model card as Markdown, without its metadata."""
        stored = self.path / CARD
        if stored.is_file():
            text = stored.read_text(encoding="utf-8")
        else:
            text = model_card(read_checkpoint(self.path), result_of(self.path), self.name)
        return text.partition("\n---\n")[2]

    def __call__(self, values: Sequence[str | None]) -> Answer:
        """Answer the input that the fields of the form hold. Raises DataError for a blank field, or an input that
        cannot be used."""
        entered = [(value or "").strip() for value in values]
        for field, value in zip(self.form, entered, strict=True):
            if not value:
                raise DataError(f"{field.label}: this field is empty; fill it in, or choose an example")
        return self._answered(tuple(entered))

    def _answer(self, entered: tuple[str, ...]) -> Answer:
        given = self.view.entered(entered)
        prediction = self.predictor([given])[0]
        maps = self.view.maps(self.predictor, given, prediction)
        return Answer(self, prediction, self.view.blocks(prediction), maps)
