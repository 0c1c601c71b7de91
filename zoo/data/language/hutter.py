"""text8 and enwik8: the first 100 million bytes of the English Wikipedia, http://mattmahoney.net/dc/textdata.

text8 is cleaned to the letters a to z and blanks, 27 characters. enwik8 is the XML as it is, 205 different bytes. Both
are cut into 90, 5 and 5 million, as language models are compared on them.
"""

from typing import ClassVar

from zoo.data.language.corpus import LanguageCorpus


class Text8(LanguageCorpus):
    """Wikipedia in 27 characters."""

    name = "text8"
    on_hub = False
    layout = "the file text8 or text8.zip, or a folder with it"
    member = "text8"
    files: ClassVar = {"train": ("text8", "text8.zip", "text8.gz")}


class Enwik8(LanguageCorpus):
    """Wikipedia in bytes."""

    name = "enwik8"
    on_hub = False
    layout = "the file enwik8 or enwik8.zip, or a folder with it"
    member = "enwik8"
    files: ClassVar = {"train": ("enwik8", "enwik8.zip", "enwik8.gz")}
