"""Words by the rules of NLTK's Treebank tokenizer and of Moses, many times faster and with the same result.

Both libraries rewrite a whole sentence by a sequence of dozens of substitutions. Nearly all of their rules depend on
one piece between blanks. So a text is split at its blanks, each distinct piece is tokenized once, in a context that
represents its neighbours, and its tokens are cached. The few rules that look further, at the end of a sentence or at
the word after an abbreviation, are part of the cache key. The Treebank's words of plain pieces come from one compiled
pattern; unusual pieces are left to the library.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache, lru_cache, partial
from itertools import chain, pairwise
from typing import Any

from nltk.tokenize import NLTKWordTokenizer

REMEMBERED = 2**17
"""Pieces of text whose tokens are kept, per kind of tokenizer and process."""
LONG = 60
"""Letters; longer pieces are not kept."""


class _Pieces(dict[str, tuple[str, ...]]):
    """The tokens of each piece of text, computed when a piece is first asked for."""

    def __init__(self, tokenize: Callable[[str], tuple[str, ...]]) -> None:
        super().__init__()
        self.tokenize = tokenize

    def __missing__(self, piece: str) -> tuple[str, ...]:
        found = self.tokenize(piece)
        if len(piece) <= LONG:
            if len(self) >= REMEMBERED:
                self.clear()
            self[piece] = found
        return found


# The Penn Treebank

CLOSERS = "])}>\"'»”’`"
"""Marks that may occur between the full stop of a sentence and its end."""
JOINT = re.compile(r"(--|\.{2,}|[‒–—―(){}<>\[\]\"#$@&*%;?!])")
"""Tokens at every position of a piece."""
LETTER = r"[^\s'`\".,:;?!@#$%&*(){}<>\[\]«“‘„»”’-]"
CLITIC = r"n't|N'T|'(?:s|S|m|M|d|D|ll|LL|re|RE|ve|VE)"
CONTRACTED = r"(?i:cannot|gimme|gonna|gotta|lemme|wanna)"
PLAIN_PIECE = re.compile(
    rf"""(?!.*{CONTRACTED})
    (?: (?P<quote> ' (?!(?i:re|ve|ll|m|t|s|d|n)\b)(?=\w) )?
        (?P<word> (?: {LETTER} | - | [,:](?=\d) | \.(?={LETTER}|-) | (?<=\w)'(?!(?i:ye|n|ll|re|ve))(?=\w\w) )+? )
        (?: (?P<clitic> {CLITIC})(?!.*') )?
    )?
    (?P<stop> \.?)
    (?P<closing> (?: [,:](?![,:]) | (?<!')'(?!') )*)""",
    re.VERBOSE,
)
"""A word with the marks around it, if any. Other pieces are left to NLTK."""


def treebank_words(text: str) -> list[str]:
    """The tokens of a sentence by `nltk.tokenize.NLTKWordTokenizer`, with `"` for both quotation marks of the
    Treebank."""
    pieces = text.split()
    if not pieces:
        return []
    *others, last = pieces
    # The full stop that ends a sentence may come before a piece of closing marks, and a blank at the end counts.
    if not last.strip(CLOSERS) or text[-1].isspace():
        return _nltk_words(text)
    return [*chain.from_iterable(map(_inside.__getitem__, others)), *_at_end[last]]


def _treebank_piece(piece: str, last: bool) -> tuple[str, ...]:
    """The tokens of a piece between blanks; `last`: it ends its sentence, so that its full stop is a token."""
    if piece.isalpha() and len(piece) > 6:
        return (piece,)
    words: list[str] = []
    parts = JOINT.split(piece)
    for number, part in enumerate(parts):
        if number % 2 or not part:
            words += filter(None, (part,))
            continue
        found = PLAIN_PIECE.fullmatch(part)
        if found is None:
            return tuple(_nltk_words(f"a {piece}")[1:] if last else _nltk_words(f"a {piece} a")[1:-1])
        quote, word, clitic, stop, closing = found.groups(default="")
        if stop and not (last and not "".join((closing, *parts[number + 1 :])).strip(CLOSERS)):
            word, clitic, stop = word + clitic + stop, "", ""
        words += (*filter(None, (quote, word, clitic, stop)), *closing)
    return tuple(words)


_inside = _Pieces(partial(_treebank_piece, last=False))
_at_end = _Pieces(partial(_treebank_piece, last=True))


@cache
def _nltk() -> NLTKWordTokenizer:
    return NLTKWordTokenizer()


def _nltk_words(text: str) -> list[str]:
    return ['"' if word in ("``", "''") else word for word in _nltk().tokenize(text)]


# Moses


def moses_words(text: str, language: str) -> list[str]:
    """The tokens of a text by `sacremoses.MosesTokenizer`, which has the rules of English for an unknown language."""
    pieces = text.split()
    # Some rules look at a neighbouring piece or need a letter before a mark. Control characters are taken out.
    if len(pieces) < 2 or "' '" in text or pieces[0][0] in "'," or pieces[0] < "!":
        return _moses_words(text, language)
    pieces_of = _moses_pieces(language)
    inside = pieces_of["A"]
    words: list[str] = []
    for piece, after in pairwise(pieces):
        words += (inside if piece[-1] != "." else pieces_of[_kind(after[0], language)])[piece]
    words += pieces_of[""][pieces[-1]]
    return words


@cache
def _moses_pieces(language: str) -> dict[str, _Pieces]:
    """The tokens of pieces by the word that stands for the next one; "" at the end of a text."""
    return {after: _Pieces(partial(_moses_piece, after=after, language=language)) for after in ("a", "A", "1", "")}


def _moses_piece(piece: str, after: str, language: str) -> tuple[str, ...]:
    """The tokens of a piece between blanks, before a word that stands for the next one; before none at the end."""
    if after and piece.isascii() and piece.isalnum():
        return (piece,)
    words = _moses_words(f"a {piece} {after}", language)
    return tuple(words[1:-1] if after else words[1:])


@lru_cache(2**12)
def _kind(letter: str, language: str) -> str:
    """A word that stands for all that begin with this letter: after an abbreviation a lower-case letter and a digit
    count."""
    if letter in "0123456789":
        return "1"
    return "a" if moses(language)[0].islower(letter) else "A"


@cache
def moses(language: str) -> tuple[Any, Any]:
    """Tokenizer and detokenizer; for a language without rules, those of English."""
    import sacremoses

    return sacremoses.MosesTokenizer(language), sacremoses.MosesDetokenizer(language)


def _moses_words(text: str, language: str) -> list[str]:
    return list(moses(language)[0].tokenize(text, escape=False))
