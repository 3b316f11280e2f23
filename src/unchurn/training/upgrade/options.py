"""Check the names of options that `upgrade` hands on to `StableClassifier`."""

from __future__ import annotations

from collections.abc import Iterable

from unchurn.core.errors import InputError, unknown
from unchurn.training.estimator.stable_classifier import StableClassifier

OWN = ("method", "module", "reference")  # what `upgrade` calls otherwise, or sets itself


def check_options(names: Iterable[str]) -> None:
    """Refuse names that no network has, such as misspelt ones."""
    known = [name for name in StableClassifier().get_params(deep=False) if name not in OWN]
    for name in names:
        if name not in (*known, *OWN):
            raise InputError(unknown("option", name, known))
