"""Dynamic n-grams: each bit is predicted from earlier bits, by a table of n-grams that is new in every sequence (Graves
et al. 2014, 4.4)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from zoo.data.bits.goal import BitSequence, Goal, vectors_of
from zoo.errors import DataError


@dataclass(frozen=True)
class DynamicNgrams(Goal):
    """One channel: the bit before the predicted one, and 0 at the first step. Every step is scored.

    For each sequence, the probability of a 1 after each context of n - 1 bits is drawn from Beta(1/2, 1/2). Bits
    without a complete context are 1 with probability 1/2.
    """

    separator: ClassVar[str] = ""
    form: ClassVar[str] = "bits, with or without blanks between them"
    in_width: ClassVar[int] = 1  # type: ignore[misc]
    out_width: ClassVar[int] = 1  # type: ignore[misc]
    context: int  # n - 1, the number of bits on which the next bit depends

    def steps(self, length: int) -> int:
        return length

    def draw(self, draw: np.random.Generator, length: int) -> BitSequence:
        table = draw.beta(0.5, 0.5, 2**self.context).tolist()
        bits: list[int] = []
        last, mask = 0, 2**self.context - 1
        for number, chance in enumerate(draw.random(length).tolist()):
            bit = int(chance < (table[last] if number >= self.context else 0.5))
            last = (last << 1 | bit) & mask
            bits.append(bit)
        return self.sequence(bits)

    def sequence(self, bits: Sequence[int]) -> BitSequence:
        """The sequence in which each of these bits is a target."""
        targets = np.array(bits, np.float32)[:, None]
        inputs = np.concatenate([np.zeros((1, 1), np.float32), targets[:-1]])
        optimal = float(-np.log2(self.optimal_chances(bits)).sum())
        return BitSequence(inputs, targets, np.ones(len(bits), np.bool_), optimal_bits=optimal)

    def optimal_chances(self, bits: Sequence[int]) -> NDArray[np.float64]:
        """Probability (T,) of each bit under the Bayesian predictor, (N1 + 1/2) / (N1 + N0 + 1) for a 1.

        N1 and N0 count the bits that have followed the same context (Murphy 2012; Graves et al. 2014, equation 10).
        """
        counts = [[0.5, 0.5] for _ in range(2**self.context)]
        chances: list[float] = []
        last, mask = 0, 2**self.context - 1
        for number, bit in enumerate(bits):
            if number < self.context:
                chances.append(0.5)
            else:
                seen = counts[last]
                chances.append(seen[bit] / (seen[0] + seen[1]))
                seen[bit] += 1
            last = (last << 1 | bit) & mask
        return np.array(chances)

    def parse(self, line: str) -> BitSequence:
        word = "".join(line.split())
        try:
            return self.sequence(vectors_of([word], len(word))[0].astype(int).tolist())
        except DataError:
            wrong = next(letter for letter in word if letter not in "01")
            raise DataError(f"expected bits, each 0 or 1, found {wrong!r}") from None

    def typed(self, sequence: BitSequence) -> str:
        """The bits as text; without targets all bits but the last, which is not read."""
        return self.written(sequence.targets if len(sequence.targets) else sequence.inputs[1:])
