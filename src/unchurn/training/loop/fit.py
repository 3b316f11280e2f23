"""Train one run of a method. The loop knows no method by name: `[hook]` marks what they may change.

fit_together, one run of a method:
    for member in [hook] method.members(), for candidate in [hook] member.candidates():
        targets = [hook] candidate.targets(one-hot labels, reference)
        weights = [hook] candidate.weights(the examples' own weights, reference)
        extras  = [hook] candidate.extras(n, reference, rng)
                  (the reference is a given model or a plain fit, trained when first asked for)
        rows    = [hook] candidate.sample(rng, n) of all but the share [hook] member.holds_out()
        train [hook] candidate.n_nets networks on them, each [hook] candidate.adapt(network),
              which starts from random weights or as [hook] candidate.start(network, weights) sets:
            fit = [hook] candidate.begin(networks, number of steps)
            for each of [hook] candidate.epochs(…) (in `steps.py`, the only training loop):
                for each batch of a fresh permutation:
                    batch = [hook] candidate.batch(x, targets, weights, rows, extras)
                    loss  = [hook] candidate.loss(logits, batch, step) + [hook] candidate.penalty(…)
                    one step of Adam on the weighted mean, with [hook] candidate.weight_decay(),
                        at [hook] candidate.learning_rate(progress)
                    [hook] fit.after_step(step)
                [hook] fit.after_epoch(loss on the held-out examples)
            [hook] fit.finish(loss on the training examples)
            networks = [hook] candidate.settle([hook] fit.served(), reference, held-out examples)
        [hook] member.pick(…) chooses the candidate that serves
    probabilities = mean over the members of [hook] member.probabilities(logits of their networks)

Methods that differ only in which weights their fits serve share all other work.

`streams.py` says where random numbers come from. Everything runs on one thread: this gives the same
bytes on any number of cores, and one process per core is fastest on a CPU anyway.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial, reduce

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from unchurn.core.arrays import Array, Float32
from unchurn.core.errors import InputError
from unchurn.methods import Control, HeldOut, Method, Reference
from unchurn.methods.base import Rows
from unchurn.methods.cost import serving_cost
from unchurn.methods.reference import Weights
from unchurn.training.learners.base import DivergedError, check_neighbours, score_distinct
from unchurn.training.loop.config import Training
from unchurn.training.loop.determinism import one_thread
from unchurn.training.loop.steps import SCORING_BATCH, Examples, OnEpoch, as_tensor, train_networks
from unchurn.training.loop.streams import Stream, hold_out, member_fits, reference_streams
from unchurn.training.networks.factories import Factory

Nets = list[nn.Module]  # of one fit


@dataclass(frozen=True)
class Fitted:
    """A trained run: the networks of every member, ready to predict."""

    method: Method
    members: list[Nets]
    device: str = "cpu"

    def probabilities(self, x: Array) -> Float32:
        """(n, L) probabilities, averaged over the members."""
        with one_thread(), torch.no_grad():
            each = [
                method.probabilities(_score(nets, x, self.device))
                for method, nets in zip(self.method.members(), self.members, strict=True)
            ]
            # Added one by one: in a sum over a stack, the result would depend on a row's position.
            mean: Float32 = (reduce(torch.add, each) / len(each)).cpu().numpy()
        return mean

    def logits(self, x: Array) -> Float32:
        """(n, L) logits of the network that serves; if several do, the log of their mean."""
        if serving_cost(self.method) > 1:
            tiny = np.finfo(np.float32).tiny
            return np.asarray(np.log(self.probabilities(x).clip(min=tiny)), np.float32)
        with one_thread(), torch.no_grad():
            logits: Float32 = _score(self.members[0][:1], x, self.device)[0].cpu().numpy()
        return logits

    def weights(self) -> Weights:
        """The weights of the network that serves, by name; InputError if several do."""
        if serving_cost(self.method) > 1:
            raise InputError("several networks serve: there are no weights to start from")
        state = self.members[0][0].state_dict()
        return {name: value.detach().cpu().numpy() for name, value in state.items()}


def fit_together(
    methods: Sequence[Method],
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
    targets: Float32 | None = None,
    on_epoch: OnEpoch = lambda: None,
) -> list[Fitted]:
    """Train one run of methods whose `trained()` is the same; see the top of this file.

    Parameters
    ----------
    factory
        Makes a network for the shape of an input and the number of classes.
    x, y, n_classes
        Inputs (n, *shape) as the network takes them, and their class numbers.
    seed, run, fit
        These determine every random draw. Runs of one seed share no draws, except those of a fixed
        reference. `fit` is the number of the first stream; it is 0 except for a further fit of the
        same run.
    weights
        Weights of the examples; all equal if not given.
    reference
        The references' predictions. If not given, plain fits are trained when a method needs them.
    targets
        (n, L) targets to begin with, instead of one-hot labels.
    on_epoch
        Called after every epoch of every fit; networks trained in tandem are one fit.
    """
    check_neighbours(methods[0], len(x))  # before training a reference
    one_hot = np.eye(n_classes, dtype=np.float32)[y] if targets is None else targets
    ours = _Run(factory, x, y, one_hot, weights, training, on_epoch)
    known = reference or ours.references(reference_streams(methods[0], seed, run))
    by_member = zip(*(method.members() for method in methods), strict=True)
    with one_thread():
        members = [
            ours.member(together, known, [Stream(seed, run, number) for number in numbers])
            for together, numbers in zip(by_member, member_fits(methods[0], fit), strict=True)
        ]
    return [
        Fitted(method, list(nets), training.device)
        for method, nets in zip(methods, zip(*members, strict=True), strict=True)
    ]


class _Run:
    """The data and training that all fits of a run share."""

    def __init__(
        self,
        factory: Factory,
        x: Float32,
        y: npt.NDArray[np.integer],
        targets: Float32,
        weights: Float32 | None,
        training: Training,
        on_epoch: OnEpoch,
    ) -> None:
        self.factory, self.x, self.y = factory, x, y
        self.weights = np.ones(len(x), np.float32) if weights is None else weights
        self.targets = targets
        self.training, self.on_epoch = training, on_epoch
        self.made: Nets = []

    def references(self, streams: Sequence[Stream]) -> Reference:
        """Plain fits, trained when a method first asks for their logits."""
        plain = [cache(partial(self._plain, stream)) for stream in streams]
        first, *more = [partial(self._logits_of, fit) for fit in plain]
        return Reference(first, self.y, more=more, weights=lambda: plain[0]().weights())

    def _plain(self, stream: Stream) -> Fitted:
        plain = Control()
        nets = self.member([plain], self.references([stream]), [stream])[0]
        return Fitted(plain, [nets], self.training.device)

    def _logits_of(self, fit: Callable[[], Fitted]) -> Float32:
        return score_distinct(fit(), self.x)

    def member(
        self, together: Sequence[Method], known: Reference, streams: list[Stream]
    ) -> list[Nets]:
        """Train a member's candidates; for each method, the networks of the one that serves."""
        kept, held = hold_out(together[0], streams[0], len(self.x))
        trained = []  # by candidate, then by method
        for candidates in zip(*(method.candidates() for method in together), strict=True):
            n_nets = candidates[0].n_nets
            own, streams = streams[:n_nets], streams[n_nets:]
            trained.append(self._fit(candidates, known, own, kept, held))
        return [
            self._served(method, nets, held)
            for method, nets in zip(together, zip(*trained, strict=True), strict=True)
        ]

    def _served(self, method: Method, trained: Sequence[Nets], held: Rows) -> Nets:
        """The networks of the candidate that serves."""
        if len(trained) == 1:
            return trained[0]
        fitted = (
            Fitted(candidate, [nets], self.training.device)
            for candidate, nets in zip(method.candidates(), trained, strict=True)
        )
        return trained[method.pick([one.probabilities(self.x[held]) for one in fitted])]

    def _fit(
        self,
        together: Sequence[Method],
        known: Reference,
        streams: list[Stream],
        kept: Rows,
        held: Rows,
    ) -> list[Nets]:
        """Train one fit; for each method, the networks that serve."""
        method = together[0]
        rows = method.sample(streams[0].generator("sample"), len(kept))
        examples = Examples(
            x=self.x,
            targets=method.targets(self.targets, known),
            weights=method.weights(self.weights, known),
            extras=method.extras(len(self.x), known, streams[0].generator("extras")),
            seen=kept if rows is None else kept[rows],
            held=held,
        )
        need = method.reference()
        # Asked for before training starts: a reference that is yet to be trained draws random
        # numbers of its own.
        weights = known.weights if need is not None and need.weights else None
        make = partial(self._network, method, weights)
        served = train_networks(together, make, examples, self.training, streams, self.on_epoch)
        logits = partial(self._logits, held)
        unseen = HeldOut(rows=held, weights=self.weights[held], logits=logits)
        each = zip(together, served, strict=True)
        return [one.settle(nets, known, unseen) for one, nets in each]

    def _logits(self, rows: Rows, nets: Sequence[nn.Module]) -> list[Float32]:
        """The logits of networks for some examples."""
        with torch.no_grad():
            scored = _score(list(nets), self.x[rows], self.training.device)
        return [logits.cpu().numpy() for logits in scored]

    def _network(self, method: Method, weights: Weights | None) -> nn.Module:
        """A new network, adapted by the method and with the weights it starts from."""
        net = self.factory(tuple(self.x.shape[1:]), self.targets.shape[1])
        if not isinstance(net, nn.Module):
            raise InputError(f"module gives {type(net).__name__}, not a torch.nn.Module")
        if any(net is other for other in self.made):
            raise InputError(
                "module gave the same network twice: it must make a new one at each call"
            )
        self.made.append(net)
        net = method.adapt(net)
        if weights is not None:
            method.start(net, weights)
        return net


def _score(nets: list[nn.Module], x: Array, device: str) -> list[Tensor]:
    """Logits of each network, in batches."""
    inputs = as_tensor(np.ascontiguousarray(x, np.float32))
    batches = [batch.to(device) for batch in torch.split(inputs, SCORING_BATCH)]
    logits = [torch.cat([net(batch) for batch in batches]) for net in nets]
    if not all(bool(output.isfinite().all()) for output in logits):
        raise DivergedError("the trained network gives logits that are not finite")
    return logits
