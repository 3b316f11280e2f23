"""Save and load models as one safetensors file, with all but the weights as JSON in its header."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from unchurn.core.arrays import Array
from unchurn.core.errors import InputError
from unchurn.core.files import atomic_write, reading
from unchurn.datasets.preparation import Preparation
from unchurn.methods import METHODS, Method, combine
from unchurn.methods.registry import PLUS, name_of
from unchurn.training.estimator.scaling import Scaling
from unchurn.training.loop.determinism import own_randomness
from unchurn.training.loop.fit import Fitted
from unchurn.training.networks.factories import Factory, make_factory

if TYPE_CHECKING:
    from unchurn.training.estimator.stable_classifier import StableClassifier

FORMAT = "unchurn 1"
SAVED = ("epochs", "batch_size", "learning_rate")  # saved although predicting does not need them


class OwnNetworkError(InputError):
    """A saved model has the user's own network, which only the user's code can make."""


def save_model(model: StableClassifier, path: Path) -> None:
    """Write a fitted model."""
    from safetensors.torch import save_file

    record = {
        "format": FORMAT,
        "module": model.module if isinstance(model.module, str) else None,
        "method": _method_record(model.fitted_.method),
        "training": {name: getattr(model, name) for name in SAVED},
        "classes": _plain(model.classes_),
        "dtype": str(model.classes_.dtype),
        "shape": list(model.shape_),
        "features": list(getattr(model, "feature_names_in_", [])),
    }
    if preparation := getattr(model, "preparation_", None):
        record["preparation"] = preparation.to_plain()
    if scaling := getattr(model, "scaling_", None):
        record["scaling"] = scaling.to_plain()
    tensors = {
        f"{member}.{net}.{name}": value.detach().cpu().clone(memory_format=torch.contiguous_format)
        for member, nets in enumerate(model.fitted_.members)
        for net, module in enumerate(nets)
        for name, value in module.state_dict().items()
    }
    text = json.dumps(record, default=lambda value: value.item())  # NumPy's numbers
    with atomic_write(path) as temporary:
        save_file(tensors, temporary, metadata={"unchurn": text})


def load_model(
    kind: type[StableClassifier], path: Path, module: Factory | None
) -> StableClassifier:
    """Read a model; `module` makes its network if that is the user's own."""
    from safetensors import safe_open

    with reading(path, "a saved StableClassifier"):
        with safe_open(str(path), framework="pt") as file:
            record = json.loads((file.metadata() or {})["unchurn"])
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        if record["format"] != FORMAT:
            raise InputError(f"{path}: saved in another format: {record['format']}")
        own = record["module"] or module
        if own is None:
            raise OwnNetworkError(f"{path}: holds a network of your own: give its module=")
        method = _recorded_method(record["method"])
        training = {name: record["training"][name] for name in SAVED}
        model = kind(own, method, **training)
        dtype = record["dtype"]
        model.classes_ = np.array(record["classes"], None if dtype == "object" else dtype)
        model.shape_ = tuple(record["shape"])
        model.n_features_in_ = model.shape_[0]
        if record["features"]:  # older files of models of tables have none
            model.feature_names_in_ = np.array(record["features"], object)
        model.preparation_ = None
        model.scaling_ = None
        model.tried_ = ()
        if "preparation" in record:
            model.preparation_ = Preparation.from_plain(record["preparation"])
            model.n_features_in_ = len(model.preparation_.names)
        _check_saved(model)
        if "scaling" in record:
            model.scaling_ = Scaling.from_plain(record["scaling"], model.shape_)
        with own_randomness("cpu"):  # factories draw weights that are not needed
            members = _rebuild(model, method, tensors)
        model.fitted_ = Fitted(method, members)
    return model


def _plain(classes: Array) -> list[Any]:
    """Classes as JSON can hold them: dates become text, which NumPy converts back."""
    plain: list[Any] = (classes.astype(str) if classes.dtype.kind == "M" else classes).tolist()
    return plain


def _method_record(method: Method) -> dict[str, Any]:
    """A method's name and parameters as JSON; for a combination, a list with those of each."""
    for one in method.combined:
        if type(one) not in METHODS.values():
            raise InputError(f"only the methods of METHODS can be saved, not {one}")
    parameters = [one.get_params() for one in method.combined]
    alone = len(parameters) == 1
    return {"name": name_of(method), "parameters": parameters[0] if alone else parameters}


def _recorded_method(record: dict[str, Any]) -> Method:
    """The method of a record."""
    given = record["parameters"]
    parameters = given if isinstance(given, list) else [given]
    names = record["name"].split(PLUS)
    return combine(*(METHODS[n](**own) for n, own in zip(names, parameters, strict=True)))


def _check_saved(model: StableClassifier) -> None:
    """Refuse values that no saved model can have."""
    classes, shape = model.classes_, model.shape_
    if classes.ndim != 1 or len(classes) < 2 or len(np.unique(classes)) < len(classes):
        raise InputError("its classes are not two or more distinct labels")
    if not shape or not all(isinstance(side, int) and 0 < side < 10**6 for side in shape):
        raise InputError(f"its shape of an input is {shape}")
    if model.preparation_ is not None and (model.preparation_.width,) != shape:
        raise InputError(f"its preparation gives {model.preparation_.width} inputs, not {shape}")
    names = getattr(model, "feature_names_in_", None)
    if names is not None and len(names) != model.n_features_in_:
        raise InputError(f"it names {len(names)} features, and takes {model.n_features_in_}")


def _rebuild(
    model: StableClassifier, method: Method, tensors: dict[str, torch.Tensor]
) -> list[list[torch.nn.Module]]:
    """The networks of a saved model."""
    factory = make_factory(model.module)
    members = []
    for number, member in enumerate(method.members()):
        made = (factory(model.shape_, len(model.classes_)) for _ in range(member.n_nets))
        nets = [member.adapt(net) for net in made]
        for position, net in enumerate(nets):
            _restore(net, f"{number}.{position}.", tensors)
        members.append([net.eval() for net in nets])
    return members


def _restore(net: torch.nn.Module, prefix: str, tensors: dict[str, torch.Tensor]) -> None:
    """Give a network its saved weights."""
    state = {n.removeprefix(prefix): t for n, t in tensors.items() if n.startswith(prefix)}
    try:
        net.load_state_dict(state)
    except RuntimeError as error:
        raise InputError("its weights do not fit this module") from error
    for name, weights in net.named_parameters():
        if not weights.isfinite().all():
            raise InputError(f"its weights {prefix}{name} are not finite numbers")
