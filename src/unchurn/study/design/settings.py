"""`Setting`: a method with the parameters that were asked for."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import MISSING, dataclass, fields
from typing import Any

import numpy as np

from unchurn.core.errors import InputError
from unchurn.methods import METHODS, Method, combine
from unchurn.methods.cost import serving_cost
from unchurn.methods.registry import (
    PLUS,
    name_of,
    named_method,
    parse_method,
    split_methods,
    with_unusual,
)
from unchurn.study.scenarios import Scenario, make_scenario


@dataclass(frozen=True)
class Setting:
    """A method by name, such as `knn_ls+ema`, with its parameters."""

    name: str
    method: Method

    @property
    def text(self) -> str:
        """The parameters, such as `k=10 a=0.9 b=0.5`; those of a combination in turn.

        A parameter name that two methods share is prefixed by the method's name.

        >>> make_setting("warm_start+anchor(a=0.5)+ema").text
        'warm_start.a=1 + anchor.a=0.5 + decay=0.999'
        """
        each = [(name_of(one), _shown(one)) for one in self.method.combined]
        often = Counter(key for _, shown in each for key in shown)
        texts = [
            " ".join(
                f"{f'{name}.' if often[key] > 1 else ''}{key}={_written(value)}"
                for key, value in shown.items()
            )
            for name, shown in each
        ]
        return f" {PLUS} ".join(text for text in texts if text)

    @property
    def parameters(self) -> dict[str, Any]:
        """Parameters with a grid, and others if not default; in a combination as `knn_ls__a`."""
        if len(self.method.combined) == 1:
            return _shown(self.method)
        return {
            f"{name_of(one)}__{key}": value
            for one in self.method.combined
            for key, value in _shown(one).items()
        }

    def facts(self, scenario: str | Scenario = "retrain") -> SettingFacts:
        """The setting as results describe it, with its costs in a scenario."""
        scenario = make_scenario(scenario)
        return SettingFacts(
            name=self.name,
            text=self.text,
            parameters=self.parameters,
            methods=tuple(plain_parameters(one) for one in self.method.combined),
            n_models=serving_cost(self.method),
            n_trained=scenario.training_cost(self.method),
            note=scenario.note_on(self.method) or "",
        )


Methods = str | Sequence[str | Method | Setting] | None


@dataclass(frozen=True, kw_only=True)
class SettingFacts:
    """A setting as results describe it; without the method itself, which may be the user's code."""

    name: str
    text: str
    parameters: dict[str, Any]  # shown to readers
    methods: tuple[dict[str, Any], ...]  # all parameters of each combined method
    n_models: int  # networks that serve; plain training has 1
    n_trained: int = 1  # networks that a run trains; plain training has 1
    note: str = ""

    @property
    def written(self) -> str:
        """The setting as a user writes it, without default or length-dependent parameters.

        >>> make_setting("focal(tau=5)+ema").facts().written
        'focal(tau=5)+ema'
        """
        names = self.name.split(PLUS)
        if any(name not in METHODS for name in names):  # the user's own, of unknown defaults
            return f"{self.name} {self.text}".strip()
        each = zip(names, self.methods, strict=True)
        return PLUS.join(with_unusual(name, own) for name, own in each)


def listed(methods: Methods) -> Sequence[str | Method | Setting] | None:
    """The methods as a list; a text is split at its commas, and None stands for a preset's."""
    if isinstance(methods, str):
        return split_methods(methods)
    if not isinstance(methods, Collection | None):
        raise InputError(f"methods must be a text or a list, not {methods!r}")
    return None if methods is None else list(methods)


def make_setting(name: str, **parameters: Any) -> Setting:
    """A setting from a method's name and parameters, or as written: "knn_ls(k=5)+ema".

    >>> make_setting("knn_ls", k=5).text
    'k=5 a=0.1 b=0.1'
    """
    written = parse_method(name)
    if parameters and len(written) > 1:
        raise InputError(f"write a combination's parameters in it: {written[0][0]}(…)+…")
    methods = [(part, named_method(part, **{**given, **parameters})) for part, given in written]
    return combined_setting(methods)


def combined_setting(methods: list[tuple[str, Method]]) -> Setting:
    """Combine named methods into one setting."""
    name = PLUS.join(name for name, _ in methods)
    return Setting(name, combine(*(method for _, method in methods)))


def plain_parameters(method: Method) -> dict[str, Any]:
    """All parameters as plain values, for a run's identity; InputError if one is not plain."""
    plain = {
        p: v.item() if isinstance(v, np.generic) else v for p, v in method.get_params().items()
    }
    for name, value in plain.items():
        if not isinstance(value, str | int | float | bool | None):
            raise InputError(
                f"{name} of {type(method).__name__} must be a number, a text or a boolean, not "
                f"{type(value).__name__}"
            )
        if isinstance(value, float) and not math.isfinite(value):
            raise InputError(f"{name} of {type(method).__name__} must be finite, not {value}")
    return plain


def _shown(method: Method) -> dict[str, Any]:
    """The parameters shown to readers: those with a grid, then others that are not default."""
    mine = plain_parameters(method)
    usual = {f.name: f.default for f in fields(method) if f.default is not MISSING}
    named = [*method.grid, *(p for p in mine if p not in method.grid)]
    return {p: mine[p] for p in named if p in method.grid or mine[p] != usual.get(p, MISSING)}


def _written(value: Any) -> str:
    """A parameter's value, as short as possible without loss."""
    if isinstance(value, str | None):
        return str(value)
    return f"{value:g}" if float(f"{value:g}") == value else repr(value)
