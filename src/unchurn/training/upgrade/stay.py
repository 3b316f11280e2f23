"""`Stay`: serve two models as one that keeps the old answer unless the new model is surer."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin

from unchurn.core.arrays import Array, Float64, as_array
from unchurn.core.errors import InputError
from unchurn.gate.stay import choose_ratio, served_probabilities


class Stay(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Serve two models as one: the base's answer, unless the new model is surer by a ratio.

    A model's doubt is 1 minus the probability of its own answer. If the two models disagree, the
    new answer is served if the base's doubt is more than `ratio` times the new model's. No training
    is needed, but both models must run for every prediction.

    Parameters
    ----------
    base, new
        The model in production and its replacement: fitted classifiers with `predict_proba` and
        `classes_`, such as scikit-learn's, boosted trees or `StableClassifier`. Classes are matched
        by name; a model gives probability 0 to a class that it does not know.
    ratio
        At 1 the surer model answers. Above 1 more of the base's answers are kept, at infinity all
        of them; at 0 the new model always answers. `choose` sets the ratio by a budget. The default
        of 2, unlike the method `stay`'s of 1, puts few bad flips before accuracy (docs/upgrade.md).

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.linear_model import LogisticRegression
    >>> x, y = load_digits(return_X_y=True)
    >>> base = LogisticRegression(max_iter=5000).fit(x[:300], y[:300])
    >>> new = LogisticRegression(max_iter=5000).fit(x[:1000], y[:1000])
    >>> model = Stay(base, new).choose(x[1000:1400], y[1000:1400], max_bad_flips=0.005)
    >>> model.score(x[1400:], y[1400:]) > base.score(x[1400:], y[1400:])
    True
    """

    def __init__(self, base: Any, new: Any, ratio: float = 2.0) -> None:
        self.base = base
        self.new = new
        self.ratio = ratio

    @property
    def classes_(self) -> Array:
        """The classes of both models, sorted."""
        return _all_classes(self._classes("base"), self._classes("new"))

    def choose(
        self,
        X: Any,
        y: npt.ArrayLike | None = None,
        *,
        max_bad_flips: float | None = None,
        max_churn: float | None = None,
    ) -> Self:
        """Set `ratio` to the one with the most accurate answers within a budget, on labelled rows.

        Use rows that neither model was trained on. The budget is kept exactly on these rows, and
        approximately on others. `y` may be left out if only `max_churn` is given.
        """
        if y is None and max_bad_flips is not None:
            raise InputError("max_bad_flips needs true labels: give y")
        classes = self.classes_
        labels = None if y is None else _numbers(as_array(y, "y"), classes)
        self.ratio = choose_ratio(
            *self._both(X, classes), labels, max_bad_flips=max_bad_flips, max_churn=max_churn
        )
        return self

    def predict_proba(self, X: Any) -> Float64:
        """Probabilities (n, L) of the model that answers, columns in the order of `classes_`."""
        return served_probabilities(*self._both(X, self.classes_), self.ratio)

    def predict(self, X: Any) -> Array:
        """The answer for each row."""
        likeliest = self.predict_proba(X).argmax(axis=1)
        return np.asarray(self.classes_[likeliest])

    def __sklearn_is_fitted__(self) -> bool:
        return all(hasattr(model, "classes_") for model in (self.base, self.new))

    def __sklearn_clone__(self) -> Stay:
        """A clone with the same two models, which must stay fitted."""
        return type(self)(**self.get_params(deep=False))

    def _classes(self, which: str) -> Array:
        """The classes of one of the models."""
        model = getattr(self, which)
        if not (hasattr(model, "classes_") and hasattr(model, "predict_proba")):
            kind = type(model).__name__
            raise InputError(f"{which} must be fitted and have predict_proba, not a {kind}")
        return np.asarray(model.classes_)

    def _both(self, X: Any, classes: Array) -> tuple[Float64, Float64]:
        """Both models' probabilities, with a column for every class of either."""

        def of(which: str) -> Float64:
            said = as_array(getattr(self, which).predict_proba(X), which)
            own = self._classes(which)
            if said.ndim != 2 or said.shape[1] != len(own):
                raise InputError(f"{which} has {len(own)} classes, and probabilities {said.shape}")
            found = np.zeros((len(said), len(classes)))
            found[:, _numbers(own, classes)] = said
            return found

        return of("base"), of("new")


def _all_classes(base: Array, new: Array) -> Array:
    """The classes of both, sorted; InputError if one has text and the other numbers."""
    if (base.dtype.kind in "OUS") != (new.dtype.kind in "OUS"):
        raise InputError(f"base has the classes {base.tolist()}, new {new.tolist()}")
    return np.unique(np.concatenate([base, new]))


def _numbers(labels: Array, classes: Array) -> npt.NDArray[np.intp]:
    """Labels as positions in the sorted classes."""
    if (labels.dtype.kind in "OUS") != (classes.dtype.kind in "OUS"):
        raise InputError(f"labels such as {labels.tolist()[:1]} for classes {classes.tolist()}")
    found = np.searchsorted(classes, labels).clip(max=len(classes) - 1)
    unknown = classes[found] != labels
    if unknown.any():
        row = int(unknown.argmax())
        raise InputError(f"no model knows the class {labels[row].item()!r} of row {row}")
    return found
