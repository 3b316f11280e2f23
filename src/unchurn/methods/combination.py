"""Combine methods: `knn_ls+ema` calls the hooks of both in turn."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from unchurn.core.arrays import Float32
from unchurn.core.errors import InputError, unknown
from unchurn.methods.base import Batch, Extras, Fit, HeldOut, LossOf, Method, Rows, overrides
from unchurn.methods.control import Control
from unchurn.methods.reference import Need, Reference, Weights

if TYPE_CHECKING:
    from torch import Tensor, nn

# Hooks that only one method of a combination may override, and what each decides.
SINGLE = {
    "loss": "the loss",
    "probabilities": "how logits become probabilities",
    "sample": "which examples are seen",
    "pick": "which of several fits serves",
    "start": "which weights training starts from",
    "settle": "which weights serve in the end",
    "serve": "whose answer is served",
}


def combine(*methods: Method) -> Method:
    """Several methods as one; control is dropped, and a single method is returned as it is."""
    each = [one for method in methods for one in method.combined if type(one) is not Control]
    if len(each) < 2:
        return each[0] if each else Control()
    return Combination(tuple(each))


@dataclass
class Combination(Method):
    """Several methods at once; their hooks are called in the given order."""

    methods: tuple[Method, ...] = ()

    @property
    def combined(self) -> tuple[Method, ...]:
        return self.methods

    def check(self) -> None:
        """Refuse methods that cannot be combined, and say why."""
        for one in self.methods:
            one.check()
        kinds = [type(one) for one in self.methods]
        if twice := next((one for one in self.methods if kinds.count(type(one)) > 1), None):
            from unchurn.methods.registry import name_of  # which imports this module

            raise InputError(f"{name_of(twice)} is there twice: name it once")
        for hook, decides in SINGLE.items():
            self._check_one(decides, partial(overrides, hook=hook))
        self._check_one("which weights are served", _serves_others)
        self._check_one("how many models are averaged", lambda one: len(one.members()) > 1)
        needs = [need for one in self.methods if (need := one.reference()) is not None]
        if len({need.is_fixed for need in needs}) > 1:
            raise InputError(
                f"{self._names(lambda one: one.reference() is not None)} cannot be combined: one "
                "looks at a reference of each run, one at a single reference for all runs "
                "(fixed_reference)"
            )
        if len({one.n_nets for one in self.methods if one.n_nets > 1}) > 1:
            raise InputError(
                f"{self._names(lambda one: one.n_nets > 1)} cannot be combined: they train "
                "different numbers of networks in tandem"
            )

        alike = "networks in tandem would start alike"
        self._check_alone("start", lambda one: one.n_nets > 1, alike)
        each = "each of several models would be served so, not their mean"
        self._check_alone("serve", lambda one: len(one.members()) > 1, each)

    def _check_alone(self, hook: str, is_other: Callable[[Method], bool], reason: str) -> None:
        """Refuse a hook together with a kind of method that makes it meaningless."""
        if any(overrides(one, hook) for one in self.methods) and any(map(is_other, self.methods)):
            names = self._names(lambda one: overrides(one, hook) or is_other(one))
            raise InputError(f"{names} cannot be combined: {reason}")

    def _check_one(self, decides: str, is_one: Callable[[Method], bool]) -> None:
        if sum(map(is_one, self.methods)) > 1:
            raise InputError(f"{self._names(is_one)} cannot be combined: each decides {decides}")

    def _names(self, is_meant: Callable[[Method], bool]) -> str:
        from unchurn.methods.registry import name_of  # which imports this module

        return " and ".join(name_of(one) for one in self.methods if is_meant(one))

    @property
    def changes(self) -> str:  # type: ignore[override]
        """Return "targets" if all methods change only targets, otherwise "training"."""
        return "targets" if all(p.changes == "targets" for p in self.methods) else "training"

    @property
    def n_nets(self) -> int:  # type: ignore[override]
        """The number of networks of the method that trains several in tandem; 1 if none does."""
        return max(one.n_nets for one in self.methods)

    @property
    def n_served(self) -> int:  # type: ignore[override]
        """The number of networks of the method that serves several; 1 if none does."""
        return max(one.n_served for one in self.methods)

    def simplest(self) -> Method:
        each = [one.simplest() for one in self.methods]
        kinds = [type(one) for one in each if type(one) is not Control]
        return combine(*each) if len(set(kinds)) == len(kinds) else self

    def for_steps(self, n_steps: int) -> Method:
        return combine(*(one.for_steps(n_steps) for one in self.methods))

    def note(self) -> str | None:
        return " ".join(said for one in self.methods if (said := one.note())) or None

    def remark(self, n_steps: int) -> str | None:
        return next((said for one in self.methods if (said := one.remark(n_steps))), None)

    def trained(self) -> Method:
        return combine(*(one.trained() for one in self.methods))

    def members(self) -> Sequence[Method]:
        return self._several("members")

    def candidates(self) -> Sequence[Method]:
        return self._several("candidates")

    def _several(self, hook: str) -> Sequence[Method]:
        """Combine each fit of the method that has several with all other methods."""
        each = {one: getattr(method, hook)() for one, method in enumerate(self.methods)}
        several = next((one for one, fits in each.items() if len(fits) > 1), None)
        if several is None:
            return (self,)
        rest = [method for one, method in enumerate(self.methods) if one != several]
        return tuple(combine(fit, *rest) for fit in each[several])

    def pick(self, held: Sequence[Float32]) -> int:
        return self._own("pick").pick(held)

    def reference(self) -> Need | None:
        needs = [need for one in self.methods if (need := one.reference()) is not None]
        if not needs:
            return None
        return Need(
            is_fixed=needs[0].is_fixed,
            ks=tuple(sorted({k for need in needs for k in need.ks})),
            m=max(need.m for need in needs),
            weights=any(need.weights for need in needs),
            serves=any(need.serves for need in needs),
        )

    def targets(self, t: Float32, reference: Reference) -> Float32:
        return reduce(lambda so_far, one: one.targets(so_far, reference), self.methods, t)

    def weights(self, w: Float32, reference: Reference) -> Float32:
        return reduce(lambda so_far, one: one.weights(so_far, reference), self.methods, w)

    def extras(self, n: int, reference: Reference, rng: np.random.Generator) -> Extras:
        found: Extras = {}
        for one in self.methods:
            mine = one.extras(n, reference, rng)
            if twice := set(found) & set(mine):
                raise InputError(f"two methods have extras named {sorted(twice)[0]!r}")
            found |= mine
        return found

    def sample(self, rng: np.random.Generator, n: int) -> Rows | None:
        drawn = (one.sample(rng, n) for one in self.methods)
        return next((rows for rows in drawn if rows is not None), None)

    def holds_out(self) -> float:
        return max(one.holds_out() for one in self.methods)

    def adapt(self, net: nn.Module) -> nn.Module:
        return reduce(lambda so_far, one: one.adapt(so_far), self.methods, net)

    def start(self, net: nn.Module, weights: Weights) -> None:
        self._own("start").start(net, weights)

    def weight_decay(self) -> float:
        return sum(one.weight_decay() for one in self.methods)

    def begin(self, nets: Sequence[nn.Module], n_steps: int) -> Fit:
        return _Fits(self, nets, n_steps)

    def epochs(self, epochs: int) -> int:
        return reduce(lambda so_far, one: one.epochs(so_far), self.methods, epochs)

    def learning_rate(self, progress: float) -> float:
        return float(np.prod([one.learning_rate(progress) for one in self.methods]))

    def batch(self, batch: Batch, rng: np.random.Generator) -> Batch:
        return reduce(lambda so_far, one: one.batch(so_far, rng), self.methods, batch)

    def loss(self, logits: Sequence[Tensor], batch: Batch, step: int) -> Tensor:
        return self._own("loss").loss(logits, batch, step)

    def penalty(self, logits: Sequence[Tensor], batch: Batch, step: int) -> Tensor | None:
        each = [one.penalty(logits, batch, step) for one in self.methods]
        there = [penalty for penalty in each if penalty is not None]
        return reduce(lambda a, b: a + b, there) if there else None

    def settle(self, nets: list[nn.Module], reference: Reference, held: HeldOut) -> list[nn.Module]:
        return self._own("settle").settle(nets, reference, held)

    def probabilities(self, logits: Sequence[Tensor]) -> Tensor:
        return self._own("probabilities").probabilities(logits)

    def serve(self, new: Float32, base: Float32) -> Float32:
        return self._own("serve").serve(new, base)

    def _own(self, hook: str) -> Method:
        """The method that overrides a hook, or plain training."""
        return next((one for one in self.methods if overrides(one, hook)), Control())

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The methods, and their parameters as `knn_ls__a`."""
        nested = {
            f"{method}__{name}": value
            for method, one in self._by_name().items()
            for name, value in one.get_params().items()
            if deep
        }
        return {"methods": self.methods, **nested}

    def set_params(self, **params: Any) -> Self:
        """Set parameters, including those of the methods: `knn_ls__a`."""
        methods = self._by_name()
        for name, value in params.items():
            method, _, own = name.partition("__")
            if own and method in methods:
                methods[method].set_params(**{own: value})
            elif name == "methods":
                self.methods = value
            else:
                raise ValueError(unknown("parameter", name, self.get_params()))
        return self

    def _by_name(self) -> dict[str, Method]:
        from unchurn.methods.registry import name_of

        return {name_of(one): one for one in self.methods}


class _Fits(Fit):
    """The fit states of all methods; at most one of them serves other networks."""

    def __init__(self, method: Combination, nets: Sequence[nn.Module], n_steps: int) -> None:
        super().__init__(method, nets, n_steps)
        self.fits = [one.begin(nets, n_steps) for one in method.methods]

    def after_step(self, step: int) -> None:
        for fit in self.fits:
            fit.after_step(step)

    def after_epoch(self, held_loss: LossOf | None) -> None:
        for fit in self.fits:
            fit.after_epoch(held_loss)

    def finish(self, training_loss: LossOf) -> None:
        for fit in self.fits:
            fit.finish(training_loss)

    def served(self) -> list[nn.Module]:
        own = next((fit for fit in self.fits if type(fit).served is not Fit.served), self.fits[0])
        return own.served()


def _serves_others(method: Method) -> bool:
    """Whether a method serves other networks than the trained ones, judging by its hooks."""
    return overrides(method, "begin") or method.fit_class.served is not Fit.served
