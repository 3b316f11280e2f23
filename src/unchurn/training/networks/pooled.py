"""A convolution with max-pooling as one layer: the same numbers in half the time.

PyTorch's own pooling is slow with few channels. Its gradients are mostly zeros, and PyTorch still
computes two dense convolutions with them. This layer computes only the gradients that pooling lets
through.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import conv2d, max_pool2d


class PooledConv2d(nn.Conv2d):
    """5×5 filters, then the maximum of each 2×2; parameters and names are a convolution's."""

    def __init__(self, channels: int, filters: int) -> None:
        super().__init__(channels, filters, 5)

    def forward(self, x: Tensor) -> Tensor:
        """(n, filters, height, width), in the memory format channels_last."""
        if torch.is_grad_enabled() and x.device.type == "cpu" and x.dtype == torch.float32:
            pooled: Tensor = _Pooled.apply(x, self.weight, self.bias)  # type: ignore[no-untyped-call]
            return pooled
        return max_pool2d(super().forward(x), 2)  # without gradients, or not on a CPU


class _Pooled(torch.autograd.Function):
    """Computes the pooled output, and the gradients of filters, biases and input."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        from unchurn.training.networks.kernels.pooled import pool

        y = _by_pixel(_convolve(x, weight, bias))
        n, height, width, filters = y.shape
        pooled = torch.empty(n, height // 2, width // 2, filters)
        places = torch.empty(pooled.shape, dtype=torch.uint8)
        pool(y.numpy(), pooled.numpy(), places.numpy())
        ctx.save_for_backward(x, weight, places)
        return pooled.permute(0, 3, 1, 2)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, Tensor, Tensor]:
        from unchurn.training.networks.kernels.pooled import filter_gradients, input_gradients
        from unchurn.training.networks.kernels.vectors import LANES, SIDE

        x, weight, places = ctx.saved_tensors
        filters, used = len(weight), SIDE * weight.shape[1]
        lanes = -(-used // LANES) * LANES
        chosen = _by_pixel(grads[0]).numpy(), places.numpy()
        into, biases = torch.zeros(filters, SIDE, lanes), torch.zeros(filters)
        filter_gradients(*chosen, _by_pixel(x).numpy(), into.numpy(), biases.numpy())
        of_weight = into[..., :used].reshape(filters, SIDE, SIDE, -1).permute(0, 3, 1, 2)
        if not ctx.needs_input_grad[0]:
            return None, of_weight, biases
        padded = torch.zeros(filters, SIDE, lanes)
        padded[..., :used] = _by_pixel(weight).reshape(filters, SIDE, used)
        of_x = torch.empty_like(_by_pixel(x))
        input_gradients(*chosen, padded.numpy(), of_x.numpy())
        return of_x.permute(0, 3, 1, 2), of_weight, biases


def _convolve(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """The convolution; with few filters, two neighbouring output columns are computed at once.

    Six filters fill a third of a vector register. Twice as many, each padded with a column of
    zeros, fill two thirds. Sums are the same to the bit, except with one channel, which oneDNN adds
    in another order.
    """
    filters, channels, side, _ = weight.shape
    if filters > 8 or channels == 1 or (x.shape[3] - side) % 2 == 0:
        return conv2d(x, weight, bias)
    both = torch.zeros(2, filters, side, side + 1, channels)
    both[0, :, :, :-1] = both[1, :, :, 1:] = weight.permute(0, 2, 3, 1)
    wide = both.flatten(0, 1).permute(0, 3, 1, 2)
    y = _by_pixel(conv2d(x, wide, bias.repeat(2), stride=(1, 2)))
    return y.reshape(len(y), y.shape[1], -1, filters).permute(0, 3, 1, 2)


def _by_pixel(images: Tensor) -> Tensor:
    """Images as (n, height, width, channels), in that order in memory; copied only if needed."""
    return images.detach().permute(0, 2, 3, 1).contiguous()
