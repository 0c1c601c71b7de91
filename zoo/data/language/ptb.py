"""Penn Treebank, prepared for language models (Mikolov et al., Interspeech 2010).

929,589 training, 73,760 validation and 82,430 test tokens with the ends of lines, 10,000 different ones. Words are in
lower case, without punctuation, and numbers are N. The files are in simple-examples.tgz of Mikolov's rnnlm.
"""

from typing import ClassVar

from zoo.data.language.corpus import LanguageCorpus


class PennTreebank(LanguageCorpus):
    """Newspaper text."""

    name = "ptb"
    on_hub = False
    layout = "a folder with ptb.train.txt, ptb.valid.txt and ptb.test.txt, such as simple-examples/data"
    files: ClassVar = {
        split: (f"ptb.{name}.txt", f"data/ptb.{name}.txt", f"simple-examples/data/ptb.{name}.txt")
        for split, name in (("train", "train"), ("val", "valid"), ("test", "test"))
    }
