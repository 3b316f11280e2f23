"""Presets: which settings of each method a study tries.

Those of other rooms and packages are found by the entry point `unchurn.presets`, so that a study
knows nothing of them: the paper's choices are one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib.metadata import entry_points
from itertools import product
from typing import Any

from unchurn.core.errors import InputError
from unchurn.methods import METHODS, combine
from unchurn.methods.registry import named_method, parse_method
from unchurn.study.settings import Setting, make_setting

# (methods as they were written, or None for those it has; the dataset's name) -> settings
Preset = Callable[[Sequence[str] | None, str], Sequence[Setting]]


def quick(methods: Sequence[str] | None, dataset: str) -> list[Setting]:
    """One setting of each method: its defaults, or what is written."""
    return [make_setting(method) for method in (METHODS if methods is None else methods)]


def grid(methods: Sequence[str] | None, dataset: str) -> list[Setting]:
    """Every combination of the values worth trying; parameters that are written stay so."""
    return [
        setting
        for method in (METHODS if methods is None else methods)
        for setting in _grid_of(method)
    ]


PRESETS: dict[str, Preset] = {"quick": quick, "grid": grid}


def preset_settings(
    preset: str, dataset: str, methods: Sequence[str] | None = None, n_steps: int | None = None
) -> tuple[Setting, ...]:
    """The settings of a preset, each once, suited to a training of so many steps."""
    if methods is not None and not methods:
        raise InputError("methods is empty")
    for method in methods or ():
        make_setting(method)  # says so if there is no such method at all
    settings = _preset(preset)(methods, dataset)
    if n_steps is not None and preset in PRESETS:  # others say what they mean
        settings = [Setting(s.name, s.method.for_steps(n_steps)) for s in settings]
    return tuple({(setting.name, setting.text): setting for setting in settings}.values())


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


def _grid_of(method: str) -> list[Setting]:
    """All settings of one method as it is written."""
    written = parse_method(method)
    name = "+".join(part for part, _ in written)
    tried = [[named_method(part, **v) for v in _values(part, given)] for part, given in written]
    return [Setting(name, combine(*parts)) for parts in product(*tried)]


def _values(name: str, given: dict[str, Any]) -> list[dict[str, Any]]:
    """The parameters of one method that are tried: what is written, times the rest of its grid."""
    tried = {p: values for p, values in METHODS[name].grid.items() if p not in given}
    choices = product(*tried.values())
    return [{**given, **dict(zip(tried, chosen, strict=True))} for chosen in choices]
