"""Check the arguments of `StableClassifier` other than inputs and labels."""

from __future__ import annotations

import warnings

import numpy as np
import numpy.typing as npt
from sklearn.utils import check_random_state

from unchurn.core.arrays import Array, as_array
from unchurn.core.errors import InputError
from unchurn.methods import Method
from unchurn.methods.base import overrides
from unchurn.methods.registry import written
from unchurn.metrics.budget import Budget
from unchurn.training.estimator.references import Model
from unchurn.training.learners.base import RemarkWarning, levels_up

LARGE = 1000.0  # larger inputs, beyond any pixel's, keep a user's own network from learning
LOOK_AT_ONE = "anchor, rcp, focal, warm_start, project, knn_ls, distill and elodi"


def as_mask(saw: npt.ArrayLike, n: int, name: str) -> npt.NDArray[np.bool_]:
    """The mask of n examples that an older model was trained on, checked."""
    mask = as_array(saw, name)
    are_flags = mask.dtype == np.bool_ or (mask.dtype.kind in "iu" and np.isin(mask, (0, 1)).all())
    if mask.shape != (n,) or not are_flags:
        raise InputError(f"{name} must be {n} booleans, not {mask.dtype} of {mask.shape}")
    return mask.astype(np.bool_)


def as_weights(sample_weight: npt.ArrayLike, n: int) -> npt.NDArray[np.float32]:
    """The weights of n examples, checked."""
    weights = as_array(sample_weight, "sample_weight").astype(np.float32)
    if weights.shape != (n,):
        raise InputError(f"sample_weight must have shape ({n},), not {weights.shape}")
    if not np.isfinite(weights).all() or (weights < 0).any():
        raise InputError("sample_weight must be finite numbers of 0 or more")
    if not weights.any():
        raise InputError("Sample weights must contain at least one non-zero number.")
    return weights


def as_seed(random_state: int | np.random.RandomState | None) -> int:
    """A seed for the streams: an integer as it is, otherwise drawn from the random state."""
    if isinstance(random_state, int | np.integer):
        if random_state < 0:
            raise InputError(f"random_state must be 0 or more, not {random_state}")
        return int(random_state)
    return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))


def check_reference(
    reference: Model | None,
    method: Method,
    budget: Budget,
    *given: npt.ArrayLike | None,
    is_labelling: bool,
) -> None:
    """Refuse a reference that is missing, or given but unused; an unused model only warns."""
    name, is_given = written(method), any(g is not None for g in given)
    if overrides(method, "serve"):
        raise InputError(
            f"{name} serves two models: train the new one, then make unchurn.Stay(base, new)"
        )
    if is_labelling and (reference is None or is_given):
        raise InputError("X_unlabelled is labelled by the reference: give it as a model")
    if budget.given:  # a budget compares any method with the reference
        if reference is None and not is_given:
            raise InputError(
                f"{next(iter(budget.given))} is of changes to the model before: give reference="
                ", or reference_logits or reference_probabilities to fit"
            )
        return
    if method.reference() is None and is_given:
        raise InputError(f"{name} looks at no reference: {LOOK_AT_ONE} do")
    if method.reference() is None and reference is not None and not is_labelling:
        warnings.warn(
            f"reference is not used: {name} looks at none; {LOOK_AT_ONE} do",
            RemarkWarning,
            stacklevel=levels_up(),
        )


def warn_if_large(inputs: Array) -> None:
    """Warn of large inputs to the user's own network, which are not scaled."""
    if inputs.size and (size := float(np.abs(inputs).max())) > LARGE:
        warnings.warn(
            f"X has numbers up to {size:.3g}, and a network of your own takes them as they are: "
            "scale them before, as by StandardScaler",
            RemarkWarning,
            stacklevel=levels_up(),
        )
