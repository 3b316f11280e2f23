"""`Method`: base class of all methods; its hooks change plain training. It changes nothing itself.

`training/loop/fit.py` knows no method by name; it calls the hooks below. A new method is a
dataclass in a file of its own that overrides the few it needs, plus one line in `METHODS`. Methods
add up: of a combination (`combination.py`) the hooks are called in turn. Torch is imported where it
is used, so that methods which only change targets serve learners of any framework without it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from functools import reduce
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np
import numpy.typing as npt

from unchurn.core.arrays import Float32
from unchurn.core.errors import InputError, unknown
from unchurn.methods.reference import Need, Reference, Weights

if TYPE_CHECKING:
    from torch import Tensor, nn

Rows = npt.NDArray[np.integer]
Extras = dict[str, Float32]
LossOf = Callable[[Sequence["nn.Module"]], float]  # of networks on examples, above the least


@dataclass(frozen=True, kw_only=True)
class HeldOut:
    """Examples that a fit was not trained on, and networks' logits of them."""

    rows: Rows  # the examples' numbers in the training data
    logits: Callable[[Sequence[nn.Module]], list[Float32]]  # (n, L) of each network


@dataclass(kw_only=True)
class Batch:
    """The examples of one step, as the loop hands them to the hooks, which may change them."""

    x: Tensor
    targets: Tensor  # (n, L), soft
    weights: Tensor  # of the examples
    rows: Tensor  # the examples' numbers in the training data; for mixed ones, the first's
    extras: dict[str, Tensor]  # values of `Method.extras` for these examples; mixed like inputs


class Fit:
    """The state that a method keeps during ONE fit, such as a running average of the weights."""

    def __init__(self, method: Method, nets: Sequence[nn.Module], n_steps: int) -> None:
        self.method = method
        self.nets = list(nets)
        self.n_steps = n_steps

    def after_step(self, step: int) -> None:
        """Called after each step of the optimiser, the first being 0."""

    def after_epoch(self, held_loss: LossOf | None) -> None:
        """Called after each epoch, with the loss on held-out examples, if there are any."""

    def finish(self, training_loss: LossOf) -> None:
        """Called after the last step, with the loss on the training examples."""

    def served(self) -> list[nn.Module]:
        """The networks that predict in the end."""
        return self.nets


@dataclass
class Method:
    """Plain training by cross-entropy; subclasses override what they change.

    Parameters are dataclass fields, each with a default: numbers, text or booleans, as they decide
    a run's identity. `check` says what is wrong with them, on creation and again before training,
    since `set_params` may have changed them.
    """

    changes: ClassVar[Literal["targets", "training"]] = "training"  # "targets": and nothing else
    n_nets: ClassVar[int] = 1  # networks trained in tandem on the same batches
    n_served: ClassVar[int] = 1  # of them, those that predict
    grid: ClassVar[dict[str, tuple[float, ...]]] = {}  # the values worth trying
    fit_class: ClassVar[type[Fit]] = Fit  # the state of one fit

    def __post_init__(self) -> None:
        for field in fields(self):
            given = getattr(self, field.name)
            if isinstance(field.default, bool) and not isinstance(given, bool):
                raise InputError(f"{field.name} must be true or false, not {given!r}")
        self.check()

    def check(self) -> None:
        """Raise InputError if a parameter is out of range."""

    # scikit-learn needs these to search or clone; its own base class takes a second to import.

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters by name."""
        return {name: getattr(self, name) for name in sorted(field.name for field in fields(self))}

    def set_params(self, **params: Any) -> Self:
        """Set parameters by name; they are checked when they are used."""
        known = self.get_params()
        for name, value in params.items():
            if name not in known:
                raise ValueError(f"{type(self).__name__}: {unknown('parameter', name, known)}")
            setattr(self, name, value)
        return self

    def __add__(self, other: Method) -> Method:
        """Combine two methods: `KnnLS() + Ema()`."""
        from unchurn.methods.combination import combine

        return combine(self, other)

    @property
    def combined(self) -> tuple[Method, ...]:
        """The methods that it consists of: itself, or the parts of a combination."""
        return (self,)

    def simplest(self) -> Method:
        """The simplest equivalent method at this setting: control, if it has no effect."""
        return self

    def for_steps(self, n_steps: int) -> Method:
        """The method with parameters suited to a training of `n_steps` steps."""
        return self

    def note(self) -> str | None:
        """A note for readers of its results, such as that runs are not quite independent."""
        return None

    def __str__(self) -> str:
        """As one writes it: `anchor(a=0.8)+safe_ema`."""
        from unchurn.methods.registry import written

        return written(self)

    def remark(self, n_steps: int) -> str | None:
        """A remark for the user before `n_steps` steps, such as on a useless parameter."""
        return None

    def trained(self) -> Method:
        """The method with the same training, without parts that only change which weights serve.

        Methods that return the same are trained together in a study, for the price of one.
        """
        return self

    # Before training

    def members(self) -> Sequence[Method]:
        """Independent fits whose probabilities are averaged; several for an ensemble."""
        return (self,)

    def candidates(self) -> Sequence[Method]:
        """Independent fits of which `pick` chooses one to serve."""
        return (self,)

    def pick(self, held: Sequence[Float32]) -> int:
        """Position of the candidate that serves, by each one's held-out probabilities, (n, L)."""
        return 0

    def reference(self) -> Need | None:
        """The reference that `targets` and `extras` need; None if they need none."""
        return None

    def targets(self, t: Float32, reference: Reference) -> Float32:
        """Targets so far (n, L), one-hot labels at first -> soft targets (n, L)."""
        return t

    def weights(self, w: Float32, reference: Reference) -> Float32:
        """Weights of the examples so far (n,), 1 at first -> their weights."""
        return w

    def extras(self, n: int, reference: Reference, rng: np.random.Generator) -> Extras:
        """Further arrays for each of n examples, by name, such as a teacher's logits."""
        return {}

    def holds_out(self) -> float:
        """The share of the examples held out of this fit's training, for its hooks to use.

        Its references are trained on all examples.
        """
        return 0.0

    def sample(self, rng: np.random.Generator, n: int) -> Rows | None:
        """The rows, of n examples, that this fit sees, such as a bootstrap; None if all."""
        return None

    # In training

    def adapt(self, net: nn.Module) -> nn.Module:
        """A network as it was made -> the one to train; also called when a model is loaded."""
        return net

    def start(self, net: nn.Module, weights: Weights) -> None:
        """Set the weights of a new network from those of its reference.

        Called only for methods that need them (`Need.weights`).
        """

    def begin(self, nets: Sequence[nn.Module], n_steps: int) -> Fit:
        """The state of one fit of these networks, which takes `n_steps` steps."""
        return self.fit_class(self, nets, n_steps)

    def epochs(self, epochs: int) -> int:
        """Number of epochs of a training, given plain training's."""
        return epochs

    def learning_rate(self, progress: float) -> float:
        """A factor of the learning rate; progress goes from 0 up to, not including, 1."""
        return 1.0

    def weight_decay(self) -> float:
        """The weight decay of AdamW: the share of the weights lost by a step, per learning rate."""
        return 0.0

    def batch(self, batch: Batch, rng: np.random.Generator) -> Batch:
        """A batch as drawn -> the batch to train on."""
        return batch

    def loss(self, logits: Sequence[Tensor], batch: Batch, step: int) -> Tensor:
        """One (n, L) tensor per network -> one value per example, instead of cross-entropy."""
        return reduce(lambda a, b: a + b, [cross_entropy(z, batch.targets) for z in logits])

    def penalty(self, logits: Sequence[Tensor], batch: Batch, step: int) -> Tensor | None:
        """A term to add to the loss, one value per example; None if there is none."""
        return None

    # Afterwards

    def settle(self, nets: list[nn.Module], reference: Reference, held: HeldOut) -> list[nn.Module]:
        """The networks that a fit would serve -> those that will serve."""
        return nets

    def probabilities(self, logits: Sequence[Tensor]) -> Tensor:
        """One (n, L) tensor per network -> (n, L), rows that sum to 1."""
        return logits[0].softmax(dim=1)

    def serve(self, new: Float32, base: Float32) -> Float32:
        """Probabilities, (n, L), of the new model and its reference -> the served ones."""
        return new


def cross_entropy(logits: Tensor, targets: Tensor) -> Tensor:
    """−Σ t·log softmax(z), one value per example."""
    return -(targets * logits.log_softmax(dim=1)).sum(dim=1)


def overrides(method: Method, hook: str) -> bool:
    """Whether a method, or a part of a combination, overrides a hook."""
    return any(getattr(type(one), hook) is not getattr(Method, hook) for one in method.combined)
