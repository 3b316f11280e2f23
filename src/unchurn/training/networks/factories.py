"""The paper's two networks, by name; users bring others as factories.

A factory takes the shape of one input and the number of classes, and returns a `torch.nn.Module`
that maps (n, *shape) to (n, n_classes) logits. The training loop seeds its random draws.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import pairwise

import torch
from torch import Tensor, nn

from unchurn.core.errors import InputError, unknown
from unchurn.training.networks.pooled import PooledConv2d

Shape = tuple[int, ...]
Factory = Callable[[Shape, int], nn.Module]


def glorot(module: nn.Module) -> nn.Module:
    """Draw all weights from Glorot's uniform distribution, and set all biases to zero."""
    for layer in module.modules():
        if isinstance(layer, nn.Linear | nn.Conv2d):
            nn.init.xavier_uniform_(layer.weight)
            if layer.bias is not None:
                nn.init.zeros_(layer.bias)
    return module


def mlp(shape: Shape, n_classes: int, n_hidden: int = 2) -> nn.Module:
    """Three layers, 256-256-L, ReLU; inputs of any shape are flattened."""
    sizes = [int(torch.Size(shape).numel()), *[256] * n_hidden]
    hidden = [layer for size in pairwise(sizes) for layer in (nn.Linear(*size), nn.ReLU())]
    return glorot(nn.Sequential(nn.Flatten(), *hidden, nn.Linear(256, n_classes)))


class LeNet5(nn.Module):
    """6 and 16 filters of 5×5, each with 2×2 pooling, then 120, 84 and L units.

    It takes (n, height, width) or (n, height, width, channels), the layout of the datasets and the
    memory format in which convolutions are fastest.
    """

    def __init__(
        self,
        shape: Shape,
        n_classes: int,
        activation: type[nn.Module] = nn.ReLU,
        pooling: Callable[[int], nn.Module] = nn.MaxPool2d,
    ) -> None:
        super().__init__()
        if len(shape) not in (2, 3) or min(shape[:2]) < 16:
            raise InputError(f"lenet5 needs images of at least 16×16 pixels, not {shape}")
        height, width = ((side - 4) // 2 for side in shape[:2])
        height, width = (height - 4) // 2, (width - 4) // 2

        def layers(channels: int, filters: int) -> list[nn.Module]:
            if pooling is nn.MaxPool2d:
                # An increasing activation can be applied after the maximum: the same numbers, to
                # the bit, for a quarter of the work. Identity stands in for the pooling layer, so
                # that weights keep their names.
                return [PooledConv2d(channels, filters), nn.Identity(), activation()]
            return [nn.Conv2d(channels, filters, 5), activation(), pooling(2)]

        channels = shape[2] if len(shape) == 3 else 1
        self.features = nn.Sequential(*layers(channels, 6), *layers(6, 16))
        self.head = nn.Sequential(
            nn.Linear(16 * height * width, 120),
            activation(),
            nn.Linear(120, 84),
            activation(),
            nn.Linear(84, n_classes),
        )

    def forward(self, x: Tensor) -> Tensor:
        """Logits."""
        if x.ndim == 3:
            x = x[..., None]
        features = self.features(x.permute(0, 3, 1, 2))
        logits: Tensor = self.head(features.flatten(1))
        return logits


def lenet5(
    shape: Shape,
    n_classes: int,
    activation: type[nn.Module] = nn.ReLU,
    pooling: Callable[[int], nn.Module] = nn.MaxPool2d,
) -> nn.Module:
    """A LeNet5 in the memory format that suits its input."""
    net = glorot(LeNet5(shape, n_classes, activation, pooling))
    return net.to(memory_format=torch.channels_last)  # type: ignore[call-overload,no-any-return]


# The paper leaves open which variant it used: docs/reproduction.md shows trials of each.
MODELS: dict[str, Factory] = {
    "mlp": mlp,
    "mlp_three_hidden": partial(mlp, n_hidden=3),
    "lenet5": lenet5,
    "lenet5_relu_average": partial(lenet5, pooling=nn.AvgPool2d),
    "lenet5_tanh_max": partial(lenet5, activation=nn.Tanh),
    "lenet5_tanh_average": partial(lenet5, activation=nn.Tanh, pooling=nn.AvgPool2d),
}


def make_factory(module: str | Factory) -> Factory:
    """The factory of a built-in network by name, or a user's factory as it is."""
    if isinstance(module, str):
        if module not in MODELS:
            raise InputError(f"{unknown('model', module, MODELS)}, or your own")
        return MODELS[module]
    is_network = issubclass(module if isinstance(module, type) else type(module), nn.Module)
    if hasattr(module, "predict_proba") and not is_network:
        raise InputError(
            "StableClassifier trains networks, and module is an estimator: give it as model= to "
            "bench, to see what lowers its churn, or to upgrade, to train its successor"
        )
    if isinstance(module, nn.Module) or not callable(module):
        raise InputError(
            f"module must be a name or a function (shape, n_classes) -> torch.nn.Module, "
            f"not {type(module).__name__}"
        )
    return module
