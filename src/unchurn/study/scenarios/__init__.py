"""Scenarios: what changes between two trainings of a study. SCENARIOS names them, one file each."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from unchurn.core.errors import InputError, unknown
from unchurn.methods.registry import parse_method
from unchurn.study.scenarios.base import Scenario
from unchurn.study.scenarios.replay import Replay
from unchurn.study.scenarios.resample import Resample
from unchurn.study.scenarios.retrain import Retrain
from unchurn.study.scenarios.upgrade import Upgrade

SCENARIOS: dict[str, type[Scenario]] = {
    kind.name: kind for kind in (Retrain, Resample, Upgrade, Replay)
}

__all__ = ["SCENARIOS", "Replay", "Resample", "Retrain", "Scenario", "Upgrade", "make_scenario"]


def make_scenario(scenario: str | Scenario = "retrain", **parameters: Any) -> Scenario:
    """Make a scenario from its text and further parameters by name; a Scenario stays as it is.

    >>> make_scenario("resample(share=0.9)", same_seed=True)
    Resample(share=0.9, same_seed=True)
    """
    if isinstance(scenario, Scenario):
        if parameters:
            raise InputError(f"give {next(iter(parameters))} to the scenario itself")
        return scenario
    if not isinstance(scenario, str):
        raise InputError(f"scenario must be a name or a Scenario, not {scenario!r}")
    name = scenario.partition("(")[0].strip()
    if name not in SCENARIOS:
        raise InputError(unknown("scenario", name, SCENARIOS))
    try:
        ((_, given),) = parse_method(scenario)
    except (InputError, ValueError) as error:
        raise InputError(f"{scenario!r} is no scenario: write {name} or {name}(…=…)") from error
    kind = SCENARIOS[name]
    known = _parameters(kind)
    both = {**given, **parameters}
    if wrong := [parameter for parameter in both if parameter not in known]:
        takes = {n: sum(p in _parameters(other) for p in wrong) for n, other in SCENARIOS.items()}
        best = max(takes, key=takes.__getitem__)
        does = f"; {best} does: give scenario= {best}" if takes[best] else ""
        raise InputError(
            f"the scenario {name} takes no {wrong[0]}: it takes "
            f"{', '.join(known) or 'nothing'}{does}"
        )
    return kind(**both)


def _parameters(kind: type[Scenario]) -> list[str]:
    """Names of a scenario's parameters."""
    return [field.name for field in fields(kind) if field.init]
