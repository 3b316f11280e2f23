"""`TorchLearner`: train torch networks by the training loop."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from unchurn.core.arrays import Float32, IntArray
from unchurn.core.errors import InputError
from unchurn.methods import Method, Reference
from unchurn.training.learners.base import DivergedError, Predictor, Probe
from unchurn.training.learners.own_code import code_identity
from unchurn.training.loop.config import Training

if TYPE_CHECKING:
    from unchurn.training.networks.factories import Factory

# The built-in networks, named here so that a wrong name is told before torch is imported.
NETWORKS = ("mlp", "mlp_three_hidden", "lenet5", "lenet5_relu_average", "lenet5_tanh_max",
            "lenet5_tanh_average")  # fmt: skip
PROBE_BATCHES = 10


@dataclass(frozen=True, eq=False)
class TorchLearner:
    """A network by name, or a factory of the user's, and how it is trained."""

    model: Any = "mlp"  # a name, or (shape of an input, number of classes) -> torch.nn.Module
    training: Training = field(default_factory=Training)
    arguments: dict[str, Any] = field(default_factory=dict)  # more that makes the network

    @property
    def label(self) -> str:
        """The network's name."""
        return self._written if isinstance(self.model, str) else "your network"

    @property
    def _written(self) -> str:
        """A built-in network with its arguments."""
        given = ", ".join(f"{name}={value!r}" for name, value in sorted(self.arguments.items()))
        return f"{self.model}({given})" if given else str(self.model)

    @cached_property
    def identity(self) -> dict[str, Any]:
        """The network, own ones by their code, and its training."""
        own = self._written if isinstance(self.model, str) else code_identity(self._own)
        return {"model": own, "training": asdict(self.training)}

    @property
    def _own(self) -> Any:
        return partial(self.model, **self.arguments) if self.arguments else self.model

    @property
    def _factory(self) -> Factory:
        """What makes a network."""
        from unchurn.training.networks.factories import make_factory

        factory = make_factory(self.model)
        return partial(factory, **self.arguments) if self.arguments else factory

    @property
    def length(self) -> str:
        """In epochs."""
        return self.training.length

    @property
    def versions(self) -> dict[str, str]:
        """Torch's."""
        import torch

        return {"torch": torch.__version__}

    @property
    def facts(self) -> dict[str, str]:
        """Network and training in words."""
        t = self.training
        return {
            "network": self._written if isinstance(self.model, str) else "own",
            "training": f"{t.length} of batches of {t.batch_size}, Adam, "
            f"learning rate {t.learning_rate:g}",
        }

    @property
    def n_gpus(self) -> int:
        """One, if that is where it is trained."""
        return int(self.training.device.startswith("cuda"))

    @property
    def imports(self) -> tuple[str, ...]:
        """The loop, and torch with it."""
        return ("unchurn.training.loop.fit",)

    @property
    def remark(self) -> str | None:
        """Nothing: `check` says what is wrong with a network."""
        return None

    def why_not(self, method: Method) -> str | None:
        """The loop trains every method."""
        return None

    def n_steps(self, n: int) -> int | None:
        """Steps of Adam."""
        return self.training.n_steps(n)

    def check(self, x: Float32, n_classes: int) -> None:
        """Make and use the network once: what is wrong with it is said at the start."""
        if self.model == "mlp" and not self.arguments:  # which takes any inputs
            return  # without torch, which a study of finished runs does not need
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
        """The shapes of its network's weights, by name: those it can start from have the same."""
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
        """Train a run by the loop."""
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
        """From a few steps; None if they diverge.

        On a CPU they are made by this thread alone: its own time is what they take once nothing
        else keeps the cores busy.
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
    """What own code is called."""
    return str(getattr(own, "__qualname__", type(own).__name__))
