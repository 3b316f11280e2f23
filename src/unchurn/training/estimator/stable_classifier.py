"""`StableClassifier`: any of the methods behind scikit-learn's interface."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.validation import check_is_fitted

from unchurn.core.arrays import Array
from unchurn.core.errors import InputError
from unchurn.datasets.base import Dataset
from unchurn.datasets.preparation import Preparation
from unchurn.methods import Method, make_method
from unchurn.methods.registry import DEFAULT
from unchurn.metrics.budget import Budget
from unchurn.training.estimator.budget import Tried, choose_setting
from unchurn.training.estimator.checks import (
    as_mask,
    as_seed,
    as_weights,
    check_reference,
    warn_if_large,
)
from unchurn.training.estimator.examples import Rows
from unchurn.training.estimator.fitting import Fitting
from unchurn.training.estimator.frames import check_preparation, learn_preparation, prepared
from unchurn.training.estimator.inputs import checked_examples, checked_inputs, remember_columns
from unchurn.training.estimator.labels import (
    check_classes,
    check_no_gaps,
    check_true_labels,
    labels_of_test_part,
    warn_of_labels_in,
)
from unchurn.training.estimator.references import (
    Model,
    is_ours,
    needs_weights,
    open_model,
    said_by_one,
    what_model_says,
)
from unchurn.training.estimator.scaling import Scaling, learn_scaling, scale, scaled
from unchurn.training.loop.config import Training
from unchurn.training.networks.factories import Factory, make_factory


class StableClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A neural network trained so that retraining it moves its predictions less.

    Parameters
    ----------
    module
        "mlp", "lenet5", or a function (shape of an input, number of classes) -> `torch.nn.Module`
        that gives logits.
    method
        The default, weight decay and averaged weights (unless these lag behind the last), lowers
        churn at no cost and, with 20 epochs, did no harm beyond chance on the tables of
        docs/beyond.md; where training is shorter, "weight_decay+auto_ema" costs less accuracy on
        average. Any name in
        `unchurn.METHODS`, with parameters and combined as one likes, such as "knn_ls(k=10)+ema"; or
        a method object such as `KnnLS(k=10, a=0.9, b=0.5)`. Its parameters can be searched as
        `method__a`, a combination's as `method__knn_ls__a`.
    epochs, batch_size, learning_rate
        Of Adam; the defaults are the paper's. An epoch of few rows is a step or two: try more
        epochs there.
    reference
        The model before, as now in production, for the methods that look at one (`anchor`, `rcp`,
        `focal`, `warm_start`, `knn_ls` …): anything fitted with `predict_proba` and `classes_`, as
        a pipeline or boosted trees, or the path of a saved StableClassifier. Classes are matched by
        name; it may lack some. If not given, here or in `fit`, a plain network is trained first.
    max_bad_flips, max_churn
        A budget: the most predictions that may turn from right to wrong, and that may change at
        all, against the reference, as shares. The settings of the method are then tried, its grid
        but for what is written (of "anchor+ema" all, of "anchor(a=0.5)+ema" those of `ema`; a
        method object is one), each trained on four fifths of the rows and measured on the others.
        The most accurate that keeps the budget is trained on all rows; where none does, what
        exceeds it least, with a warning. Where keeping it seems to cost accuracy, a warning says
        so. On other rows it may be missed, as by any choice; of rows that the reference was
        trained on, it has more right, and bad flips look more.
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
    method_
        The method that was trained: the one that was given, or its setting that a budget chose.
    tried_
        What was measured of each setting on the rows held out, if there is a budget, or by
        `upgrade`; not saved.
    preparation_
        How the table that it was fitted to became inputs; None of arrays and plain numbers.
    n_features_in_, feature_names_in_
        How many columns it was fitted to, and their names where a frame's are all text: frames to
        predict need them in any order, and may have more. Of a table those it is prepared from.
    scaling_
        How raw inputs are scaled (below); None where they are taken as they are.

    Notes
    -----
    Networks learn badly from numbers of other sizes than 1. The networks of ours ("mlp", "lenet5")
    take columns of numbers standardised, but for those of nothing but 0 and 1, and images as a
    whole if their pixels are far above 1; a scaler before it is not needed, nor does one harm. The
    inputs of a `Dataset`, and all inputs of a network of your own are taken as they are. What
    starts from the weights of a `reference` scales as that does. Numbers that
    float32 does not tell apart, as times in seconds, are still to be made smaller before.

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
        method: str | Method = DEFAULT,
        *,
        epochs: int = 20,
        batch_size: int = 128,
        learning_rate: float = 0.001,
        reference: Model | None = None,
        max_bad_flips: float | None = None,
        max_churn: float | None = None,
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
        self.max_bad_flips = max_bad_flips
        self.max_churn = max_churn
        self.device = device
        self.random_state = random_state
        self.verbose = verbose

    def fit(
        self,
        X: npt.ArrayLike | Dataset,
        y: npt.ArrayLike | None = None,
        sample_weight: npt.ArrayLike | None = None,
        *,
        X_unlabelled: npt.ArrayLike | None = None,
        reference_logits: npt.ArrayLike | None = None,
        reference_probabilities: npt.ArrayLike | None = None,
        reference_saw: npt.ArrayLike | None = None,
        preparation: Preparation | None = None,
    ) -> Self:
        """Train on inputs `(n, *shape)` and n labels, integers or strings.

        Or on the training part of a `Dataset`, given alone: the classes then are its `labels`. Or
        on a Polars or pandas frame: one with text or gaps is prepared as a table is (`load_table`),
        by what is learned from these rows, by how a `reference` of ours prepares it, or by a
        `preparation` that is given. A column that cannot be a feature, as a date, is refused; where
        a `reference` of another kind takes the frame as it is, it is left out, with a warning. What
        was fitted to a table takes frames of new rows.

        What a model before says of these rows may be given as (n, L) logits or as probabilities,
        columns in the order of the sorted labels: anchor a release to the one it replaces. Rows
        without labels, `X_unlabelled`, are trained on with what the `reference` says of them.
        `reference_saw`, true for rows that the model before was trained on, lets bad flips be
        counted on the others: of what it knows by heart it has too much right. If it is not given,
        the last two fifths of the rows are taken for those.
        """
        data = X if isinstance(X, Dataset) else None
        if data is not None and y is not None:
            raise InputError("a dataset has its own labels: give it alone")
        method, factory = make_method(self.method), make_factory(self.module)
        budget = Budget(max_bad_flips=self.max_bad_flips, max_churn=self.max_churn)
        given = (reference_logits, reference_probabilities)
        is_labelling = X_unlabelled is not None
        check_reference(self.reference, method, budget, *given, is_labelling=is_labelling)
        is_asked = method.reference() is not None or bool(budget.given)
        is_used = is_asked or is_labelling
        reference = open_model(self.reference, self.module) if is_used else None
        if data is None:
            check_preparation(preparation, X)
            preparation = preparation or learn_preparation(
                X, reference, needs_weights=needs_weights(method)
            )
            check_no_gaps(y)
            examples = prepared(X, preparation), y
        else:
            preparation, examples = data.preparation, (data.x_train, data.y_train)
        inputs, labels = checked_examples(self, *examples, preparation)
        check_classes(labels)
        warn_of_labels_in(X, labels)
        classes, numbers = np.unique(labels, return_inverse=True)
        if len(classes) < 2:
            raise InputError("y has 1 class: at least 2 are needed")
        if data is not None:
            classes = data.labels[classes]  # in the data's order: 2 before 10
        said = None
        if is_asked:
            x = X if data is None else data.x_train
            said = said_by_one(reference, x, inputs, classes, preparation, *given)
        if X_unlabelled is not None:
            more = checked_inputs(self, X_unlabelled, preparation, inputs.shape[1:])
            told = what_model_says(reference, X_unlabelled, more, classes, preparation)
        is_prepared = data is not None or preparation is not None
        scaling = self._scaling(method, inputs, reference, is_prepared=is_prepared)
        saw = reference_saw
        if saw is not None:
            saw = as_mask(saw, len(inputs), "reference_saw")
        rows = Rows(
            inputs=scale(scaling, inputs),
            numbers=numbers,
            n_classes=len(classes),
            weights=None if sample_weight is None else as_weights(sample_weight, len(inputs)),
            said=said,
            saw=saw,
        )
        if X_unlabelled is not None:
            rows = rows.with_unlabelled(scale(scaling, more), told)
        training = Training(self.epochs, self.batch_size, self.learning_rate, device=self.device)
        seed = as_seed(self.random_state)
        fitting = Fitting(factory=factory, training=training, seed=seed, show=self.verbose)
        tried: tuple[Tried, ...] = ()
        if budget.given:
            method, tried = choose_setting(
                self.method, budget, rows=rows, n_labelled=len(inputs), fitting=fitting
            )
        (fitted,) = fitting.fit([method], rows)
        # Only now, all together: an interrupted fit leaves the model as it was.
        self.fitted_, self.classes_, self.shape_ = fitted, classes, inputs.shape[1:]
        self.preparation_, self.scaling_, self.tried_ = preparation, scaling, tried
        remember_columns(self, X, preparation)
        return self

    @property
    def method_(self) -> Method:
        """The method that was trained."""
        return self.fitted_.method

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

    def score(self, X: npt.ArrayLike | Dataset, y: Any = None, sample_weight: Any = None) -> float:
        """Accuracy; of a `Dataset`, given alone, on its test part."""
        check_is_fitted(self)
        if isinstance(X, Dataset):
            return self.score(X.x_test, labels_of_test_part(X, self.classes_), sample_weight)
        is_of_table = getattr(self, "preparation_", None) is not None
        check_true_labels(y, self.classes_, is_of_table=is_of_table)
        return float(super().score(X, y, sample_weight))

    def save(self, path: str | Path) -> None:
        """Write the trained model to one safetensors file, all else as JSON in its header."""
        from unchurn.training.estimator.saving import save_model

        check_is_fitted(self)
        save_model(self, Path(path))

    @classmethod
    def load(cls, path: str | Path, *, module: Factory | None = None) -> StableClassifier:
        """Read a saved model; of one with a network of your own, give the same `module` again."""
        from unchurn.training.estimator.saving import load_model

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

    def _scaling(
        self, method: Method, inputs: Array, reference: Model | None, *, is_prepared: bool
    ) -> Scaling | None:
        """How inputs are scaled: as the reference's are, where training starts from its weights."""
        if is_ours(reference) and needs_weights(method):
            return getattr(reference, "scaling_", None)
        if callable(self.module) and not is_prepared:
            warn_if_large(inputs)
        return None if is_prepared or callable(self.module) else learn_scaling(inputs)

    def _inputs(self, X: npt.ArrayLike) -> npt.NDArray[np.float32]:
        """Check inputs to predict; rows of a table are prepared first."""
        check_is_fitted(self)
        # What was pickled before models had a preparation has none.
        inputs = checked_inputs(self, X, getattr(self, "preparation_", None), self.shape_)
        return scaled(self, inputs)
