"""DATASETS: all datasets by name. To add a dataset, write a module and add an entry here."""

from __future__ import annotations

from unchurn.core.errors import InputError, unknown
from unchurn.datasets import celeba, digits, mnist, phishing, svhn, two_gaussians
from unchurn.datasets.base import Source

DATASETS: dict[str, Source] = {
    source.name: source
    for source in (
        digits.DIGITS,
        two_gaussians.TWO_GAUSSIANS,
        mnist.MNIST,
        mnist.FASHION_MNIST,
        svhn.SVHN,
        celeba.SMILING,
        celeba.HIGH_CHEEKBONES,
        phishing.PHISHING,
    )
}


def source(name: str) -> Source:
    """The source of a dataset, by its name."""
    if name not in DATASETS:
        raise InputError(unknown("dataset", name, DATASETS))
    return DATASETS[name]
