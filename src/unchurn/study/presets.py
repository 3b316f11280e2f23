"""Presets: which settings of each method a study tries.

Those of other rooms and packages are found by the entry point `unchurn.presets`, so that a study
knows nothing of them: the paper's choices are one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from importlib.metadata import entry_points
from itertools import product
from typing import Any

from unchurn.core.errors import InputError
from unchurn.methods import METHODS, Method
from unchurn.methods.registry import make_method, named_method, parse_method
from unchurn.study.settings import Setting, combined_setting

# (methods as they were written, or None for those it has; the dataset's name; the steps of a
# training, if it has any) -> settings
Preset = Callable[[Sequence[str] | None, str, int | None], Sequence[Setting]]


# What is tried where no method is named: docs/beyond.md shows why these. Ensembles come last, of
# the others the cheapest first.
QUICK = ("control", "safe_ema", "codistill_symmetric+safe_ema", "ensemble")
BEST = (
    "control", "safe_ema", "ema", "swa", "label_smoothing+safe_ema", "mixup+ema", "knn_ls+ema",
    "codistill_symmetric+safe_ema", "codistill_symmetric+ema", "distill+ema", "ensemble",
    "ensemble+ema",
)  # fmt: skip


def quick(methods: Sequence[str] | None, dataset: str, n_steps: int | None = None) -> list[Setting]:
    """One setting of each method: its defaults, or what is written; else of QUICK."""
    return _as_written(QUICK if methods is None else methods, n_steps)


def best(methods: Sequence[str] | None, dataset: str, n_steps: int | None = None) -> list[Setting]:
    """One setting of each method; else of BEST, a dozen recipes that are worth trying anywhere."""
    return _as_written(BEST if methods is None else methods, n_steps)


def _as_written(methods: Sequence[str], n_steps: int | None) -> list[Setting]:
    return [
        combined_setting([(name, _suited(name, {}, given, n_steps)) for name, given in written])
        for written in _written(methods)
    ]


def grid(methods: Sequence[str] | None, dataset: str, n_steps: int | None = None) -> list[Setting]:
    """Every combination of the values worth trying; parameters that are written stay so."""
    settings = []
    for written in _written(METHODS if methods is None else methods):
        choices = [
            [(name, _suited(name, values, given, n_steps)) for values in _values(name, given)]
            for name, given in written
        ]
        settings += [combined_setting(list(chosen)) for chosen in product(*choices)]
    return settings


PRESETS: dict[str, Preset] = {"quick": quick, "best": best, "grid": grid}


def preset_settings(
    preset: str, dataset: str, methods: Sequence[str] | None = None, n_steps: int | None = None
) -> tuple[Setting, ...]:
    """The settings of a preset, each once, suited to a training of so many steps."""
    if methods is not None and not methods:
        raise InputError("methods is empty")
    for method in methods or ():
        make_method(method)  # says so if there is no such method at all
    settings = _preset(preset)(methods, dataset, n_steps)
    return tuple({(setting.name, repr(setting.method)): setting for setting in settings}.values())


def preset_names() -> list[str]:
    """The presets that there are, here and elsewhere."""
    return [*PRESETS, *(point.name for point in entry_points(group="unchurn.presets"))]


def _preset(name: str) -> Preset:
    if name in PRESETS:
        return PRESETS[name]
    for point in entry_points(group="unchurn.presets", name=name):
        found: Preset = point.load()
        return found
    raise InputError(f"no preset {name!r}: there are {', '.join(preset_names())}")


def _written(methods: Iterable[str]) -> list[list[tuple[str, dict[str, Any]]]]:
    """The names and parameters that are written in each method."""
    return [parse_method(method) for method in methods]


def _values(name: str, given: dict[str, Any]) -> list[dict[str, Any]]:
    """What is tried of one method: its grid, but for what is written."""
    tried = {p: values for p, values in METHODS[name].grid.items() if p not in given}
    return [dict(zip(tried, chosen, strict=True)) for chosen in product(*tried.values())]


def _suited(
    name: str, values: dict[str, Any], given: dict[str, Any], n_steps: int | None
) -> Method:
    """A method suited to a training of so many steps; what is written stays as it is."""
    method = named_method(name, **{**values, **given})
    if n_steps is None:
        return method
    return replace(method.for_steps(n_steps), **given)
