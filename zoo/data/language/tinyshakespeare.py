"""Tiny Shakespeare: 40,000 lines of plays, 1,115,394 characters (Karpathy 2015, https://github.com/karpathy/char-rnn).

The first 90 % are for training, as in nanoGPT. What that program calls validation is cut here into halves, for
validation and test.
"""

from typing import ClassVar

from zoo.data.language.corpus import LanguageCorpus


class TinyShakespeare(LanguageCorpus):
    """Plays, read by characters."""

    name = "tinyshakespeare"
    on_hub = False
    layout = "the file input.txt (data/tinyshakespeare of char-rnn), or a folder with it"
    files: ClassVar = {"train": ("input.txt", "tinyshakespeare.txt")}
