"""Shell completion of options whose values are names.

The names are written out here, because a key press must not wait for the modules that know them
(these load SciPy); a test checks that they are up to date.
"""

from __future__ import annotations

import re
from collections.abc import Callable

DATASETS = (
    "digits", "two_gaussians", "mnist", "fashion_mnist", "svhn", "celeba_smiling",
    "celeba_high_cheekbones", "phishing",
)  # fmt: skip
METHODS = (
    "control", "label_smoothing", "knn_ls", "anchor", "l1_reg", "l2_reg", "bi_tempered",
    "codistill_ce", "codistill_kl", "mixup", "ensemble", "ema", "decay", "safe_ema",
    "auto_ema", "swa",
    "smelu", "early", "weight_decay", "bagging", "distill", "elodi", "medoid", "twin",
    "codistill_symmetric", "rcp", "focal", "warm_start", "project", "stay", "longer",
)  # fmt: skip
PRESETS = ("quick", "best", "grid", "paper")
SCENARIOS = ("retrain", "resample", "upgrade", "replay")
MODELS = ("mlp", "lenet5", "lightgbm", "xgboost")
REPRODUCED = (
    "table1", "table2", "table3", "figure1", "figure2", "figure3", "theorem1", "theorem2",
    "beyond", "beyond-resampled", "beyond-short", "upgrade", "page", "beyond-page", "upgrade-page",
)  # fmt: skip
PARTS = ("test", "validation")
ENGINES = ("local", "ray")
COVERS = ("flips", "all")

Completion = Callable[[str], list[str]]


def one_of(names: tuple[str, ...]) -> Completion:
    """Complete one of these names."""

    def complete(incomplete: str) -> list[str]:
        return [name for name in names if name.startswith(incomplete)]

    return complete


def some_of(names: tuple[str, ...]) -> Completion:
    """Complete the last of several names, separated by commas or plus: `control,knn_ls+e`."""

    def complete(incomplete: str) -> list[str]:
        before, last = re.fullmatch(r"(.*[,+]|)([^,+]*)", incomplete, re.DOTALL).groups()  # type: ignore[union-attr]
        return [before + name for name in names if name.startswith(last)]

    return complete
