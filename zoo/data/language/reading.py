"""Texts as files: copied into one file of UTF-8 for each split, and read from there in pieces that fit into memory."""

from __future__ import annotations

import codecs
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from zoo.data.encodings import SAMPLE, UTF8
from zoo.data.rows import advice, open_binary, reading
from zoo.errors import DataError

PIECE = 2**20  # Bytes that are read at once
ANY_BYTE = "surrogateescape"
"""How `decode` and `encode` treat bytes that are not UTF-8: nothing is lost of a text of bytes."""


def decoded(path: Path, encoding: str, *, has_key: bool = True) -> Iterator[str]:
    """The text of a file, also of a .gz, in pieces. Line ends become line feeds. Raises DataError, with the place of
    the first wrong byte, where the file has another encoding. `has_key`: a key can set the encoding."""
    decoder = codecs.getincrementaldecoder("utf-8-sig" if encoding == UTF8 else encoding)()
    done, held = 0, ""
    for piece in chain(raw(path), [b""]):
        begun = len(decoder.getstate()[0])  # bytes of a letter that was cut
        try:
            text = held + decoder.decode(piece, final=not piece)
        except UnicodeDecodeError as error:
            byte = f"byte 0x{error.object[error.start]:02x} at offset {done - begun + error.start:,}"
            with open_binary(path) as file:
                todo = advice(file.read(SAMPLE), has_key)
            raise DataError(f"{path}: not {encoding.upper()}: {byte}; {todo}") from None
        done += len(piece)
        held = "\r" if text.endswith("\r") and piece else ""  # the next piece may begin with its line feed
        yield text.removesuffix(held).replace("\r\n", "\n").replace("\r", "\n")


def raw(path: Path) -> Iterator[bytes]:
    """The bytes of a file, also of a .gz, in pieces. Raises DataError for an empty file and one that is not whole."""
    with open_binary(path) as file, reading(path):
        while piece := file.read(PIECE):
            yield piece


def unzipped(path: Path, member: str) -> Iterator[bytes]:
    """The bytes of a file in a .zip, in pieces. Raises DataError where the archive does not have it."""
    with reading(path), zipfile.ZipFile(path) as archive:
        if member not in archive.namelist():
            raise DataError(f"{path}: holds no {member}; found: {', '.join(archive.namelist()[:8])}")
        with archive.open(member) as file:
            while piece := file.read(PIECE):
                yield piece


class Passage(NamedTuple):
    """Consecutive bytes of a file in UTF-8: the text of a split."""

    file: Path
    begin: int
    end: int

    @property
    def size(self) -> int:
        """The number of bytes."""
        return self.end - self.begin

    @classmethod
    def written(cls, file: Path, text: Iterable[str] | Iterable[bytes]) -> Passage:
        """Write a text, which comes in pieces, into a file."""
        with file.open("wb") as sink:
            size = sum(sink.write(piece.encode() if isinstance(piece, str) else piece) for piece in text)
        return cls(file, 0, size)

    def cut(self, shares: Sequence[float], *, lines: bool) -> list[Passage]:
        """Consecutive parts with these shares of the bytes. With `lines` each begins with a line, or, in a text of one
        line, with a word; otherwise with a letter."""
        places, share = [self.begin], 0.0
        with self.file.open("rb") as file:
            for part in shares[:-1]:
                share += part
                at = self.begin + int(share * self.size)
                file.seek(at := max(self.begin, at - lines))  # a line may begin at this very place
                places.append(at + _first(file.read(min(PIECE, self.end - at)), (b"\n", b" ") if lines else ()))
        return [Passage(self.file, one, other) for one, other in zip(places, [*places[1:], self.end], strict=True)]

    def pieces(self) -> Iterator[str]:
        """The text in pieces that end with a line, or with a blank, or at least with a letter."""
        with self.file.open("rb") as file:
            at = self.begin
            while at < self.end:
                file.seek(at)
                piece = file.read(min(PIECE, self.end - at))
                if at + len(piece) < self.end:
                    piece = piece[: _last(piece)]
                yield piece.decode(errors=ANY_BYTE)
                at += len(piece)


def _first(piece: bytes, marks: Sequence[bytes]) -> int:
    """The place in a piece after the first of the marks that it has, or else where a letter begins."""
    found = (piece.find(mark) + 1 for mark in marks)
    return next(filter(None, found), next((at for at, byte in enumerate(piece) if byte & 0xC0 != 0x80), 0))


def _last(piece: bytes) -> int:
    """The length of a piece without the line that is cut at its end, or else the word, or else the letter."""
    found = (piece.rfind(mark) + 1 for mark in (b"\n", b" "))
    letters = (at for at in range(len(piece) - 1, 0, -1) if piece[at] & 0xC0 != 0x80)
    return next(filter(None, found), next(letters, len(piece)))
