"""`Method`: the base class of all methods, with the hooks by which they change plain training.

`training/loop/fit.py` knows no method by name; it calls the hooks below. `Method` itself changes
nothing. To add a method, write a dataclass in a file of its own that overrides the hooks it needs,
and add it to `METHODS`. A combination of methods (`combination.py`) calls the hooks of each in
turn. Torch is imported only where it is used, so methods that only change targets work without it,
for learners of any framework.
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
LossOf = Callable[[Sequence["nn.Module"]], float]  # networks -> loss on examples, above the minimum


@dataclass(frozen=True, kw_only=True)
class HeldOut:
    """Examples that a fit was not trained on, and a function that scores them."""

    rows: Rows  # the examples' numbers in the training data
    weights: Float32  # of the examples
    logits: Callable[[Sequence[nn.Module]], list[Float32]]  # networks -> (n, L) logits of each


@dataclass(kw_only=True)
class Batch:
    """The examples of one step; the loop passes them to the hooks, which may change them."""

    x: Tensor
    targets: Tensor  # (n, L), soft
    weights: Tensor  # of the examples
    rows: Tensor  # the examples' numbers in the training data; for mixed examples, the first's
    extras: dict[str, Tensor]  # values of `Method.extras` for these examples; mixed like inputs


class Fit:
    """The state of a method during ONE fit, such as a running average of the weights."""

    def __init__(self, method: Method, nets: Sequence[nn.Module], n_steps: int) -> None:
        self.method = method
        self.nets = list(nets)
        self.n_steps = n_steps

    def after_step(self, step: int) -> None:
        """Called after each step of the optimiser; the first step is 0."""

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

    Parameters are dataclass fields, each with a default. They must be numbers, text or booleans,
    because they are part of a run's identity. `check` validates them when the method is created,
    and again before training, because `set_params` may have changed them.
    """

    changes: ClassVar[Literal["targets", "training"]] = "training"  # "targets": nothing else
    n_nets: ClassVar[int] = 1  # networks trained in tandem on the same batches
    n_served: ClassVar[int] = 1  # how many of them predict
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

    # scikit-learn needs these two to search or clone; its own base class takes a second to import.

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """All parameters by name."""
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
        """The methods that this one consists of: itself, or the parts of a combination."""
        return (self,)

    def simplest(self) -> Method:
        """The simplest method with the same effect: control, if this setting has none."""
        return self

    def for_steps(self, n_steps: int) -> Method:
        """The same method with parameters suited to a training of `n_steps` steps."""
        return self

    def note(self) -> str | None:
        """A note for readers of its results, such as that its runs are not independent."""
        return None

    def __str__(self) -> str:
        """The method as users write it: `anchor(a=0.8)+safe_ema`."""
        from unchurn.methods.registry import written

        return written(self)

    def remark(self, n_steps: int) -> str | None:
        """A remark for the user before training, such as that a parameter has no effect."""
        return None

    def trained(self) -> Method:
        """The method without the parts that only change which weights serve.

        Methods that return equal ones share a single training in a study.
        """
        return self

    # Before training

    def members(self) -> Sequence[Method]:
        """The independent fits whose probabilities are averaged; several for an ensemble."""
        return (self,)

    def candidates(self) -> Sequence[Method]:
        """The independent fits from which `pick` chooses one to serve."""
        return (self,)

    def pick(self, held: Sequence[Float32]) -> int:
        """The position of the candidate that serves, given each one's held-out probabilities."""
        return 0

    def reference(self) -> Need | None:
        """The reference that this method needs; None if it needs none."""
        return None

    def targets(self, t: Float32, reference: Reference) -> Float32:
        """Targets so far (n, L), one-hot labels at first -> soft targets (n, L)."""
        return t

    def weights(self, w: Float32, reference: Reference) -> Float32:
        """Weights of the examples so far (n,), 1 at first -> their weights."""
        return w

    def extras(self, n: int, reference: Reference, rng: np.random.Generator) -> Extras:
        """Further arrays with a row for each of n examples, by name, such as a teacher's logits."""
        return {}

    def holds_out(self) -> float:
        """The share of the examples that this fit holds out of training, for its hooks to use.

        References are still trained on all examples.
        """
        return 0.0

    def sample(self, rng: np.random.Generator, n: int) -> Rows | None:
        """The rows of n examples that this fit sees, such as a bootstrap; None for all rows."""
        return None

    # In training

    def adapt(self, net: nn.Module) -> nn.Module:
        """A network as it was made -> the one to train; also called when a model is loaded."""
        return net

    def start(self, net: nn.Module, weights: Weights) -> None:
        """Set the weights of a new network from the reference's.

        Called only for methods that ask for these (`Need.weights`).
        """

    def begin(self, nets: Sequence[nn.Module], n_steps: int) -> Fit:
        """A new state for one fit of these networks, which takes `n_steps` steps."""
        return self.fit_class(self, nets, n_steps)

    def epochs(self, epochs: int) -> int:
        """The number of epochs, given plain training's."""
        return epochs

    def learning_rate(self, progress: float) -> float:
        """A factor for the learning rate; progress runs from 0 to just below 1."""
        return 1.0

    def weight_decay(self) -> float:
        """AdamW's weight decay: each step takes away learning rate · this · weights."""
        return 0.0

    def batch(self, batch: Batch, rng: np.random.Generator) -> Batch:
        """A batch as drawn -> the batch to train on."""
        return batch

    def loss(self, logits: Sequence[Tensor], batch: Batch, step: int) -> Tensor:
        """One (n, L) tensor per network -> the loss, one value per example."""
        return reduce(lambda a, b: a + b, [cross_entropy(z, batch.targets) for z in logits])

    def penalty(self, logits: Sequence[Tensor], batch: Batch, step: int) -> Tensor | None:
        """A term to add to the loss, one value per example; None for no term."""
        return None

    # Afterwards

    def settle(self, nets: list[nn.Module], reference: Reference, held: HeldOut) -> list[nn.Module]:
        """The networks that a fit would serve -> the ones to serve."""
        return nets

    def probabilities(self, logits: Sequence[Tensor]) -> Tensor:
        """One (n, L) tensor of logits per network -> (n, L) probabilities."""
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
