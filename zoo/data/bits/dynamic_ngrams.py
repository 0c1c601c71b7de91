"""Dynamic n-grams: streams of sequences, each with a table of its own."""

from collections.abc import Sequence
from typing import Unpack

from zoo.arguments import Count
from zoo.data.bits.goals.dynamic_ngrams import DynamicNgrams
from zoo.data.bits.stream import BitArguments, BitStream
from zoo.data.streams import Range
from zoo.errors import ConfigError

LONGEST_CONTEXT = 16


class Ngrams(BitStream):
    """Sequences of bits that are predicted one by one."""

    name = "dynamic_ngrams"

    def __init__(
        self,
        *,
        length: Range = 200,
        context: Count = 5,
        test_lengths: Sequence[Count] = (200,),
        **rest: Unpack[BitArguments],
    ) -> None:
        """`length` is the number of bits, and `test_lengths` those of the test. Each bit depends on the `context` bits
        before it. The rest as in `BitStream`."""
        if context > LONGEST_CONTEXT:
            raise ConfigError(
                f"data.context={context}: expected at most {LONGEST_CONTEXT}, since the table has a row for each "
                f"of the 2^{context} contexts"
            )
        super().__init__(DynamicNgrams(context), {"length": length}, {"length": test_lengths}, **rest)
