"""Methods that add up: `knn_ls+ema` calls the hooks of both in turn."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from unchurn.core.arrays import Float32
from unchurn.core.errors import InputError
from unchurn.methods.base import Batch, Fit, Method, Need, Reference, Rows, overrides
from unchurn.methods.control import Control

if TYPE_CHECKING:
    from torch import Tensor, nn

# Hooks of which a combination can have one alone, and what each decides.
SINGLE = {
    "loss": "the loss",
    "probabilities": "how logits become probabilities",
    "sample": "which examples are seen",
}


def combine(*methods: Method) -> Method:
    """Several methods as one; control adds nothing, and one alone is itself."""
    parts = [part for m in methods for part in (m.parts if isinstance(m, Combination) else (m,))]
    parts = [part for part in parts if type(part) is not Control]
    if len(parts) < 2:
        return parts[0] if parts else Control()
    return Combination(tuple(parts))


@dataclass
class Combination(Method):
    """Several methods at once, in the order of their hooks' calls."""

    parts: tuple[Method, ...]

    def check(self) -> None:
        """Refuse parts that cannot be had together, and say why."""
        for part in self.parts:
            part.check()
        kinds = [type(part) for part in self.parts]
        if twice := next((kind for kind in kinds if kinds.count(kind) > 1), None):
            raise InputError(f"{twice.__name__} is there twice: give one with both effects")
        for hook, decides in SINGLE.items():
            self._check_one(decides, partial(overrides, hook=hook))
        self._check_one("which weights are served", _serves_others)
        self._check_one("how many models are averaged", lambda part: len(part.members()) > 1)
        needs = [need for part in self.parts if (need := part.reference()) is not None]
        if len({need.is_fixed for need in needs}) > 1:
            raise InputError(
                f"{self._names(lambda part: part.reference() is not None)} cannot be combined: one "
                "looks at a reference of each run, one at a single reference for all runs "
                "(fixed_reference)"
            )
        if len({part.n_nets for part in self.parts if part.n_nets > 1}) > 1:
            raise InputError(
                f"{self._names(lambda part: part.n_nets > 1)} cannot be combined: they train "
                "different numbers of networks in tandem"
            )

    def _check_one(self, decides: str, is_one: Callable[[Method], bool]) -> None:
        if sum(map(is_one, self.parts)) > 1:
            raise InputError(f"{self._names(is_one)} cannot be combined: each decides {decides}")

    def _names(self, is_meant: Callable[[Method], bool]) -> str:
        return " and ".join(type(part).__name__ for part in self.parts if is_meant(part))

    @property
    def changes(self) -> str:  # type: ignore[override]
        """Whether any part changes more than the targets."""
        return "targets" if all(p.changes == "targets" for p in self.parts) else "training"

    @property
    def n_nets(self) -> int:  # type: ignore[override]
        """As many as the part that trains several in tandem."""
        return max(part.n_nets for part in self.parts)

    def simplest(self) -> Method:
        return combine(*(part.simplest() for part in self.parts))

    def for_steps(self, n_steps: int) -> Method:
        return combine(*(part.for_steps(n_steps) for part in self.parts))

    def remark(self, n_steps: int) -> str | None:
        return next((said for part in self.parts if (said := part.remark(n_steps))), None)

    def members(self) -> Sequence[Method]:
        several = next((part for part in self.parts if len(part.members()) > 1), None)
        if several is None:
            return (self,)
        rest = [part for part in self.parts if part is not several]
        return tuple(combine(member, *rest) for member in several.members())

    def reference(self) -> Need | None:
        needs = [need for part in self.parts if (need := part.reference()) is not None]
        if not needs:
            return None
        return Need(needs[0].is_fixed, tuple(sorted({k for need in needs for k in need.ks})))

    def targets(self, t: Float32, reference: Reference) -> Float32:
        return reduce(lambda so_far, part: part.targets(so_far, reference), self.parts, t)

    def extras(self, reference: Reference) -> dict[str, Float32]:
        found: dict[str, Float32] = {}
        for part in self.parts:
            mine = part.extras(reference)
            if twice := set(found) & set(mine):
                raise InputError(f"two methods have extras named {sorted(twice)[0]!r}")
            found |= mine
        return found

    def sample(self, rng: np.random.Generator, n: int) -> Rows | None:
        drawn = (part.sample(rng, n) for part in self.parts)
        return next((rows for rows in drawn if rows is not None), None)

    def begin(self, nets: Sequence[nn.Module], n_steps: int) -> Fit:
        return _Fits(self, nets, n_steps)

    def learning_rate(self, progress: float) -> float:
        return float(np.prod([part.learning_rate(progress) for part in self.parts]))

    def batch(self, batch: Batch, rng: np.random.Generator) -> Batch:
        return reduce(lambda so_far, part: part.batch(so_far, rng), self.parts, batch)

    def loss(self, logits: Sequence[Tensor], batch: Batch, step: int) -> Tensor:
        return self._own("loss").loss(logits, batch, step)

    def penalty(self, logits: Sequence[Tensor], batch: Batch, step: int) -> Tensor | None:
        each = [part.penalty(logits, batch, step) for part in self.parts]
        there = [penalty for penalty in each if penalty is not None]
        return reduce(lambda a, b: a + b, there) if there else None

    def probabilities(self, logits: Sequence[Tensor]) -> Tensor:
        return self._own("probabilities").probabilities(logits)

    def _own(self, hook: str) -> Method:
        """The part with a hook of its own, or plain training."""
        return next((part for part in self.parts if overrides(part, hook)), Control())

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parts, and their parameters by method and name: `knn_ls__a`."""
        nested = {
            f"{method}__{name}": value
            for method, part in self._by_name().items()
            for name, value in part.get_params().items()
            if deep
        }
        return {"parts": self.parts, **nested}

    def set_params(self, **params: Any) -> Self:
        """Set parameters, also those of the parts."""
        parts = self._by_name()
        for name, value in params.items():
            method, _, own = name.partition("__")
            if own and method in parts:
                parts[method].set_params(**{own: value})
            elif name == "parts":
                self.parts = value
            else:
                raise ValueError(f"no parameter {name!r}: there are {', '.join(self.get_params())}")
        return self

    def _by_name(self) -> dict[str, Method]:
        from unchurn.methods.registry import name_of

        return {name_of(part): part for part in self.parts}


class _Fits(Fit):
    """The fits of all parts; at most one of them serves other networks."""

    def __init__(self, method: Combination, nets: Sequence[nn.Module], n_steps: int) -> None:
        super().__init__(method, nets, n_steps)
        self.fits = [part.begin(nets, n_steps) for part in method.parts]

    def after_step(self, step: int) -> None:
        for fit in self.fits:
            fit.after_step(step)

    def served(self) -> list[nn.Module]:
        own = next((fit for fit in self.fits if type(fit).served is not Fit.served), self.fits[0])
        return own.served()


def _serves_others(method: Method) -> bool:
    return method.fit_class.served is not Fit.served
