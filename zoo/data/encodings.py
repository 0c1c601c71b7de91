"""The encoding of a text file: whether it is the expected one, and which other one decodes the file."""

import codecs
import unicodedata
from collections.abc import Iterator
from itertools import pairwise

from zoo.errors import ConfigError

UTF8 = "utf-8"
KEY = "data.loader.encoding"
CANDIDATES = ("cp1252", "cp1250", "cp1251", "koi8-r", "cp1253", "shift_jis", "euc_kr", "big5", "gb18030")
"""Encodings that may be proposed. The first of equally plausible ones wins."""
FREQUENT = frozenset("的一是不了在人有我他這这個个們们中大來来の")
"""Frequent characters of Chinese and Japanese, which distinguish the encodings of Chinese."""
SAMPLE = 2**20  # The number of bytes of a file that are examined


def check_encoding(name: str) -> str:
    """The encoding that Python knows by this name. Raises ConfigError for another one."""
    try:
        return codecs.lookup(name).name
    except (LookupError, ValueError, TypeError):
        examples = "expected the name of an encoding, such as utf-8, cp1252, latin-1, utf-16 or gb18030"
        raise ConfigError(f"{KEY}={name}: unknown encoding; {examples}") from None


def keeps_lines(encoding: str) -> bool:
    """Whether a line feed is the byte 0x0a; False for UTF-16 and UTF-32, whose files are decoded as a whole."""
    return "\n".encode(encoding) == b"\n"


def is_wrong(sample: bytes, encoding: str) -> bool:
    """Whether most lines that are not ASCII cannot be decoded. In a damaged file it is only a few."""
    good = broken = 0
    for line in sample.split(b"\n"):
        if not line.isascii():
            try:
                line.decode(encoding)
                good += 1
            except UnicodeDecodeError:
                broken += 1
    return broken >= good


def proposal(sample: bytes) -> str:
    """The most plausible encoding of some bytes that are not UTF-8."""
    if sample.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "utf-16"
    if sample.count(b"\0") > len(sample) // 4:
        return "utf-16-le" if sample[1:2] == b"\0" else "utf-16-be"
    scores = {encoding: score for encoding in CANDIDATES for score in _plausible(sample, encoding)}
    return max(scores, key=scores.__getitem__) if scores else "latin-1"


def _plausible(sample: bytes, encoding: str) -> Iterator[float]:
    """How much some bytes look like text in an encoding, from -1 to 4; nothing if they cannot be decoded.

    In a text, neighbouring letters are of one script, do not change from lower to upper case, and are rarely two
    accented Latin letters.
    """
    try:
        text = codecs.getincrementaldecoder(encoding)().decode(sample)
    except UnicodeDecodeError:
        return
    pairs = [pair for pair in pairwise(text) if not (pair[0].isascii() and pair[1].isascii())][:5000]
    other = [letter for letter in text if not letter.isascii()][:5000]
    if pairs and other:
        fitting = sum(1 if _fits(first, second) else -1 for first, second in pairs) / len(pairs)
        yield fitting + 3 * sum(letter in FREQUENT for letter in other) / len(other)


def _fits(first: str, second: str) -> bool:
    if not (first.isalpha() and second.isalpha()):
        return any(one.isspace() or unicodedata.category(one)[0] == "P" for one in (first, second))
    script = unicodedata.name(first, "NONE").split()[0]
    if script == "HALFWIDTH" or script != unicodedata.name(second, "NONE").split()[0]:
        return {script, unicodedata.name(second, "NONE").split()[0]} <= {"CJK", "HIRAGANA", "KATAKANA"}
    accented = script == "LATIN" and not first.isascii() and not second.isascii()
    return not accented and not (first.islower() and second.isupper())
