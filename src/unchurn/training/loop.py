"""The only training loop. It knows no method by name; `[hook]` marks what a method may change.

fit_run, one run of a setting:
    targets = [hook] method.targets(one-hot labels, reference)
              where reference.logits are those of a plain fit, trained only if asked for
    for member in range([hook] method.n_members):
        train [hook] method.n_nets networks on the targets:
            [hook] method.plan(number of steps)
            for each epoch, for each batch of a fresh permutation:
                x, t, w = [hook] method.batch(x, t, w, rng)
                losses = [hook] method.loss([net(x) for net in nets], t, step)
                one step of Adam on the mean of the losses, weighted by w
    probabilities = mean over the members of [hook] method.probabilities(logits of their nets)

Randomness comes from streams. Stream (r, j) is the initialisation and batch order of one plain fit,
the j-th of run r. Every setting's own fit in run r is stream (r, 0), so settings are paired by run.
The reference of run r is stream (r, 1); a fixed one is (0, 1). Member j of an ensemble is stream
(r, j), and so are the weights of co-distillation's j-th network. Everything runs on one thread: the
same bytes on any number of cores, and the fastest way on a CPU is one process per core anyway.
"""

from __future__ import annotations

import math
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial, reduce
from typing import Protocol

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from unchurn.core.arrays import Array, as_number, as_whole, distinct_rows
from unchurn.core.errors import InputError
from unchurn.methods import Control, Method, Reference
from unchurn.training.networks import Factory

Float32 = npt.NDArray[np.float32]
SCORING_BATCH = 2048
OnEpoch = Callable[[], None]


class DivergedError(RuntimeError):
    """The loss of a run became infinite or NaN."""


@dataclass(frozen=True)
class Training:
    """How networks are trained; the defaults are the paper's where it gives them."""

    epochs: int = 20
    batch_size: int = 128
    learning_rate: float = 0.001
    epsilon: float = 1e-7  # of Adam; the paper's framework's default, not torch's
    device: str = "cpu"

    def __post_init__(self) -> None:
        # Plain numbers, also of NumPy's, so that equal trainings are equal on disk.
        object.__setattr__(self, "epochs", as_whole(self.epochs, 1, "epochs"))
        object.__setattr__(self, "batch_size", as_whole(self.batch_size, 1, "batch_size"))
        for name in ("learning_rate", "epsilon"):
            value = as_number(getattr(self, name), 0, name)
            if value == 0:
                raise InputError(f"{name} must be above 0")
            object.__setattr__(self, name, value)
        try:
            torch.empty(0, device=self.device)
        except (RuntimeError, AssertionError, TypeError) as error:
            raise InputError(f"device {self.device!r} cannot be used: {error}") from error

    @property
    def length(self) -> str:
        """The number of epochs in words."""
        return f"{self.epochs} epoch{'s' * (self.epochs > 1)}"

    def n_steps(self, n: int) -> int:
        """Steps that training on n examples takes; the last, partial batch of an epoch counts."""
        return self.epochs * math.ceil(n / self.batch_size)


@dataclass(frozen=True)
class Stream:
    """The random numbers of one plain fit: the `fit`-th of run `run` under a seed."""

    seed: int
    run: int
    fit: int

    def generator(self, purpose: str) -> np.random.Generator:
        """Independent random numbers for each purpose: weights, order or mixing."""
        key = (self.run, self.fit, ("weights", "order", "mixing").index(purpose))
        return np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=key))


@dataclass(frozen=True)
class Fitted:
    """A trained run: the networks of every member, ready to predict."""

    method: Method
    members: list[list[nn.Module]]
    device: str = "cpu"

    def probabilities(self, x: Array) -> Float32:
        """(n, L) probabilities, averaged over the members."""
        with one_thread(), torch.no_grad():
            members = (_score(nets, x, self.device) for nets in self.members)
            # Added one by one: a sum over a stack would depend on a row's place in it.
            total = reduce(torch.add, (self.method.probabilities(logits) for logits in members))
            mean: Float32 = (total / len(self.members)).cpu().numpy()
        return mean

    def logits(self, x: Array) -> Float32:
        """(n, L) logits of the network that serves; of several members, the log of their mean."""
        if len(self.members) > 1:
            tiny = np.finfo(np.float32).tiny
            return np.asarray(np.log(self.probabilities(x).clip(min=tiny)), np.float32)
        with one_thread(), torch.no_grad():
            logits: Float32 = _score(self.members[0][:1], x, self.device)[0].cpu().numpy()
        return logits


def fit_run(
    method: Method,
    factory: Factory,
    x: Float32,
    y: npt.NDArray[np.integer],
    n_classes: int,
    *,
    training: Training,
    seed: int,
    run: int = 0,
    fit: int = 0,
    weights: Float32 | None = None,
    reference: Reference | None = None,
    on_epoch: OnEpoch = lambda: None,
) -> Fitted:
    """Train one run of a method; see the top of this file.

    Parameters
    ----------
    x, y, n_classes
        Inputs (n, *shape) as the network takes them, and their class numbers.
    seed, run, fit
        Decide every random draw; runs of one seed share none, except a fixed reference. `fit` is
        that of the first stream, other than 0 only for a further plain fit of the run.
    weights
        Of the examples; all equal if not given.
    reference
        What is known of the reference. If not given, a plain fit, if the method asks for one.
    on_epoch
        Called after every epoch of every network trained.
    """
    n, shape = len(x), tuple(x.shape[1:])
    weights = np.ones(n, np.float32) if weights is None else weights.astype(np.float32)
    one_hot = np.eye(n_classes, dtype=np.float32)[y]

    def train(what: Method, targets: Float32, streams: list[Stream]) -> list[nn.Module]:
        make = partial(factory, shape, n_classes)
        return _train(what, make, x, targets, weights, training, streams, on_epoch)

    def reference_logits() -> Float32:
        stream = reference_stream(method, seed, run)
        plain = Control()
        return score_distinct(Fitted(plain, [train(plain, one_hot, [stream])], training.device), x)

    if method.reference_k is not None and method.reference_k > n:  # before training a reference
        raise InputError(f"k must be from 1 to the number of points, {n}, not {method.reference_k}")
    with one_thread():
        targets = method.targets(one_hot, reference or Reference(reference_logits, y))
        members = [
            train(
                method, targets, [Stream(seed, run, fit + m + net) for net in range(method.n_nets)]
            )
            for m in range(method.n_members)
        ]
    if len({id(net) for nets in members for net in nets}) < method.n_nets * method.n_members:
        raise InputError("module gave the same network twice: it must make a new one at each call")
    return Fitted(method, members, training.device)


def reference_stream(method: Method, seed: int, run: int) -> Stream:
    """The stream of the plain fit that is a method's reference in a run."""
    return Stream(seed, 0 if method.reference_is_fixed else run, 1)


class Predictor(Protocol):
    """What is trained, of whatever framework."""

    def probabilities(self, x: Array) -> Float32:
        """(n, L) probabilities."""

    def logits(self, x: Array) -> Float32:
        """(n, L) logits."""


def score_distinct(fitted: Predictor, x: Float32) -> Float32:
    """Logits of x, each distinct input scored once: equal inputs have equal logits, to the bit."""
    distinct, which = distinct_rows(x.reshape(len(x), -1))
    return fitted.logits(distinct.reshape(-1, *x.shape[1:]))[which]


def _train(
    method: Method,
    make_net: Callable[[], nn.Module],
    x: Float32,
    targets: Float32,
    weights: Float32,
    training: Training,
    streams: list[Stream],
    on_epoch: OnEpoch,
) -> list[nn.Module]:
    """Train the networks of one member, network i initialised by stream i; order by the first."""
    order, mixing = streams[0].generator("order"), streams[0].generator("mixing")
    method.plan(training.n_steps(len(x)))
    inputs, labels, importance = (
        _tensor(array).to(training.device) for array in (x, targets, weights)
    )
    with own_randomness(training.device), torch.enable_grad():
        nets, states = [], []
        for stream in streams:
            _seed(training.device, int(stream.generator("weights").integers(2**63)))
            nets.append(make_net().to(training.device).train())
            states.append(torch.get_rng_state())  # each network goes on with its own dropout
        torch.set_rng_state(states[0])
        parameters = [p for net in nets for p in net.parameters()]
        optimizer = torch.optim.Adam(
            parameters, lr=training.learning_rate, eps=training.epsilon, fused=True
        )
        step = 0
        for epoch in range(training.epochs):
            permutation = torch.from_numpy(order.permutation(len(x))).to(training.device)
            for batch in torch.split(permutation, training.batch_size):
                xb, tb, wb = (part.index_select(0, batch) for part in (inputs, labels, importance))
                xb, tb, wb = method.batch(xb, tb, wb, mixing)
                logits = [nets[0](xb)] if len(nets) == 1 else _forward(nets, states, xb)
                if step == 0:
                    _check_logits(logits, tb)
                losses = method.loss(logits, tb, step)
                # A batch of zero weight has no loss; it still counts as a step.
                loss = (losses * wb).sum() / wb.sum().clamp(min=torch.finfo(wb.dtype).tiny)
                if not math.isfinite(loss.item()):
                    raise DivergedError(f"loss is {loss.item()} at step {step} (epoch {epoch + 1})")
                optimizer.zero_grad()
                loss.backward()  # type: ignore[no-untyped-call]
                optimizer.step()
                step += 1
            on_epoch()
    if not all(bool(p.isfinite().all()) for p in parameters):
        raise DivergedError(f"weights are not finite after step {step - 1}, the last")
    return [net.eval() for net in nets]


def _forward(nets: list[nn.Module], states: list[Tensor], x: Tensor) -> list[Tensor]:
    """Logits of networks in tandem, each drawing its dropout as it would on its own."""
    logits = []
    for number, net in enumerate(nets):
        torch.set_rng_state(states[number])
        logits.append(net(x))
        states[number] = torch.get_rng_state()
    return logits


def _check_logits(logits: list[Tensor], targets: Tensor) -> None:
    """Refuse a network whose output would be broadcast into nonsense."""
    for output in logits:
        shape = tuple(output.shape) if isinstance(output, Tensor) else type(output).__name__
        if shape != tuple(targets.shape):
            raise InputError(
                f"the network must give logits of shape {tuple(targets.shape)} "
                f"(batch, classes), not {shape}"
            )


def _score(nets: list[nn.Module], x: Array, device: str) -> list[Tensor]:
    """Logits of each network, in batches."""
    inputs = _tensor(np.ascontiguousarray(x, np.float32))
    batches = [batch.to(device) for batch in torch.split(inputs, SCORING_BATCH)]
    logits = [torch.cat([net(batch) for batch in batches]) for net in nets]
    if not all(bool(output.isfinite().all()) for output in logits):
        raise DivergedError("the trained network gives logits that are not finite")
    return logits


def _tensor(array: Array) -> Tensor:
    """A tensor on an array's own memory; it is only read, so it may be a read-only memory map."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The given NumPy array is not writable")
        return torch.from_numpy(array)


_RANDOMNESS = threading.Lock()


@contextmanager
def own_randomness(device: str) -> Iterator[None]:
    """Have torch's global random numbers to ourselves, then give them back as they were.

    Networks draw from nowhere else, so fits in several threads must take turns.
    """
    with _RANDOMNESS, torch.random.fork_rng(_cuda_devices(device)):
        before = torch.get_default_dtype()
        torch.set_default_dtype(torch.float32)  # in which weights are drawn
        try:
            yield
        finally:
            torch.set_default_dtype(before)


def _seed(device: str, seed: int) -> None:
    """Seed the generators that a network on this device draws from, and no others."""
    torch.default_generator.manual_seed(seed)
    for number in _cuda_devices(device):
        torch.cuda.default_generators[number].manual_seed(seed)


def _cuda_devices(device: str) -> list[int]:
    """The GPUs whose random state is ours to restore."""
    kind = torch.device(device)
    return [kind.index or 0] if kind.type == "cuda" else []


_THREADS = threading.Lock()
_callers: list[int] = []  # of one_thread, now: the number of threads before each


@contextmanager
def one_thread() -> Iterator[None]:
    """Hold torch to one thread, then give back what was set before the first of us came."""
    with _THREADS:
        _callers.append(_callers[0] if _callers else torch.get_num_threads())
        torch.set_num_threads(1)
    try:
        yield
    finally:
        with _THREADS:
            before = _callers.pop()
            if not _callers:
                torch.set_num_threads(before)
