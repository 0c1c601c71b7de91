"""Words by the rules of NLTK's Treebank tokenizer and of Moses, sentences by those of NLTK's Punkt (Kiss and Strunk
2006): many times faster and with the same result.

Both tokenizers rewrite a whole sentence by a sequence of dozens of substitutions. Nearly all of their rules depend on
one piece between blanks. So a text is split at its blanks, each distinct piece is tokenized once, in a context that
represents its neighbours, and its tokens are cached. The few rules that look further, at the end of a sentence or at
the word after an abbreviation, are part of the cache key. The Treebank's words of plain pieces come from one compiled
pattern; unusual pieces are left to the library, which is imported when the first one occurs.
"""

import re
from collections.abc import Callable, Iterator
from functools import cache, cached_property, lru_cache, partial
from itertools import chain, pairwise
from typing import Any

REMEMBERED = 2**17  # Pieces of text whose tokens are kept, per kind of tokenizer and process
LONG = 60  # The most letters of a piece that is kept


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

CLOSERS = "])}>\"'»”’`"  # Marks that may occur between the full stop of a sentence and its end
JOINT = re.compile(r"(--|\.{2,}|[‒–—―(){}<>\[\]\"#$@&*%;?!])")
"""Marks that are tokens of their own at every position of a piece."""
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
def _nltk() -> Any:
    from nltk.tokenize import NLTKWordTokenizer

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
    """The tokens of pieces, by a sample word for the kind of the next piece; "" at the end of a text."""
    return {after: _Pieces(partial(_moses_piece, after=after, language=language)) for after in ("a", "A", "1", "")}


def _moses_piece(piece: str, after: str, language: str) -> tuple[str, ...]:
    """The tokens of a piece between blanks; `after` is a sample word for the next piece, "" at the end of a text."""
    if after and piece.isascii() and piece.isalnum():
        return (piece,)
    words = _moses_words(f"a {piece} {after}", language)
    return tuple(words[1:-1] if after else words[1:])


@lru_cache(2**12)
def _kind(letter: str, language: str) -> str:
    """A sample word for all words that begin with this letter. After an abbreviation, it matters whether the next word
    begins with a small letter or a digit."""
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


# Sentences

MARK = re.compile(r"[.?!](?=(?P<after>[)\";}\]*:@'({\[‘’“”«»?!]|\s+(?P<next>\S+)))")
"""A mark that may end a sentence, and what follows it."""
REALIGNED = re.compile(r"[\"')\]}‘’“”«»]+?(?:\s+|(?=--)|$)", re.MULTILINE)
"""Marks at the beginning of a sentence that close the one before it."""


class Punkt:
    """Punkt with given abbreviations and words that begin a sentence, and without statistics of a corpus.

    NLTK decides on a full stop from the word before and the word after. Here one compiled pattern finds these contexts.
    For plain contexts the word before is enough. NLTK decides every other context, and its decision is cached.
    """

    def __init__(self, abbreviations: set[str], sentence_starters: set[str]) -> None:
        self._abbreviations, self._starters = abbreviations, sentence_starters

    @cached_property
    def _ends(self) -> Callable[[str], bool]:
        """NLTK's decision for a mark with the word before and what follows."""
        from nltk.tokenize.punkt import PunktParameters, PunktSentenceTokenizer

        parameters = PunktParameters()
        parameters.abbrev_types, parameters.sent_starters = self._abbreviations, self._starters
        return lru_cache(2**16)(PunktSentenceTokenizer(parameters).text_contains_sentbreak)

    def split(self, text: str) -> list[str]:
        """The sentences of a text that begins and ends with a letter or a mark, as `PunktSentenceTokenizer.tokenize`
        gives them."""
        found: list[str] = []
        taken = 0
        """Number of letters at the start of the next part that belong to the sentence before."""
        parts = self._parts(text)
        begin, end = next(parts)
        for following, following_end in parts:
            first = begin + taken
            closing = REALIGNED.match(text, following, following_end)
            if closing is not None:
                found.append(text[first : following + len(closing[0].rstrip())])
                taken = closing.end() - following
            else:
                taken = 0
                if text[first:end]:
                    found.append(text[first:end])
            begin, end = following, following_end
        if text[begin + taken : end]:
            found.append(text[begin + taken : end])
        return found

    def _parts(self, text: str) -> Iterator[tuple[int, int]]:
        """The start and the end of each sentence, without the marks that close it."""
        begin = 0
        for word, mark in self._candidates(text):
            if self._is_end(word, mark):
                yield begin, mark.end()
                begin = mark.end() if mark["next"] is None else mark.start("next")
        yield begin, len(text.rstrip())

    def _candidates(self, text: str) -> Iterator[tuple[str, re.Match[str]]]:
        """For each piece between blanks, its last mark that may end a sentence, and the text before this mark. A mark
        at the start of a piece is a candidate of its own."""
        flat = text
        for blank in "\t\n\r\f\v":
            flat = flat.replace(blank, " ")
        before: re.Match[str] | None = None
        piece = 0
        for mark in MARK.finditer(text):
            begin = flat.rfind(" ", 0, mark.start()) + 1
            if before is not None and (begin != piece or before.start() == begin):
                yield text[piece : before.start()], before
            before, piece = mark, begin
        if before is not None:
            yield text[piece : before.start()], before

    def _is_end(self, word: str, mark: re.Match[str]) -> bool:
        if not word and mark["next"]:  # between blanks
            return True
        if word.isalpha():
            if mark[0] != ".":
                return True
            if len(word) > 1 and word.lower() not in self._abbreviations:
                return True
        return self._ends(f"{word}{mark[0]}{mark['after']}")
