"""Tell which noise retrainings show (seed, data or both), from the result of their bench."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from unchurn.core.errors import InputError
from unchurn.core.toml_json import read_plain

RESULT = "result.json"  # of a bench, beside its folder of predictions
SEED_ONLY = (
    "retrainings that vary only the seed give the noise of the seed alone: new data or code may "
    "move more"
)
ANOTHER_SAMPLE = "each retraining drew its own sample of the data: this is the noise of the {}"
UPGRADED = (
    "these retrainings vary only the seed, all trained on the newer data of a study of upgrades: "
    "of a base that was not, they are no retrainings"
)
MIXED = (
    "some retrainings drew their own sample of the data, or were trained on other data, and some "
    "were not: their noise is not of one kind"
)


def kinds_of_noise(files: Iterable[Any]) -> set[str]:
    """Notes on the kinds of noise of retrainings; files that no bench wrote count as seed only."""
    return {_kind(file) if isinstance(file, Path) else SEED_ONLY for file in files}


def note_on(kinds: set[str]) -> str:
    """One note on all retrainings."""
    return next(iter(kinds)) if len(kinds) == 1 else MIXED if kinds else SEED_ONLY


def _kind(file: Path) -> str:
    """The note for a retraining, by the scenario of its bench."""
    try:
        scenario = str(read_plain(file.parent.parent / RESULT)["subject"]["scenario"])
    except (OSError, InputError, LookupError, TypeError):
        return SEED_ONLY  # no readable result
    if scenario.startswith("upgrade"):
        return UPGRADED
    if not scenario.startswith("resample"):
        return SEED_ONLY
    is_alone = "same_seed=True" in scenario
    return ANOTHER_SAMPLE.format("data alone" if is_alone else "data and the seed")
