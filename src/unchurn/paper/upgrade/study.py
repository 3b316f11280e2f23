"""What is tried for upgrades: a base on half of the training data, its successors on all of them.

Settings are listed beforehand; which of them serves a dataset best is chosen on a part that is held
out of the training data, and what is reported is of the test part.
"""

from __future__ import annotations

from collections.abc import Sequence

from unchurn.paper.beyond.study import check_dataset, some, subject
from unchurn.study.experiment import Experiment
from unchurn.study.parts import make_parts
from unchurn.study.scenarios import Upgrade
from unchurn.study.settings import Setting, make_setting

UPGRADE = "upgrade"  # what `unchurn reproduce` calls the study
BASES, PER_BASE = 3, 3
# Thought of when eleven tables had been looked at: anchored without a warm start, training takes
# longer to get as far.
AFTERWARDS = (
    "longer+anchor(a=0.2)+safe_ema",
    "longer+anchor(a=0.5)+safe_ema",
    "longer(times=2)+anchor(a=0.5)+safe_ema",
)
# Thought of when twelve datasets and Fashion-MNIST had been looked at: a model that starts where
# the base ended can lag behind one that starts anew (Ash and Adams 2020), half of the way less so.
HALF_WAY = (
    "warm_start(a=0.5)+anchor(a=0.2)+safe_ema",
    "warm_start(a=0.5)+anchor(a=0.5)+safe_ema",
    "warm_start(a=0.5)+anchor(a=0.8)+safe_ema",
    "warm_start(a=0.5)+focal(a=0.2)+safe_ema",
    "warm_start(a=0.5)+focal(a=0.5)+safe_ema",
)
# One model is served.
SINGLE = (
    "control",
    "longer",  # as many steps as a warm start and its base have had together
    "safe_ema",
    "longer+safe_ema",
    "anchor(a=0.2)+safe_ema",
    "anchor(a=0.5)+safe_ema",
    "anchor(a=0.8)+safe_ema",
    "rcp(a=0.5)+safe_ema",
    "focal(a=0.2)+safe_ema",
    "warm_start",
    "warm_start+safe_ema",
    "warm_start(a=0.5)+safe_ema",
    "warm_start+anchor(a=0.2)+safe_ema",
    "warm_start+anchor(a=0.5)+safe_ema",
    "warm_start+anchor(a=0.8)+safe_ema",
    "warm_start+rcp(a=0.5)+safe_ema",
    "warm_start+focal(a=0.1)+safe_ema",
    "warm_start+focal(a=0.2)+safe_ema",
    "warm_start+focal(a=0.5)+safe_ema",
    "warm_start+focal(a=0.02, kind='logits')+safe_ema",
    "project(max_bad_flips=0.002)+safe_ema",
    "project(max_bad_flips=0.005)+safe_ema",
    *AFTERWARDS,
    *HALF_WAY,
)
# The base answers, too.
BOTH = (
    "stay(ratio=0.5)+safe_ema",
    "stay(ratio=1)+safe_ema",
    "stay(ratio=2)+safe_ema",
    "stay(ratio=0.5)+warm_start+safe_ema",
    "stay(ratio=1)+warm_start+safe_ema",
    "stay(ratio=0.5)+warm_start+anchor(a=0.2)+safe_ema",
    "stay(ratio=1)+warm_start+anchor(a=0.2)+safe_ema",
    "stay(ratio=1)+warm_start(a=0.5)+anchor(a=0.2)+safe_ema",
)


def settings() -> tuple[Setting, ...]:
    """All that is tried, on every dataset."""
    return tuple(make_setting(text) for text in (*SINGLE, *BOTH))


def experiment(dataset: str, methods: Sequence[str] | None = None) -> Experiment:
    """All that is trained on a dataset, or some of its methods by name."""
    check_dataset(UPGRADE, dataset)
    tried = some(UPGRADE, settings(), methods)
    data, learner = subject(dataset)
    return Experiment(
        data=data,
        parts=make_parts(data, validation=True),
        settings=tried,
        learner=learner,
        runs=BASES * PER_BASE,
        scenario=Upgrade(per_base=PER_BASE),
    )
