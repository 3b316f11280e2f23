"""What happens between two models: SCENARIOS names the ways, one file each."""

from __future__ import annotations

from unchurn.core.errors import InputError
from unchurn.study.scenarios.base import Scenario
from unchurn.study.scenarios.retrain import Retrain

SCENARIOS: dict[str, type[Scenario]] = {kind.name: kind for kind in (Retrain,)}

__all__ = ["SCENARIOS", "Scenario", "make_scenario"]


def make_scenario(scenario: str | Scenario = "retrain") -> Scenario:
    """A scenario by its name, or as it is."""
    if isinstance(scenario, Scenario):
        return scenario
    if scenario not in SCENARIOS:
        raise InputError(f"no scenario {scenario!r}: there are {', '.join(SCENARIOS)}")
    return SCENARIOS[scenario]()
