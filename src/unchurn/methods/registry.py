"""METHODS: all methods by name; and the parser of methods as text: `knn_ls(k=5, a=0.9)+ema`."""

from __future__ import annotations

import ast
import re
from typing import Any

import numpy as np

from unchurn.core.errors import InputError, unknown
from unchurn.methods.anchor import Anchor
from unchurn.methods.auto_ema import AutoEma
from unchurn.methods.bagging import Bagging
from unchurn.methods.base import Method
from unchurn.methods.bi_tempered import BiTempered
from unchurn.methods.codistill import CodistillCE, CodistillKL, CodistillSymmetric
from unchurn.methods.combination import combine
from unchurn.methods.control import Control
from unchurn.methods.decay import Decay
from unchurn.methods.distill import Distill
from unchurn.methods.early import Early
from unchurn.methods.elodi import Elodi
from unchurn.methods.ema import Ema
from unchurn.methods.ensemble import Ensemble
from unchurn.methods.focal import Focal
from unchurn.methods.knn_ls import KnnLS
from unchurn.methods.label_smoothing import LabelSmoothing
from unchurn.methods.longer import Longer
from unchurn.methods.lp_reg import L1Reg, L2Reg
from unchurn.methods.medoid import Medoid
from unchurn.methods.mixup import Mixup
from unchurn.methods.project import Project
from unchurn.methods.rcp import Rcp
from unchurn.methods.safe_ema import SafeEma
from unchurn.methods.smelu import Smelu
from unchurn.methods.stay import Stay
from unchurn.methods.swa import Swa
from unchurn.methods.twin import Twin
from unchurn.methods.warm_start import WarmStart
from unchurn.methods.weight_decay import WeightDecay

METHODS: dict[str, type[Method]] = {
    "control": Control,
    "label_smoothing": LabelSmoothing,
    "knn_ls": KnnLS,
    "anchor": Anchor,
    "l1_reg": L1Reg,
    "l2_reg": L2Reg,
    "bi_tempered": BiTempered,
    "codistill_ce": CodistillCE,
    "codistill_kl": CodistillKL,
    "mixup": Mixup,
    "ensemble": Ensemble,
    "ema": Ema,
    "decay": Decay,
    "safe_ema": SafeEma,
    "auto_ema": AutoEma,
    "swa": Swa,
    "smelu": Smelu,
    "early": Early,
    "weight_decay": WeightDecay,
    "bagging": Bagging,
    "distill": Distill,
    "elodi": Elodi,
    "medoid": Medoid,
    "twin": Twin,
    "codistill_symmetric": CodistillSymmetric,
    "rcp": Rcp,
    "focal": Focal,
    "warm_start": WarmStart,
    "project": Project,
    "stay": Stay,
    "longer": Longer,
}

# The default of `StableClassifier`, and the first that `bench` tries. It costs nothing, and with 20
# epochs it did no harm beyond chance on any table that was measured (docs/beyond.md).
DEFAULT = "weight_decay+safe_ema"
# What `upgrade` trains first (docs/upgrade.md). The first starts from the weights of a base that is
# the same network for the same classes, the second is for networks after any other base.
FROM_WEIGHTS = "weight_decay+warm_start+anchor(a=0.5)+safe_ema"
FROM_ANSWERS = "longer(times=2)+anchor(a=0.5)+safe_ema"
PLUS = "+"
NOT_IN_BRACKETS = r"(?![^()]*\))"


def make_method(method: str | Method) -> Method:
    """The method for a text such as "knn_ls(k=5)+ema"; an object as it is. Parameters are checked.

    >>> make_method("mixup(a=0.3)+ema")
    Combination(methods=(Mixup(a=0.3), Ema(decay=0.999)))
    """
    if isinstance(method, str):
        parts = [named_method(name, **given) for name, given in parse_method(method)]
        return combine(*parts)
    if not isinstance(method, Method):
        raise InputError(f"method must be a name or a Method, not {method!r}")
    method.check()
    return method


def parse_method(text: str) -> list[tuple[str, dict[str, Any]]]:
    """The names and parameters in a method's text.

    >>> parse_method("knn_ls(k=5, a=0.9)+ema")
    [('knn_ls', {'k': 5, 'a': 0.9}), ('ema', {})]
    """
    return [_parse_part(part) for part in re.split(rf"\{PLUS}{NOT_IN_BRACKETS}", text)]


def split_methods(text: str) -> list[str]:
    """The methods in a text that lists several, separated by commas.

    >>> split_methods("control, mixup(a=0.2)+ema")
    ['control', 'mixup(a=0.2)+ema']
    """
    return [part.strip() for part in re.split(rf",{NOT_IN_BRACKETS}", text)]


def named_method(name: str, **parameters: Any) -> Method:
    """The method with this name and parameters; not a combination."""
    if name not in METHODS:
        raise InputError(unknown("method", name, METHODS))
    known = METHODS[name]().get_params()
    if wrong := [p for p in parameters if p not in known]:
        raise InputError(f"{name}: {unknown('parameter', wrong[0], known)}")
    # NumPy's numbers become plain ones, so that a setting can be written down.
    plain = {p: v.item() if isinstance(v, np.generic) else v for p, v in parameters.items()}
    try:
        method = METHODS[name](**plain)
        method.check()
    except InputError as error:
        raise InputError(f"{name}: {error}") from error
    return method


def name_of(method: Method) -> str:
    """A method's name without parameters; for a user's own class, the class's name.

    >>> name_of(make_method("knn_ls+ema"))
    'knn_ls+ema'
    """
    names = {kind: name for name, kind in METHODS.items()}
    return PLUS.join(names.get(type(one), type(one).__name__) for one in method.combined)


def has_name(method: Method) -> bool:
    """Whether a method, or every one of a combination, is in METHODS, not the user's own class."""
    return all(type(one) in METHODS.values() for one in method.combined)


def written(method: Method) -> str:
    """A method as users write it, without default parameters; a user's own class by its `repr`.

    >>> written(make_method("anchor(a=0.8)+ema"))
    'anchor(a=0.8)+ema'
    """
    return PLUS.join(
        with_unusual(name, one.get_params()) if (name := name_of(one)) in METHODS else repr(one)
        for one in method.combined
    )


def with_all(method: Method) -> str:
    """A method as users write it, with all parameters, so that no search tries others.

    >>> with_all(make_method("smelu+ema"))
    'smelu(beta=1)+ema(decay=0.999)'
    """
    return PLUS.join(
        f"{name_of(one)}({_as_arguments(one.get_params())})" for one in method.combined
    )


def with_unusual(name: str, own: dict[str, Any]) -> str:
    """A method's name with the parameters that differ from their defaults.

    Parameters that follow from the length of the training are left out.
    """
    method = METHODS[name]()
    usual, short = method.get_params(), method.for_steps(1).get_params()
    # Leave out parameters that the training's length decides, unless they are searched.
    others = (p for p in own if p not in method.grid and short[p] == usual[p])
    unusual = {p: own[p] for p in (*method.grid, *others) if own[p] != usual[p]}
    return f"{name}({_as_arguments(unusual)})" if unusual else name


def _as_arguments(parameters: dict[str, Any]) -> str:
    return ", ".join(f"{name}={_as_code(value)}" for name, value in parameters.items())


def _as_code(value: Any) -> str:
    is_short = type(value) is float and float(f"{value:g}") == value
    return f"{value:g}" if is_short else repr(value)


def _parse_part(text: str) -> tuple[str, dict[str, Any]]:
    """The name and parameters of `mixup(a=0.2)`; values are Python literals."""
    found = re.fullmatch(r"\s*(\w+)\s*(?:\((.*)\))?\s*", text)
    if found is None:
        raise InputError(f"{text!r} is no method: write name, name(a=0.5) or name+name")
    name = found[1]
    try:
        return name, parse_values(found[2] or "")
    except ValueError as error:
        if name not in METHODS:
            raise InputError(unknown("method", name, METHODS)) from error
        example = with_all(METHODS[name]())
        raise InputError(f"{text!r}: parameters are written as in {example}") from error


def parse_values(text: str) -> dict[str, Any]:
    """Names and values of Python keyword arguments; ValueError for anything else.

    >>> parse_values("k=5, fixed_reference=True")
    {'k': 5, 'fixed_reference': True}
    """
    try:
        call = ast.parse(f"f({text})", mode="eval").body
    except SyntaxError as error:
        raise ValueError(text) from error
    if not isinstance(call, ast.Call) or call.args or None in (w.arg for w in call.keywords):
        raise ValueError(text)
    return {str(word.arg): ast.literal_eval(word.value) for word in call.keywords}
