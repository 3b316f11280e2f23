"""Presets: which settings of each method a study tries.

Presets of other layers and packages are found by the entry point `unchurn.presets`, so that a study
need not import them: the paper's settings are one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib.metadata import entry_points

from unchurn.core.errors import InputError, unknown
from unchurn.methods import METHODS, Method
from unchurn.methods.grid import as_written, worth_trying
from unchurn.methods.registry import DEFAULT, PLUS, make_method, parse_method
from unchurn.study.design.settings import Setting, combined_setting

# (methods as written, or None for the preset's own; the dataset's name; the number of steps of a
# training, or None if the model is no network) -> settings
Preset = Callable[[Sequence[str] | None, str, int | None], Sequence[Setting]]


# The methods tried if none is named; docs/beyond.md shows why. Cheapest first, ensembles last.
QUICK = ("control", DEFAULT, "codistill_symmetric+safe_ema", "ensemble")
# For models other than networks. The seed of many boosted trees changes nothing, so that an
# ensemble equals plain training; members of a bag differ in their rows.
QUICK_OF_OTHERS = (*QUICK, "bagging")
BEST = (
    "control", DEFAULT, "swa", "weight_decay+label_smoothing+ema", "smelu+ema", "mixup+ema",
    "knn_ls+ema", "codistill_symmetric+safe_ema", "weight_decay+codistill_symmetric+ema",
    "distill+ema", "ensemble", "ensemble+ema",
)  # fmt: skip
BEST_OF_OTHERS = (*BEST, "medoid", "bagging")


def quick(methods: Sequence[str] | None, dataset: str, n_steps: int | None = None) -> list[Setting]:
    """One setting of each method, with defaults for parameters not written.

    The default is QUICK, or QUICK_OF_OTHERS if the model is no network (`n_steps` is None).
    """
    usual = QUICK_OF_OTHERS if n_steps is None else QUICK
    return _as_written(usual if methods is None else methods, n_steps)


def best(methods: Sequence[str] | None, dataset: str, n_steps: int | None = None) -> list[Setting]:
    """One setting of each method; by default of BEST, a dozen recipes worth trying on any data.

    If the model is no network, the default is BEST_OF_OTHERS, as far as the model can be trained.
    """
    usual = BEST_OF_OTHERS if n_steps is None else BEST
    return _as_written(usual if methods is None else methods, n_steps)


def _as_written(methods: Sequence[str], n_steps: int | None) -> list[Setting]:
    return [combined_setting(as_written(parse_method(one), n_steps)) for one in methods]


def grid(methods: Sequence[str] | None, dataset: str, n_steps: int | None = None) -> list[Setting]:
    """Every combination of the values worth trying; parameters that are written stay fixed."""
    return [
        combined_setting(chosen)
        for one in (METHODS if methods is None else methods)
        for chosen in worth_trying(parse_method(one), n_steps)
    ]


PRESETS: dict[str, Preset] = {"quick": quick, "best": best, "grid": grid}


def preset_settings(
    preset: str, dataset: str, methods: Sequence[str] | None = None, n_steps: int | None = None
) -> tuple[Setting, ...]:
    """The settings of a preset, each once, suited to a training of `n_steps` steps."""
    if methods is not None and not methods:
        raise InputError("methods is empty")
    for method in methods or ():
        make_method(method)  # InputError if there is no such method
    settings = _preset(preset)(methods, dataset, n_steps)
    return tuple({(setting.name, repr(setting.method)): setting for setting in settings}.values())


def as_far_as(settings: Sequence[Setting], can: Callable[[Method], bool]) -> list[Setting]:
    """The settings reduced to the methods for which `can` is true, each resulting setting once.

    For example, trees try `anchor` where networks try `anchor+safe_ema`.
    """
    found: dict[str, Setting] = {}
    for setting in settings:
        names = setting.name.split(PLUS)
        each = zip(names, setting.method.combined, strict=True)
        if left := [(name, method) for name, method in each if can(method)]:
            one = combined_setting(left)
            found.setdefault(repr(one), one)
    return list(found.values())


def where_some_can(settings: Sequence[Setting], can: Callable[[Method], bool]) -> Sequence[Setting]:
    """The settings for which `can` is true, and those of methods that have none such.

    For example, of a grid of `smelu+project`, only the base's own `smelu` can be tried.
    """
    good = [one for one in settings if can(one.method)]
    names = {one.name for one in good}
    return [one for one in settings if one in good or one.name not in names]


def preset_names() -> list[str]:
    """Names of all presets, those of entry points included."""
    return [*PRESETS, *(point.name for point in entry_points(group="unchurn.presets"))]


def _preset(name: str) -> Preset:
    if name in PRESETS:
        return PRESETS[name]
    for point in entry_points(group="unchurn.presets", name=name):
        found: Preset = point.load()
        return found
    raise InputError(unknown("preset", name, preset_names()))
