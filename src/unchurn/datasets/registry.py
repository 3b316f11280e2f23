"""DATASETS: what there is by name. A new dataset is a file of its own and one entry here."""

from __future__ import annotations

from difflib import get_close_matches

from unchurn.core.errors import InputError
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
    """What is known of a dataset by its name."""
    if name not in DATASETS:
        near = get_close_matches(name, DATASETS, n=1)
        hint = f" (did you mean {near[0]}?)" if near else ""
        raise InputError(f"no dataset {name!r}{hint}: there are {', '.join(DATASETS)}")
    return DATASETS[name]
