"""`TorchLearner`: train torch networks with the training loop."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from unchurn.core.arrays import Float32, IntArray
from unchurn.core.errors import InputError
from unchurn.methods import Method, Reference
from unchurn.methods.base import overrides
from unchurn.training.learners.base import DivergedError, Predictor, Probe
from unchurn.training.learners.own_code import code_identity
from unchurn.training.loop.config import Training

if TYPE_CHECKING:
    from unchurn.training.networks.factories import Factory

# The built-in networks, named here so that a wrong name is found before torch is imported.
NETWORKS = ("mlp", "mlp_three_hidden", "lenet5", "lenet5_relu_average", "lenet5_tanh_max",
            "lenet5_tanh_average")  # fmt: skip
PROBE_BATCHES = 10


@dataclass(frozen=True, eq=False)
class TorchLearner:
    """Trains a built-in network, given by name, or the user's own, given by a factory."""

    model: Any = "mlp"  # a name, or (shape of an input, number of classes) -> torch.nn.Module
    training: Training = field(default_factory=Training)
    arguments: dict[str, Any] = field(default_factory=dict)  # more arguments of the factory

    @property
    def label(self) -> str:
        """The network's name."""
        return self._written if isinstance(self.model, str) else "your network"

    @property
    def _written(self) -> str:
        """The name of a built-in network with its arguments."""
        given = ", ".join(f"{name}={value!r}" for name, value in sorted(self.arguments.items()))
        return f"{self.model}({given})" if given else str(self.model)

    @cached_property
    def identity(self) -> dict[str, Any]:
        """The network (the user's own by its code) and its training."""
        own = self._written if isinstance(self.model, str) else code_identity(self._own)
        return {"model": own, "training": asdict(self.training)}

    @property
    def _own(self) -> Any:
        return partial(self.model, **self.arguments) if self.arguments else self.model

    @property
    def _factory(self) -> Factory:
        """The function that makes a network."""
        from unchurn.training.networks.factories import make_factory

        factory = make_factory(self.model)
        return partial(factory, **self.arguments) if self.arguments else factory

    @property
    def length(self) -> str:
        """The number of epochs in words."""
        return self.training.length

    @property
    def versions(self) -> dict[str, str]:
        """The version of torch."""
        import torch

        return {"torch": torch.__version__}

    @property
    def facts(self) -> dict[str, str]:
        """The network and its training in words."""
        t = self.training
        return {
            "network": self._written if isinstance(self.model, str) else "own",
            "training": f"{t.length} of batches of {t.batch_size}, Adam, "
            f"learning rate {t.learning_rate:g}",
        }

    @property
    def n_gpus(self) -> int:
        """One if it trains on a GPU, otherwise none."""
        return int(self.training.device.startswith("cuda"))

    @property
    def imports(self) -> tuple[str, ...]:
        """The training loop, which imports torch."""
        return ("unchurn.training.loop.fit",)

    @property
    def remark(self) -> str | None:
        """None: `check` finds what is wrong with a network."""
        return None

    def why_not(self, method: Method, shape: tuple[int, ...], n_classes: int) -> str | None:
        """Why not: a method that changes the network must find what to change in the user's own."""
        if isinstance(self.model, str) or not overrides(method, "adapt"):
            return None
        from unchurn.training.loop.determinism import own_randomness

        try:
            with own_randomness("cpu"):
                method.adapt(self._factory(shape, n_classes))
        except InputError as error:
            return f"changes the network: {error}"
        return None

    def n_steps(self, n: int) -> int | None:
        """Number of steps of Adam."""
        return self.training.n_steps(n)

    def check(self, x: Float32, n_classes: int) -> None:
        """Make the network and call it once, so that its errors show before any training."""
        if self.model == "mlp" and not self.arguments:  # it takes any inputs
            return  # without importing torch, which a study of finished runs does not need
        import torch

        from unchurn.training.loop.determinism import own_randomness

        factory = self._factory
        shape = x.shape[1:]
        try:
            with own_randomness("cpu"), torch.no_grad():
                net = factory(shape, n_classes)
                if not isinstance(net, torch.nn.Module):
                    raise InputError(f"it gives {type(net).__name__}, not a torch.nn.Module")
                given = tuple(net.eval()(torch.tensor(x[:2])).shape)
                if given != (wanted := (len(x[:2]), n_classes)):
                    raise InputError(f"it gives logits of shape {given}, not {wanted}")
        except Exception as error:  # whatever the user's own code raises
            if isinstance(error, InputError) and isinstance(self.model, str):
                raise
            own = self.model
            name = self._written if isinstance(own, str) else f"{own.__module__}:{_name(own)}"
            raise InputError(f"model {name!r} fails on {shape}, {n_classes}: {error}") from error

    def weight_shapes(self, shape: tuple[int, ...], n_classes: int) -> dict[str, tuple[int, ...]]:
        """The shapes of its network's weights, by name; a warm start needs equal shapes."""
        from unchurn.training.loop.determinism import own_randomness

        with own_randomness("cpu"):
            state = self._factory(shape, n_classes).state_dict()
        return {name: tuple(value.shape) for name, value in state.items()}

    def fit_together(
        self,
        methods: Sequence[Method],
        x: Float32,
        y: IntArray,
        n_classes: int,
        *,
        seed: int,
        run: int,
        fit: int = 0,
        reference: Reference | None = None,
    ) -> Sequence[Predictor]:
        """Train one run with the training loop."""
        from unchurn.training.loop.fit import fit_together

        return fit_together(
            methods,
            self._factory,
            x,
            y,
            n_classes,
            training=self.training,
            seed=seed,
            run=run,
            fit=fit,
            reference=reference,
        )

    def probe(self, x: Float32, y: IntArray, n_classes: int) -> Probe | None:
        """Estimate the time from a few steps; None if they diverge.

        On a CPU, this thread does all the work. Its own CPU time is measured, which does not depend
        on how busy the cores are.
        """
        clock = time.thread_time if self.training.device == "cpu" else time.perf_counter
        n = min(len(x), PROBE_BATCHES * self.training.batch_size)
        probe = replace(self, training=replace(self.training, epochs=1))
        for _ in range(2):  # the first warms torch up
            start = clock()
            try:
                (fitted,) = probe.fit_together([Method()], x[:n], y[:n], n_classes, seed=0, run=0)
            except DivergedError:
                return None
            taken = clock() - start
        return Probe(taken * self.training.n_steps(len(x)) / probe.training.n_steps(n), fitted)


def _name(own: Any) -> str:
    """The name of the user's own code."""
    return str(getattr(own, "__qualname__", type(own).__name__))
