"""From a text to its tokens, and from tokens to text.

`words` are those of Moses (Koehn et al. 2007, https://aclanthology.org/P07-2045) by sacremoses, which also joins the
tokens of `words` and `spacy`. English that is only read follows the Penn Treebank rules of NLTK instead, close to the
Stanford CoreNLP that Yang et al. (2016) used: "can't" is "ca n't", and punctuation is separate. Unlike there, quotation
marks stay `"`. `bpe` (Sennrich et al. 2016, https://aclanthology.org/P16-1162) and `unigram` (Kudo 2018,
https://aclanthology.org/P18-1007) are learned by Hugging Face's tokenizers. As in SentencePiece, "▁" replaces the blank
before a word, so that the tokens spell the text letter by letter.
"""

from __future__ import annotations

import json
import os
import re
import unicodedata
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from importlib import import_module
from typing import Any, NamedTuple

import tokenizers
from tokenizers import models, normalizers, pre_tokenizers, trainers

from zoo.data.text.options import TokenOptions, primary
from zoo.data.text.vocabulary import UNKNOWN, UNKNOWN_WORD
from zoo.data.text.word_rules import moses, moses_words, treebank_words
from zoo.errors import ConfigError, DataError

BLANK = "▁"
CUT_BY_SPACY = re.compile(r"(?<=\w) (?:(-) (?=\w)|(?=n['’]t\b))")
"""Blanks that Moses does not remove, as in t - shirt and do n't. A dash between blanks looks like a hyphen."""

# Otherwise each use in a process with workers prints a warning, and the workers continue without threads.
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")


class Tokens(NamedTuple):
    """A text in tokens."""

    shown: list[str]  # As they are written
    forms: list[str]  # As the vocabulary has them


class Tokenizer(ABC):
    """Texts of one language to tokens and back."""

    @abstractmethod
    def split(self, text: str) -> Tokens:
        """The tokens of a text; none for an empty one."""

    @abstractmethod
    def join(self, tokens: Sequence[str]) -> str:
        """The text that tokens spell."""

    @abstractmethod
    def spans(self, text: str) -> list[tuple[int, int]]:
        """Where each token begins and ends in the text."""

    def state(self) -> str | None:
        """The state of a learned tokenizer; None for rules."""
        return None


class RuleTokenizer(Tokenizer):
    """Tokens by rules: `words`, `spacy`, `whitespace` or `characters`."""

    def __init__(self, kind: str, language: str, lower: bool) -> None:
        self.kind, self.language, self.lower = kind, primary(language), lower
        if kind == "spacy":
            _spacy(self.language)  # raises an error for missing rules before anything is read

    def split(self, text: str) -> Tokens:
        shown = self._split(unicodedata.normalize("NFC", text))
        return Tokens(shown, list(map(str.lower, shown)) if self.lower else shown)

    def join(self, tokens: Sequence[str]) -> str:
        if self.kind == "characters":
            return "".join(tokens)
        if self.kind == "whitespace":
            return " ".join(tokens)
        if self.kind == "spacy":
            tokens = CUT_BY_SPACY.sub(r"\1", " ".join(tokens)).split()
        return moses(self.language)[1].detokenize(list(tokens), unescape=False) if tokens else ""

    def spans(self, text: str) -> list[tuple[int, int]]:
        return find(text, self._split(text))

    def _split(self, text: str) -> list[str]:
        if self.kind == "characters":
            return list(" ".join(text.split()))
        if self.kind == "whitespace":
            return text.split()
        if self.kind == "spacy":
            return [token.text for token in _spacy(self.language)(text)]
        return moses_words(text, self.language)


class TreebankTokenizer(RuleTokenizer):
    """English words by the Treebank rules, with `"` for both quotation marks."""

    def __init__(self, lower: bool) -> None:
        super().__init__("words", "en", lower)

    def _split(self, text: str) -> list[str]:
        return treebank_words(text)


class SubwordTokenizer(Tokenizer):
    """Subwords that `learn` has learned."""

    def __init__(self, learned: str) -> None:
        """`learned` is the JSON of Hugging Face's tokenizers."""
        self._learned = learned
        self._tokenizer = tokenizers.Tokenizer.from_str(learned)

    @classmethod
    def learn(
        cls, kind: str, texts: Callable[[], Iterable[str]], *, vocabulary_size: int, lower: bool
    ) -> SubwordTokenizer:
        """Learn `bpe` or `unigram` from the texts: at most `vocabulary_size` pieces, including the unknown one. Raises
        DataError if unigram, which needs all letters, needs more."""
        tokenizer = tokenizers.Tokenizer(models.BPE(unk_token=UNKNOWN_WORD) if kind == "bpe" else models.Unigram())
        steps = [normalizers.NFC(), *([normalizers.Lowercase()] if lower else []), normalizers.Strip()]
        tokenizer.normalizer = normalizers.Sequence([*steps, normalizers.Replace(tokenizers.Regex(r"\s+"), " ")])
        isolated = pre_tokenizers.Punctuation("isolated")
        tokenizer.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Metaspace(BLANK), isolated])
        given: dict[str, Any] = {
            "vocab_size": vocabulary_size,
            "special_tokens": [UNKNOWN_WORD],
            "show_progress": False,
        }
        if kind == "bpe":
            trainer: Any = trainers.BpeTrainer(limit_alphabet=vocabulary_size - 1, **given)
        else:
            trainer = trainers.UnigramTrainer(unk_token=UNKNOWN_WORD, **given)
            letters = {BLANK}.union(*map(tokenizer.normalizer.normalize_str, texts()))
            if len(letters) + 2 > vocabulary_size:  # the library would never return
                raise DataError(
                    f"data.text.vocabulary_size is too small for unigram: the training texts have {len(letters):,} "
                    f"letters; set it to {len(letters) + 100:,} or more"
                )
        tokenizer.train_from_iterator(texts(), trainer)
        return cls(_canonical(tokenizer.to_str()))

    @property
    def pieces(self) -> list[str]:
        """The pieces without the unknown one: merges in their order, or the most probable first."""
        ids = self._tokenizer.get_vocab()
        return [piece for piece in sorted(ids, key=ids.__getitem__) if piece != UNKNOWN_WORD]

    def split(self, text: str) -> Tokens:
        found = self._tokenizer.encode(text)
        unknown = self._tokenizer.token_to_id(UNKNOWN_WORD)
        numbered = zip(found.ids, found.tokens, found.offsets, strict=True)
        forms = [(UNKNOWN_WORD if number == unknown else token, span) for number, token, span in numbered]
        shown = [text[slice(*span)] if form == UNKNOWN_WORD else form for form, span in forms]
        return Tokens(shown, [form for form, _ in forms])

    def join(self, tokens: Sequence[str]) -> str:
        return "".join(tokens).replace(BLANK, " ").strip()

    def spans(self, text: str) -> list[tuple[int, int]]:
        found = self._tokenizer.encode(text)
        # The token of a separate blank has no letter, so the tokenizer's span for it is ignored.
        written = zip(found.tokens, found.offsets, strict=True)
        return [(begin, begin if token == BLANK else end) for token, (begin, end) in written]

    def state(self) -> str:
        return self._learned

    def numbered(self, special: Sequence[str]) -> str:
        """The JSON of Hugging Face's tokenizers whose ids are those of the vocabulary of `pieces` after `special`."""
        learned = json.loads(self._learned)
        if learned["model"]["type"] == "Unigram":
            scores = dict(learned["model"]["vocab"])
            never = min(scores.values()) - 1000
            rows = [[name, never] for name in special] + [[piece, scores[piece]] for piece in self.pieces]
            learned["model"] |= {"vocab": rows, "unk_id": UNKNOWN}
        else:
            learned["model"]["vocab"] = {piece: number for number, piece in enumerate([*special, *self.pieces])}
        for token in learned["added_tokens"]:
            token["id"] = UNKNOWN
        return json.dumps(learned, ensure_ascii=False)


def _canonical(learned: str) -> str:
    """Make equal results equal text: the last digits of the log-probabilities of unigram differ between runs."""
    state = json.loads(learned)
    if state["model"]["type"] == "Unigram":
        unknown = state["model"]["unk_id"]
        pieces = [[piece, round(score, 6)] for piece, score in state["model"]["vocab"]]
        first = pieces.pop(unknown)
        pieces.sort(key=lambda piece: (-piece[1], piece[0]))
        state["model"] |= {"vocab": [first, *pieces], "unk_id": 0}
    return json.dumps(state, ensure_ascii=False)


def tokenizer_of(text: TokenOptions, language: str, learned: str | None = None) -> Tokenizer:
    """The tokenizer of a language; `learned` is the state of one for subwords."""
    if text.subwords:
        assert learned is not None
        return SubwordTokenizer(learned)
    if text.treebank and (text.tokenizer, primary(language)) == ("words", "en"):
        return TreebankTokenizer(text.lower)
    return RuleTokenizer(text.tokenizer, language, text.lower)


def find(text: str, tokens: Iterable[str]) -> list[tuple[int, int]]:
    """Where each token begins and ends in a text that has them in this order. Raises ValueError for another text."""
    spans, at = [], 0
    for token in tokens:
        at = text.index(token, at)
        spans.append((at, at + len(token)))
        at += len(token)
    return spans


@cache
def _spacy(language: str) -> Any:
    try:
        spacy: Any = import_module("spacy")  # optional dependency
    except ImportError as error:
        raise ConfigError(
            "data.text.tokenizer=spacy: spaCy is not installed; pip install -e '.[spacy]', or use words"
        ) from error
    try:
        return spacy.blank(language).tokenizer
    except ImportError as error:
        reason = str(error).split(". ")[0].removesuffix(".")
        raise ConfigError(
            f"data.text.tokenizer=spacy: spaCy has no rules for the language {language!r} here ({reason}); use "
            "characters, unigram, or whitespace for a text that has blanks between words"
        ) from error
