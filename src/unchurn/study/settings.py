"""Settings: a method with its parameters; and the presets that list the settings to try."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from unchurn.core.errors import InputError
from unchurn.methods import METHODS, Method
from unchurn.paper.published import published

PRESETS = ("quick", "paper", "grid")
# Steps that the paper's MNIST training takes: warm-ups keep their share of it in shorter trainings.
PAPERS_STEPS = 20 * 469


@dataclass(frozen=True)
class Setting:
    """A method by name, with the parameters that were asked for."""

    name: str
    method: Method

    @property
    def text(self) -> str:
        """The parameters that make this setting, such as `k=10 a=0.9 b=0.5`."""
        return " ".join(f"{key}={value:g}" for key, value in self.parameters.items())

    @property
    def parameters(self) -> dict[str, Any]:
        """Those of the paper, and others where they are not at their default."""
        mine, usual = self.method.get_params(), type(self.method)().get_params()
        named = [*self.method.grid, *(p for p in mine if p not in self.method.grid)]
        return {p: mine[p] for p in named if p in self.method.grid or mine[p] != usual[p]}


def make_setting(name: str, **parameters: Any) -> Setting:
    """A setting by a method's name."""
    if name not in METHODS:
        raise InputError(f"no method {name!r}: there are {', '.join(METHODS)}")
    known = METHODS[name]().get_params()
    if unknown := [p for p in parameters if p not in known]:
        allowed = ", ".join(known) or "none"
        raise InputError(f"{name} has no parameter {unknown[0]!r}: it has {allowed}")
    # NumPy's numbers become plain ones, so that a setting can be written down.
    plain = {p: v.item() if isinstance(v, np.generic) else v for p, v in parameters.items()}
    return Setting(name, METHODS[name](**plain))


def preset_settings(
    preset: str, dataset: str, n_steps: int, methods: Sequence[str] | None = None
) -> tuple[Setting, ...]:
    """The settings of a preset: one per method, the paper's choice, or all that the paper tried."""
    if preset not in PRESETS:
        raise InputError(f"no preset {preset!r}: there are {', '.join(PRESETS)}")
    names = list(METHODS if methods is None else dict.fromkeys(methods))
    if not names:
        raise InputError("methods is empty")
    if preset == "paper":
        return tuple(_papers_choice(name, dataset) for name in names)
    settings: Iterable[Setting]
    if preset == "quick":
        settings = [make_setting(name) for name in names]
    else:
        settings = [
            make_setting(name, **dict(zip(METHODS[name].grid, values, strict=True)))
            for name in names
            if name in METHODS or make_setting(name)
            for values in product(*METHODS[name].grid.values())
        ]
    shortened = [_with_shorter_warm_up(setting, n_steps) for setting in settings]
    return tuple({(setting.name, setting.text): setting for setting in shortened}.values())


def _papers_choice(name: str, dataset: str) -> Setting:
    """The setting that the paper reports for a dataset."""
    row = published().get((dataset, name))
    if row is None:
        make_setting(name)  # says so if there is no such method at all
        known = ", ".join(sorted({dataset for dataset, _ in published()}))
        raise InputError(f"the paper has no setting for {dataset}; it has for {known}")
    return make_setting(name, **row.parameters)


def _with_shorter_warm_up(setting: Setting, n_steps: int) -> Setting:
    """Scale n_warm to a training that is shorter than the paper's."""
    n_warm = setting.method.get_params().get("n_warm")
    if n_warm is None or n_steps >= PAPERS_STEPS:
        return setting
    scaled = round(n_warm * n_steps / PAPERS_STEPS)
    return make_setting(setting.name, **{**setting.method.get_params(), "n_warm": scaled})
