"""`StableClassifier`: train a network by any method, with scikit-learn's interface."""

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
from unchurn.methods import Method, combine, make_method
from unchurn.methods.grid import as_written
from unchurn.methods.registry import DEFAULT, parse_method, written
from unchurn.metrics.budget import Budget
from unchurn.training.estimator.budget import Tried, choose_setting, seen_by_reference
from unchurn.training.estimator.checks import (
    as_seed,
    as_weights,
    check_reference,
    warn_if_large,
)
from unchurn.training.estimator.examples import Rows, checked_unlabelled
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
from unchurn.training.estimator.network_part import warn_of_other_network, ways_back
from unchurn.training.estimator.references import (
    Model,
    is_ours,
    needs_weights,
    open_model,
    said_by_one,
    warn_of_unknown,
    what_model_says,
)
from unchurn.training.estimator.scaling import Scaling, learn_scaling, scale, scaled
from unchurn.training.loop.config import Training
from unchurn.training.networks.factories import Factory, make_factory


class StableClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A neural network whose predictions change less when it is retrained.

    Parameters
    ----------
    module
        "mlp", "lenet5", or a function (shape of an input, number of classes) -> `torch.nn.Module`
        that returns logits.
    method
        A name in `unchurn.METHODS`, with or without parameters; several names joined by "+", such
        as "knn_ls(k=10)+ema"; or a method object such as `KnnLS(k=10, a=0.9, b=0.5)`. The default
        combines weight decay with averaged weights; it serves the last weights instead if the
        average lags behind them. It lowers churn at no cost and, with 20 epochs, did no harm beyond
        chance on the tables of docs/beyond.md. For shorter trainings "weight_decay+auto_ema" costs
        less accuracy on average. scikit-learn can search a method's parameters as `method__a`, and
        a combination's as `method__knn_ls__a`.
    epochs, batch_size, learning_rate
        Settings of the Adam optimiser; the defaults are the paper's. An epoch on few rows is only a
        step or two, so small tables may need more epochs.
    reference
        The older model, usually the one in production, for methods that look at one (`anchor`,
        `rcp`, `focal`, `warm_start`, `knn_ls` …). It is any fitted classifier with `predict_proba`
        and `classes_`, such as a pipeline or boosted trees, or the path of a saved
        StableClassifier. Classes are matched by name; it may lack some of them. If no reference is
        given here or in `fit`, a plain network is trained first and takes its place.
    max_bad_flips, max_churn
        A budget: the largest share of predictions that may turn from right to wrong, and that may
        change at all, compared with the reference. With a budget, the values in the method's grid
        are tried: "anchor+ema" tries those of both, "anchor(a=0.5)+ema" only those of `ema`, and a
        method object is tried as it is. Each setting is trained on four fifths of the rows and
        measured on the rest. The most accurate setting that keeps the budget is then trained on all
        rows; if none keeps it, the one that exceeds it least, with a warning. Another warning says
        if keeping the budget seems to cost accuracy. The budget may still be missed on new rows.
        Rows that the reference was trained on overstate bad flips, because it gets more of them
        right: see `reference_saw` in `fit`.
    device
        Where to train, as torch names it.
    random_state
        Seed of all random numbers. Equal seeds give bit-identical models on any number of cores.
    verbose
        Show progress on stderr.

    Attributes
    ----------
    classes_
        The labels, sorted.
    fitted_
        The trained networks.
    method_
        The method that was trained: the given one, or the setting that a budget chose.
    tried_
        The measures of each setting on held-out rows, if there was a budget; not saved.
    preparation_
        How a table's columns become inputs; None if the model was fitted to arrays or to a frame
        of plain numbers.
    n_features_in_, feature_names_in_
        The number of columns that the model was fitted to, and their names if a frame's names are
        all text. A frame to predict must have these columns, in any order, and may have others. For
        a prepared table, they are its columns before preparation.
    scaling_
        How raw inputs are scaled (see Notes); None if they are not.

    Notes
    -----
    Networks learn badly from numbers that are much larger or smaller than 1. The built-in networks
    ("mlp", "lenet5") therefore standardise columns of numbers, except columns of only 0 and 1, and
    standardise images as a whole if their pixels are far above 1. You need no scaler in front; one
    does no harm. The inputs of a `Dataset`, of a frame that was prepared, and of a network of your
    own are not scaled. A method that starts from a reference's weights uses the reference's
    scaling. You must still shift or shrink numbers that float32 cannot tell apart, such as times in
    seconds.

    The class passes scikit-learn's `check_estimator`, except that a weight of 2 is not equivalent
    to repeating a row: batches are drawn at random, and neighbours are counted without weights.

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
        """Train on labelled rows.

        Parameters
        ----------
        X, y
            Inputs `(n, *shape)` and n labels, integers or strings. Or a `Dataset` alone: the model
            is trained on its training part, and `classes_` are its `labels`. Or a Polars or pandas
            frame and the labels: a frame with text or gaps is prepared like a table (`load_table`),
            and the fitted model then takes frames of new rows. A column that cannot be a feature,
            such as a date, is an error. But if the `reference` is not a StableClassifier, and so
            reads the frame itself, the column is left out with a warning.
        sample_weight
            The weight of each row; all equal if not given.
        X_unlabelled
            More rows to train on. The `reference`'s probabilities are their targets.
        reference_logits, reference_probabilities
            The older model's predictions for X, instead of `reference`: (n, L), with columns in
            the order of the sorted labels.
        reference_saw
            True for each row that the older model was trained on. A budget counts bad flips only on
            the other rows, because the older model gets too many of its own training rows right. If
            not given, the last two fifths of the rows of each class are taken to be new to it.
        preparation
            How to prepare a frame. If not given, it is prepared as a StableClassifier given as
            `reference` prepares it; otherwise the preparation is learned from these rows.
        """
        data = X if isinstance(X, Dataset) else None
        if data is not None and not (y is None and preparation is None):
            raise InputError("a dataset has its own labels and preparation: give it alone")
        method, factory = make_method(self.method), make_factory(self.module)
        budget = Budget(max_bad_flips=self.max_bad_flips, max_churn=self.max_churn)
        given = (reference_logits, reference_probabilities)
        is_labelling = X_unlabelled is not None
        check_reference(self.reference, method, budget, *given, is_labelling=is_labelling)
        is_asked = method.reference() is not None or bool(budget.given)
        reference = open_model(self.reference, self.module) if is_asked or is_labelling else None
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
        said, x = None, X if data is None else data.x_train
        if is_asked:
            said = said_by_one(reference, x, inputs, classes, preparation, *given)
        why_not = ways_back(reference, said)
        if not budget.given and (reason := why_not(method)) is not None:
            raise InputError(f"{written(method)} {reason}")
        is_prepared = data is not None or preparation is not None
        scaling = self._scaling(method, inputs, reference, is_prepared=is_prepared)
        rows = Rows(
            inputs=scale(scaling, inputs),
            numbers=numbers,
            n_classes=len(classes),
            weights=None if sample_weight is None else as_weights(sample_weight, len(inputs)),
            said=said,
            saw=seen_by_reference(reference_saw, numbers, data),
        )
        if X_unlabelled is not None:
            more = checked_unlabelled(self, X_unlabelled, x, preparation, inputs.shape[1:])
            told = what_model_says(reference, X_unlabelled, more, classes, preparation)
            warn_of_unknown(told, classes)
            rows = rows.with_unlabelled(scale(scaling, more), told)
        training = Training(self.epochs, self.batch_size, self.learning_rate, device=self.device)
        seed = as_seed(self.random_state)
        fitting = Fitting(factory=factory, training=training, seed=seed, show=self.verbose)
        tried: tuple[Tried, ...] = ()
        if budget.given:
            method, tried = choose_setting(
                self.method, budget, rows=rows, n_labelled=len(inputs), fitting=fitting,
                why_not=why_not,
            )  # fmt: skip
        elif isinstance(self.method, str):
            suited = as_written(parse_method(self.method), fitting.n_steps(len(rows.inputs)))
            method = combine(*(one for _, one in suited))
        warn_of_other_network(reference, said, method)
        (fitted,) = fitting.fit([method], rows)
        # Only now, all together: an interrupted fit leaves the model as it was.
        self.fitted_, self.classes_, self.shape_ = fitted, classes, inputs.shape[1:]
        self.preparation_, self.scaling_, self.tried_ = preparation, scaling, tried
        remember_columns(self, x, preparation)
        return self

    @property
    def method_(self) -> Method:
        """The method that was trained."""
        return self.fitted_.method

    def predict_proba(self, X: npt.ArrayLike) -> npt.NDArray[np.float32]:
        """Probabilities (n, L), columns in the order of `classes_`.

        A model that was fitted to a prepared table takes a frame of rows or prepared inputs.
        """
        inputs = self._inputs(X)  # which checks first that it is fitted
        return self.fitted_.probabilities(inputs)

    def decision_function(self, X: npt.ArrayLike) -> npt.NDArray[np.float32]:
        """Logits (n, L); for two classes (n,), the second's logit minus the first's."""
        inputs = self._inputs(X)
        logits = self.fitted_.logits(inputs)
        return logits[:, 1] - logits[:, 0] if logits.shape[1] == 2 else logits

    def predict(self, X: npt.ArrayLike) -> Array:
        """The most probable label of each row."""
        likeliest = self.predict_proba(X).argmax(axis=1)
        return np.asarray(self.classes_[likeliest])

    def score(self, X: npt.ArrayLike | Dataset, y: Any = None, sample_weight: Any = None) -> float:
        """Accuracy on X and y, or on the test part of a `Dataset` that is given alone."""
        check_is_fitted(self)
        if isinstance(X, Dataset):
            return self.score(X.x_test, labels_of_test_part(X, self.classes_), sample_weight)
        is_of_table = getattr(self, "preparation_", None) is not None
        check_true_labels(y, self.classes_, is_of_table=is_of_table)
        return float(super().score(X, y, sample_weight))

    def save(self, path: str | Path) -> None:
        """Write the fitted model to one safetensors file.

        Everything but the weights is JSON in the file's header. The method must be in `METHODS`.
        """
        from unchurn.training.estimator.saving import save_model

        check_is_fitted(self)
        save_model(self, Path(path))

    @classmethod
    def load(cls, path: str | Path, *, module: Factory | None = None) -> StableClassifier:
        """Read a saved model; if its network is your own, give the same `module` again."""
        from unchurn.training.estimator.saving import load_model

        return load_model(cls, Path(path), module)

    def set_params(self, **params: Any) -> Self:
        """Set parameters, including those of a method that was given by name: `method__a`."""
        if any(name.startswith("method__") for name in params):
            self.method = make_method(params.pop("method", self.method))
        super().set_params(**params)
        return self

    def __sklearn_clone__(self) -> StableClassifier:
        """An unfitted clone that keeps the same reference, which must stay fitted."""
        parameters = self.get_params(deep=False)
        reference = parameters.pop("reference")
        cloned = {name: clone(value, safe=False) for name, value in parameters.items()}
        return type(self)(**cloned, reference=reference)

    def _scaling(
        self, method: Method, inputs: Array, reference: Model | None, *, is_prepared: bool
    ) -> Scaling | None:
        """How to scale inputs: like the reference, if training starts from its weights."""
        if is_ours(reference) and needs_weights(method):
            return getattr(reference, "scaling_", None)
        if callable(self.module) and not is_prepared:
            warn_if_large(inputs)
        return None if is_prepared or callable(self.module) else learn_scaling(inputs)

    def _inputs(self, X: npt.ArrayLike) -> npt.NDArray[np.float32]:
        """Checked and scaled inputs to predict; rows of a table are prepared first."""
        check_is_fitted(self)
        # Models pickled before `preparation_` existed have none.
        inputs = checked_inputs(self, X, getattr(self, "preparation_", None), self.shape_)
        return scaled(self, inputs)
