"""PooledConv2d against PyTorch's own layers."""

import copy

import pytest
import torch
from torch import nn

from unchurn.training.loop.determinism import one_thread
from unchurn.training.networks.factories import lenet5
from unchurn.training.networks.pooled import PooledConv2d

# With what oneDNN adds in the order of our kernels.
AVX512 = torch.backends.cpu.get_cpu_capability() == "AVX512"
channels_last = {"memory_format": torch.channels_last}


@pytest.fixture(autouse=True)
def _as_in_training():
    """Of two threads, oneDNN adds two sums."""
    with one_thread():
        yield


def assert_same(ours, theirs, exact=AVX512):
    if exact:
        assert torch.equal(ours, theirs)
    else:
        torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-4)


def outcome(layer, x, of_input=True):
    """Output and gradients; those from above are zero here and there, as ReLU makes them."""
    x = x.clone().requires_grad_(of_input)
    output = layer(x)
    generator = torch.Generator().manual_seed(1)
    above = torch.randn(output.shape, generator=generator).relu()
    inputs = [*layer.parameters(), *([x] if of_input else [])]
    return [output.detach(), *torch.autograd.grad(output, inputs, above)]


def both(channels, filters):
    """Our layer, and theirs with the same weights."""
    torch.manual_seed(0)
    ours = PooledConv2d(channels, filters).to(**channels_last)
    theirs = nn.Sequential(nn.Conv2d(channels, filters, 5), nn.MaxPool2d(2)).to(**channels_last)
    theirs[0].load_state_dict(ours.state_dict())
    return ours, theirs


@pytest.mark.parametrize("n", [1, 41, 128])
@pytest.mark.parametrize("shape", [(32, 32, 3), (28, 28, 3), (28, 28, 1), (17, 22, 2), (18, 21, 4)])
def test_the_first_layers_numbers_are_pytorchs_to_the_bit(n, shape):
    ours, theirs = both(shape[2], 6)
    x = torch.rand(n, *shape, generator=torch.Generator().manual_seed(2)).permute(0, 3, 1, 2)
    for one, other in zip(outcome(ours, x, False), outcome(theirs, x, False), strict=True):
        assert_same(one, other)


@pytest.mark.parametrize("n", [1, 41, 128])
@pytest.mark.parametrize("side", [14, 12])
def test_the_second_layers_numbers_are_pytorchs_to_the_bit(n, side):
    ours, theirs = both(6, 16)
    x = torch.rand(n, side, side, 6, generator=torch.Generator().manual_seed(2))
    x = x.permute(0, 3, 1, 2).sub(0.5).relu()
    for one, other in zip(outcome(ours, x), outcome(theirs, x), strict=True):
        assert_same(one, other)


@pytest.mark.parametrize("filters", [6, 16])
def test_of_equal_outputs_the_first_has_the_gradient(filters):
    """Small whole numbers: all sums are exact, on any machine, and many of them equal."""
    ours, theirs = both(3, filters)
    generator = torch.Generator().manual_seed(3)
    with torch.no_grad():
        for weights in (ours.weight, ours.bias):
            weights.copy_(torch.randint(-1, 2, weights.shape, generator=generator))
        ours.weight[0] = 0  # all outputs of a filter are equal
        theirs[0].load_state_dict(ours.state_dict())
    x = torch.randint(0, 2, (9, 3, 20, 16), generator=generator).float().to(**channels_last)
    y = theirs[0](x).unfold(2, 2, 2).unfold(3, 2, 2).flatten(4)
    assert (y == y.max(dim=4, keepdim=True)[0]).sum(dim=4).double().mean() > 1.2
    outcomes = [outcome(layer, x)[::3] for layer in (ours, theirs)]  # output and input's
    for one, other in zip(*outcomes, strict=True):
        assert_same(one, other, exact=one is outcomes[0][0] or AVX512)


def test_not_a_number_is_passed_on():
    ours, theirs = both(3, 6)
    x = torch.rand(2, 3, 16, 16).to(**channels_last)
    x[0, 1, 7, 7] = torch.nan
    assert torch.equal(ours(x).isnan(), theirs(x).isnan())
    assert ours(x).isnan().any()


def test_where_nothing_is_trained_and_in_double_precision_it_is_pytorchs_own():
    ours, theirs = both(3, 6)
    x = torch.rand(5, 3, 16, 16).to(**channels_last)
    with torch.no_grad():
        assert torch.equal(ours(x), theirs(x))
    ours, theirs, x = ours.double(), theirs.double(), x.double()
    for one, other in zip(outcome(ours, x), outcome(theirs, x), strict=True):
        assert torch.equal(one, other)


def test_lenet5_is_trained_to_the_same_weights():
    torch.manual_seed(0)
    ours = lenet5((28, 28, 3), 10)
    theirs = copy.deepcopy(ours)
    for place in (0, 3):
        layer = ours.features[place]
        plain = nn.Conv2d(layer.in_channels, layer.out_channels, 5).to(**channels_last)
        plain.load_state_dict(layer.state_dict())
        theirs.features[place], theirs.features[place + 1] = plain, nn.MaxPool2d(2)
    assert [*ours.state_dict()] == [*theirs.state_dict()]
    x, y = torch.rand(100, 28, 28, 3), torch.arange(100) % 10
    for net in (ours, theirs):
        optimizer = torch.optim.Adam(net.parameters())
        for _ in range(5):
            optimizer.zero_grad()
            nn.functional.cross_entropy(net(x), y).backward()
            optimizer.step()
    for one, other in zip(ours.parameters(), theirs.parameters(), strict=True):
        assert_same(one, other) if AVX512 else torch.testing.assert_close(one, other, atol=1e-2)
