"""`StableClassifier`: any of the methods behind scikit-learn's interface."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from unchurn.core.arrays import Array, as_array
from unchurn.core.errors import InputError
from unchurn.core.progress import progress_bar
from unchurn.datasets.base import Dataset
from unchurn.datasets.preparation import Preparation
from unchurn.datasets.table import as_frame, is_frame
from unchurn.methods import Method, Reference, make_method
from unchurn.methods.base import overrides
from unchurn.methods.cost import n_fits
from unchurn.methods.registry import name_of
from unchurn.training.config import Training
from unchurn.training.learners.base import RemarkWarning, score_distinct
from unchurn.training.loop import fit_run
from unchurn.training.networks import Factory, make_factory

LOOK_AT_ONE = "anchor, knn_ls, distill and elodi"


class StableClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A neural network trained so that retraining it moves its predictions less.

    Parameters
    ----------
    module
        "mlp", "lenet5", or a function (shape of an input, number of classes) -> `torch.nn.Module`
        that gives logits.
    method
        "safe_ema" (averaged weights, unless they lag behind the last) lowers churn at no cost and
        did no harm beyond chance on the tables of docs/beyond.md. Any name in
        `unchurn.METHODS`, with parameters and combined as one likes, such as "knn_ls(k=10)+ema"; or
        a method object such as `KnnLS(k=10, a=0.9, b=0.5)`. Its parameters can be searched as
        `method__a`, a combination's as `method__knn_ls__a`.
    epochs, batch_size, learning_rate
        Of Adam; the defaults are the paper's.
    reference
        For the methods that look at a model before (k-NN smoothing, anchor): a fitted
        StableClassifier, or the path of a saved one, such as the model now in production. If not
        given, here or in `fit`, a plain network is trained first.
    device
        Where to train, as torch names it.
    random_state
        Seed of all random numbers. Equal seeds give equal bits, on any number of cores.
    verbose
        Show progress on stderr.

    Attributes
    ----------
    classes_
        The labels, sorted.
    fitted_
        The trained networks.
    preparation_
        How the table of the dataset it was fitted to became inputs; else None.

    Notes
    -----
    Passes scikit-learn's `check_estimator` but for the equivalence of weights and repetitions:
    batches are drawn at random, and neighbours are counted without weights.

    Examples
    --------
    >>> import unchurn
    >>> data = unchurn.load("digits")
    >>> model = StableClassifier(method="label_smoothing", epochs=10, random_state=0)
    >>> model.fit(data.x_train, data.y_train).score(data.x_test, data.y_test) > 0.9
    True
    """

    def __init__(
        self,
        module: str | Factory = "mlp",
        method: str | Method = "safe_ema",
        *,
        epochs: int = 20,
        batch_size: int = 128,
        learning_rate: float = 0.001,
        reference: StableClassifier | str | Path | None = None,
        device: str = "cpu",
        random_state: int | np.random.RandomState | None = None,
        verbose: bool = False,
    ) -> None:
        self.module = module
        self.method = method
        self.epochs = epochs
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.reference = reference
        self.device = device
        self.random_state = random_state
        self.verbose = verbose

    def fit(
        self,
        X: npt.ArrayLike | Dataset,
        y: npt.ArrayLike | None = None,
        sample_weight: npt.ArrayLike | None = None,
        *,
        reference_logits: npt.ArrayLike | None = None,
        reference_probabilities: npt.ArrayLike | None = None,
    ) -> Self:
        """Train on inputs (n, *shape) and n labels, integers or strings.

        Or on the training part of a `Dataset`, given alone: the classes then have its names, and of
        a table of your own the model keeps how it was prepared, and takes frames of new rows.

        What a model before says of these rows may be given as (n, L) logits or as probabilities,
        columns in the order of the sorted labels: anchor a release to the one it replaces.
        """
        data = X if isinstance(X, Dataset) else None
        if data is not None and y is not None:
            raise InputError("a dataset has its own labels: give it alone")
        examples = (X, y) if data is None else (data.x_train, data.y_train)
        inputs, labels = validate_data(self, *examples, dtype=np.float32, order="C", allow_nd=True)
        check_classification_targets(labels)
        classes, numbers = np.unique(labels, return_inverse=True)
        if len(classes) < 2:
            raise InputError("y has 1 class: at least 2 are needed")
        if data is not None:
            classes = np.array(data.classes)[classes]  # in the data's order: 2 before 10
        preparation = None if data is None else data.preparation
        weights = None if sample_weight is None else _as_weights(sample_weight, len(inputs))
        method, factory = make_method(self.method), make_factory(self.module)
        logits, need = None, method.reference()
        if need is not None:
            given = (reference_logits, reference_probabilities)
            logits = self._reference_logits(inputs, classes, preparation, *given)
        elif reference_logits is not None or reference_probabilities is not None:
            raise InputError(f"{name_of(method)} looks at no reference: {LOOK_AT_ONE} do")
        elif self.reference is not None:
            warnings.warn(
                f"reference is not used: {name_of(method)} looks at none; {LOOK_AT_ONE} do",
                RemarkWarning,
                stacklevel=2,
            )
        reference = None if logits is None else Reference(lambda: logits, numbers)
        training = Training(self.epochs, self.batch_size, self.learning_rate, device=self.device)
        n_given = 0 if need is None or logits is None else need.m
        n_epochs = training.epochs * (n_fits(method) - n_given)
        with progress_bar(f"fitting {method}", n_epochs, show=self.verbose) as advance:
            fitted = fit_run(
                method,
                factory,
                inputs,
                numbers,
                len(classes),
                training=training,
                seed=_as_seed(self.random_state),
                weights=weights,
                reference=reference,
                on_epoch=lambda: advance(1),
            )
        # Only now, all together: an interrupted fit leaves the model as it was.
        self.fitted_, self.classes_, self.shape_ = fitted, classes, inputs.shape[1:]
        self.preparation_ = preparation
        return self

    def predict_proba(self, X: npt.ArrayLike) -> npt.NDArray[np.float32]:
        """(n, L) probabilities, columns in the order of `classes_`.

        Fitted to a table of your own, it takes inputs as they were prepared, or a frame of rows.
        """
        inputs = self._inputs(X)
        return self.fitted_.probabilities(inputs)

    def decision_function(self, X: npt.ArrayLike) -> npt.NDArray[np.float32]:
        """(n, L) logits; of two classes, (n,): the second's less the first's."""
        inputs = self._inputs(X)
        logits = self.fitted_.logits(inputs)
        return logits[:, 1] - logits[:, 0] if logits.shape[1] == 2 else logits

    def predict(self, X: npt.ArrayLike) -> Array:
        """The likeliest label of each row."""
        likeliest = self.predict_proba(X).argmax(axis=1)
        return np.asarray(self.classes_[likeliest])

    def save(self, path: str | Path) -> None:
        """Write the trained model to one safetensors file, all else as JSON in its header."""
        from unchurn.training.saving import save_model

        check_is_fitted(self)
        save_model(self, Path(path))

    @classmethod
    def load(cls, path: str | Path, *, module: Factory | None = None) -> StableClassifier:
        """Read a saved model; of one with a network of your own, give the same `module` again."""
        from unchurn.training.saving import load_model

        return load_model(cls, Path(path), module)

    def set_params(self, **params: Any) -> Self:
        """Set parameters; those of the method, such as `method__a`, also where it is a name."""
        if isinstance(self.method, str) and any(name.startswith("method__") for name in params):
            self.method = make_method(self.method)
        super().set_params(**params)
        return self

    def __sklearn_clone__(self) -> StableClassifier:
        """A clone, unfitted; but its reference is the same model, which must stay fitted."""
        parameters = self.get_params(deep=False)
        reference = parameters.pop("reference")
        cloned = {name: clone(value, safe=False) for name, value in parameters.items()}
        return type(self)(**cloned, reference=reference)

    def _reference_logits(
        self,
        inputs: Array,
        classes: Array,
        preparation: Preparation | None,
        logits: npt.ArrayLike | None,
        probabilities: npt.ArrayLike | None,
    ) -> npt.NDArray[np.float32] | None:
        """The one reference that was given, if any, as logits in the order of `classes`."""
        if sum(g is not None for g in (self.reference, logits, probabilities)) > 1:
            raise InputError(
                "give only one of reference, reference_logits and reference_probabilities"
            )
        if self.reference is not None:
            return _logits_of_model(self.reference, inputs, classes, preparation)
        given = logits if logits is not None else probabilities
        if given is None:
            return None
        name = "reference_logits" if logits is not None else "reference_probabilities"
        array = as_array(given, name).astype(np.float32)
        if name == "reference_logits" and array.ndim == 1 and len(classes) == 2:
            array = np.stack([np.zeros_like(array), array], axis=1)  # a margin, as ours is
        shape = (len(inputs), len(classes))
        if array.shape != shape or not np.isfinite(array).all():
            raise InputError(f"{name} must be finite numbers of shape {shape}, not {array.shape}")
        if logits is not None:
            return array
        if (array < 0).any() or not np.allclose(array.sum(axis=1), 1, atol=1e-3):
            raise InputError(
                f"{name} must be 0 or more and sum to 1 in every row (within 0.001: do not round)"
            )
        return _log(array)

    def _inputs(self, X: npt.ArrayLike) -> npt.NDArray[np.float32]:
        """Check inputs to predict; rows of a table are prepared first."""
        check_is_fitted(self)
        preparation = _preparation_of(self)
        prepared = X
        if preparation is not None and is_frame(X):
            prepared = preparation.transform(as_frame(X))
        inputs: npt.NDArray[np.float32] = validate_data(
            self, prepared, dtype=np.float32, order="C", allow_nd=True, reset=False
        )
        if inputs.shape[1:] != self.shape_:
            raise InputError(f"X has inputs of shape {inputs.shape[1:]}, the model {self.shape_}")
        return inputs


def _preparation_of(model: StableClassifier) -> Preparation | None:
    """How a fitted model's table is prepared; what was pickled before there was this has none."""
    preparation: Preparation | None = getattr(model, "preparation_", None)
    return preparation


def _logits_of_model(
    model: StableClassifier | str | Path,
    inputs: Array,
    classes: Array,
    preparation: Preparation | None,
) -> npt.NDArray[np.float32]:
    """What a model before says, as logits whose softmax is its probabilities."""
    if isinstance(model, str | Path):
        model = StableClassifier.load(model)
    if not isinstance(model, StableClassifier):
        raise InputError(
            "reference must be a StableClassifier or the path of a saved one, not "
            f"{type(model).__name__}: of other models give reference_probabilities to fit"
        )
    check_is_fitted(model)
    if model.classes_.tolist() != classes.tolist():
        raise InputError(
            f"the reference knows the classes {model.classes_.tolist()}, not {classes.tolist()}"
        )
    if model.shape_ != inputs.shape[1:]:
        raise InputError(f"the reference takes inputs of {model.shape_}, not {inputs.shape[1:]}")
    if preparation is not None and _preparation_of(model) not in (None, preparation):
        raise InputError(
            "the reference's table was prepared otherwise: give its reference_probabilities to fit"
        )
    if overrides(model.fitted_.method, "probabilities"):
        return _log(model.fitted_.probabilities(inputs))
    return score_distinct(model.fitted_, inputs)


def _log(probabilities: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    return np.asarray(np.log(probabilities.clip(min=np.finfo(np.float32).tiny)), np.float32)


def _as_weights(sample_weight: npt.ArrayLike, n: int) -> npt.NDArray[np.float32]:
    """Check weights of n examples."""
    weights = as_array(sample_weight, "sample_weight").astype(np.float32)
    if weights.shape != (n,):
        raise InputError(f"sample_weight must have shape ({n},), not {weights.shape}")
    if not np.isfinite(weights).all() or (weights < 0).any():
        raise InputError("sample_weight must be finite numbers of 0 or more")
    if not weights.any():
        raise InputError("Sample weights must contain at least one non-zero number.")
    return weights


def _as_seed(random_state: int | np.random.RandomState | None) -> int:
    """A seed for the streams; an integer is its own."""
    if isinstance(random_state, int | np.integer):
        return int(random_state)
    return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))
