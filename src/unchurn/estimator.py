"""`StableClassifier`: any of the methods behind scikit-learn's interface."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Self

import numpy as np
import numpy.typing as npt
import torch
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from unchurn.arrays import Array, as_array
from unchurn.errors import InputError
from unchurn.files import atomic_write
from unchurn.methods import METHODS, Method, Reference, make_method
from unchurn.models import Factory, make_factory
from unchurn.progress import progress_bar
from unchurn.training import Fitted, Training, fit_run, score_distinct

FORMAT = "unchurn 1"  # of saved files


class StableClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A neural network trained so that retraining it moves its predictions less.

    Parameters
    ----------
    module
        "mlp", "lenet5", or a function (shape of an input, number of classes) -> `torch.nn.Module`
        that gives logits.
    method
        A name in `unchurn.METHODS`, at its default setting, or a method object such as
        `KnnLS(k=10, a=0.9, b=0.5)`; its parameters can be searched as `method__a`.
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
        method: str | Method = "knn_ls",
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
        X: npt.ArrayLike,
        y: npt.ArrayLike,
        sample_weight: npt.ArrayLike | None = None,
        *,
        reference_logits: npt.ArrayLike | None = None,
        reference_probabilities: npt.ArrayLike | None = None,
    ) -> Self:
        """Train on inputs (n, *shape) and n labels, integers or strings.

        What a model before says of these rows may be given as (n, L) logits or as probabilities,
        columns in the order of the sorted labels: anchor a release to the one it replaces.
        """
        inputs, labels = validate_data(self, X, y, dtype=np.float32, order="C", allow_nd=True)
        check_classification_targets(labels)
        self.classes_, numbers = np.unique(labels, return_inverse=True)
        if len(self.classes_) < 2:
            raise InputError("y has 1 class: at least 2 are needed")
        weights = None if sample_weight is None else _as_weights(sample_weight, len(inputs))
        method, factory = make_method(self.method), make_factory(self.module)
        logits = self._reference_logits(inputs, reference_logits, reference_probabilities)
        reference = None if logits is None else Reference(lambda: logits, numbers)
        training = Training(self.epochs, self.batch_size, self.learning_rate, device=self.device)
        extra_fit = method.uses_reference and logits is None
        n_epochs = self.epochs * (method.n_members + extra_fit)
        with progress_bar(f"fitting {method}", n_epochs, show=self.verbose) as advance:
            self.fitted_ = fit_run(
                method,
                factory,
                inputs,
                numbers,
                len(self.classes_),
                training=training,
                seed=_as_seed(self.random_state),
                weights=weights,
                reference=reference,
                on_epoch=lambda: advance(1),
            )
        self.shape_ = inputs.shape[1:]
        return self

    def predict_proba(self, X: npt.ArrayLike) -> npt.NDArray[np.float32]:
        """(n, L) probabilities, columns in the order of `classes_`."""
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
        from safetensors.torch import save_file

        check_is_fitted(self)
        method = self.fitted_.method
        names = {kind: name for name, kind in METHODS.items()}
        if type(method) not in names:
            raise InputError(f"only the methods of METHODS can be saved, not {method}")
        record = {
            "format": FORMAT,
            "module": self.module if isinstance(self.module, str) else None,
            "method": {"name": names[type(method)], "parameters": method.get_params()},
            "classes": self.classes_.tolist(),
            "shape": list(self.shape_),
        }
        tensors = {
            f"{member}.{net}.{name}": value.contiguous().cpu()
            for member, nets in enumerate(self.fitted_.members)
            for net, module in enumerate(nets)
            for name, value in module.state_dict().items()
        }
        with atomic_write(Path(path)) as temporary:
            save_file(tensors, temporary, metadata={"unchurn": json.dumps(record)})

    @classmethod
    def load(cls, path: str | Path, *, module: Factory | None = None) -> StableClassifier:
        """Read a saved model; of one with a network of your own, give the same `module` again."""
        from safetensors import SafetensorError, safe_open

        try:
            with safe_open(str(path), framework="pt") as file:
                record = json.loads((file.metadata() or {})["unchurn"])
                tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        except (SafetensorError, KeyError, ValueError) as error:
            raise InputError(f"{path}: not a saved StableClassifier") from error
        if record["format"] != FORMAT:
            raise InputError(f"{path}: saved in another format: {record['format']}")
        if module is None and record["module"] is None:
            raise InputError(f"{path}: holds a network of your own: give its module=")
        method = METHODS[record["method"]["name"]](**record["method"]["parameters"])
        model = cls(module or record["module"], method)
        model.classes_ = np.array(record["classes"])
        model.shape_ = tuple(record["shape"])
        model.n_features_in_ = model.shape_[0]
        factory = make_factory(model.module)
        members: list[list[torch.nn.Module]] = []
        for member in range(method.n_members):
            nets = [factory(model.shape_, len(model.classes_)) for _ in range(method.n_nets)]
            for number, net in enumerate(nets):
                prefix = f"{member}.{number}."
                state = {
                    n.removeprefix(prefix): t for n, t in tensors.items() if n.startswith(prefix)
                }
                try:
                    net.load_state_dict(state)
                except RuntimeError as error:
                    raise InputError(f"{path}: its weights do not fit this module") from error
            members.append([net.eval() for net in nets])
        model.fitted_ = Fitted(method, members)
        return model

    def _reference_logits(
        self, inputs: Array, logits: npt.ArrayLike | None, probabilities: npt.ArrayLike | None
    ) -> npt.NDArray[np.float32] | None:
        """The one reference that was given, if any, as logits in the order of `classes_`."""
        if sum(given is not None for given in (self.reference, logits, probabilities)) > 1:
            raise InputError(
                "give only one of reference, reference_logits and reference_probabilities"
            )
        if self.reference is not None:
            model = self.reference
            if not isinstance(model, StableClassifier):
                model = StableClassifier.load(model)
            check_is_fitted(model)
            if model.classes_.tolist() != self.classes_.tolist():
                raise InputError(
                    f"the reference knows the classes {model.classes_.tolist()}, "
                    f"not {self.classes_.tolist()}"
                )
            return score_distinct(model.fitted_, inputs)
        given = logits if logits is not None else probabilities
        if given is None:
            return None
        name = "reference_logits" if logits is not None else "reference_probabilities"
        array = as_array(given, name).astype(np.float32)
        shape = (len(inputs), len(self.classes_))
        if array.shape != shape or not np.isfinite(array).all():
            raise InputError(f"{name} must be finite numbers of shape {shape}, not {array.shape}")
        if logits is not None:
            return array
        if (array < 0).any() or not np.allclose(array.sum(axis=1), 1, atol=1e-3):
            raise InputError(f"{name} must be 0 or more and sum to 1 in every row")
        return np.asarray(np.log(array.clip(min=np.finfo(np.float32).tiny)), np.float32)

    def _inputs(self, X: npt.ArrayLike) -> npt.NDArray[np.float32]:
        """Check inputs to predict."""
        check_is_fitted(self)
        inputs: npt.NDArray[np.float32] = validate_data(
            self, X, dtype=np.float32, order="C", allow_nd=True, reset=False
        )
        if inputs.shape[1:] != self.shape_:
            raise InputError(f"X has inputs of shape {inputs.shape[1:]}, the model {self.shape_}")
        return inputs


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
