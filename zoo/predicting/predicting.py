"""The base of all predictions: a network built from the hyperparameters of its run, and the spec and the encoder of its
data."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, TypeVar

from torch import Tensor, nn

from zoo.data.batch import Spec
from zoo.dotted import built
from zoo.errors import ConfigError
from zoo.models.output import Output


class Prediction:
    """Base of the dataclasses that predictions are."""

    def to_dict(self) -> dict[str, Any]:
        """Plain data, as written by `zoo predict --json`."""
        return asdict(self)  # type: ignore[call-overload]


@dataclass(frozen=True)
class Examined:
    """An example of a split, with its prediction and its true target."""

    index: int
    prediction: Any
    truth: str | None


E = TypeVar("E", bound=Examined)


class Predicting(nn.Module, ABC):
    """The predictions of one task, by any network that serves it.

    A checkpoint names the class, and has its `options`: the hyperparameters of the run, as plain data. A task of
    `zoo.tasks` is a `Predicting` that can also be trained.
    """

    name: str
    view: ClassVar[str]  # The dotted name of the `zoo.visualize.view.View` that shows inputs and predictions
    options: Mapping[str, Any]  # The hyperparameters of the run, `model` among them
    network: Any  # The network; None until the data are known
    spec: Any  # The `Spec` of the data; None until they are known
    encoder: Any  # The `Encoder` of the data; None until they are known

    def __init__(self, **options: Any) -> None:
        super().__init__()
        self.options = options
        self.network = self.spec = self.encoder = None

    def build(self, spec: Spec, encoder: Any) -> None:
        """Build the network from `spec`, and all else that predictions need. `encoder` turns raw inputs into batches,
        and checkpoints store it. Raises ConfigError where the network refuses its hyperparameters."""
        self.spec, self.encoder = spec, encoder
        model = self.options["model"]
        try:
            self.network = built(model, nn.Module, spec)
        except (TypeError, ValueError) as error:
            name = model["_target_"].rpartition(".")[2]
            raise ConfigError(f"{name}: {' '.join(str(error).split())}") from error

    def rule(self) -> dict[str, Any]:
        """Plain data besides the weights and the hyperparameters by which scores become an answer, such as a threshold
        that a validation has chosen. Checkpoints store them; by default there are none."""
        return {}

    def follow(self, rule: Mapping[str, Any]) -> None:
        """Use the `rule` of a checkpoint, which is empty in checkpoints of earlier versions."""

    def keep_to_the_network(self, state: dict[str, Any]) -> None:
        """Adapt a checkpoint's weights: remove entries that are unknown here, and add the own ones for missing ones.
        This concerns only entries outside the network, such as the state of an objective, which starts again under
        another objective."""
        own = self.state_dict()
        for name in own.keys() ^ state.keys():
            if not name.startswith("network."):
                state.pop(name, None)
                if name in own:
                    state[name] = own[name]

    def forward(self, batch: Any) -> Output:
        return self.network(batch)

    def predict_step(self, batch: Any, batch_idx: int = 0) -> Any:
        return self(batch)

    @abstractmethod
    def predictions(self, batch: Any, words: list[Any]) -> list[Any]:
        """One prediction per example of `batch`; `words` are the inputs in the form to be shown."""

    @abstractmethod
    def examine(self, batch: Any) -> list[Any]:
        """Prediction and true target of each example of a batch, as `Examined` or a subclass, for pictures and
        tables."""

    def examined(self, kind: type[E], batch: Any, words: Any, *columns: Sequence[Any] | None) -> list[E]:
        """Predict a batch whose inputs are shown as `words`, beside what is true.

        Args:
            kind: the class of the results.
            columns: its fields from `truth` on, each with an entry for each example, or None where it is not known.
        """
        predictions = self.predictions(batch, words)
        known = ([None] * len(predictions) if column is None else column for column in columns)
        return [kind(*row) for row in zip(batch.index.tolist(), predictions, *known, strict=True)]


def names_at(numbers: Tensor | None, names: Sequence[str]) -> list[str] | None:
    """The name of each number, such as the class of each label; None without numbers."""
    return None if numbers is None else [names[number] for number in numbers.tolist()]


def marked(mask: Sequence[bool], length: int) -> tuple[int, ...]:
    """The positions below `length` at which `mask` is True."""
    return tuple(place for place in range(length) if mask[place])
