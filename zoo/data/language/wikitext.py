"""WikiText-2 and WikiText-103: articles of Wikipedia (Merity et al., ICLR 2017, https://arxiv.org/abs/1609.07843).

WikiText-2 has 2,088,628 training, 217,646 validation and 245,569 test tokens with the ends of lines, 33,278 different
ones. WikiText-103 has the same validation and test, 103 million training tokens and 267,735 different ones. A path may
have the files of words (.tokens), where rare words are <unk>, or of raw text (.raw).
"""

from typing import ClassVar

from zoo.data.language.corpus import LanguageCorpus


def _files(folder: str) -> dict[str, tuple[str, ...]]:
    """The names of the official files of each split."""
    names = {"train": "train", "val": "valid", "test": "test"}
    return {
        split: tuple(f"{inside}wiki.{name}.{kind}" for inside in ("", f"{folder}/") for kind in ("tokens", "raw"))
        for split, name in names.items()
    }


class WikiText2(LanguageCorpus):
    """Articles of Wikipedia, two million words."""

    name = "wikitext2"
    hub = "Salesforce/wikitext"
    configuration = "wikitext-2-v1"
    layout = "a folder with wiki.train.tokens, wiki.valid.tokens and wiki.test.tokens, or with .raw instead of .tokens"
    files: ClassVar = _files("wikitext-2")


class WikiText103(LanguageCorpus):
    """Articles of Wikipedia, a hundred million words."""

    name = "wikitext103"
    hub = "Salesforce/wikitext"
    configuration = "wikitext-103-v1"
    layout = WikiText2.layout
    files: ClassVar = _files("wikitext-103")
