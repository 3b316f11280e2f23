"""What is tried for upgrades: a base on half of the training data, its successors on all of it.

Settings are listed beforehand. Which of them is best for a dataset is chosen on a part held out of
the training data, and reported on the test part. On FRESH and NEWEST tables, on which no recipe for
upgrades was ever tried before, only what is or may be the default is tried.
"""

from __future__ import annotations

from collections.abc import Sequence

from unchurn.methods.registry import FROM_ANSWERS
from unchurn.paper.beyond.study import check_dataset, subject
from unchurn.paper.beyond.tables import FRESH, NEWEST
from unchurn.paper.selection import some
from unchurn.paper.studies import RECIPES
from unchurn.study.design.experiment import Experiment
from unchurn.study.design.parts import make_parts
from unchurn.study.design.settings import Setting, make_setting
from unchurn.study.scenarios import Upgrade

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
# What may be the default where the base's weights are known: weight decay is part of every other
# default. Thought of when trials on Vowel, Vehicle and spam (no difference) and on parts of
# Fashion-MNIST and CelebA (a little steadier and more accurate) had been looked at. Before it was
# trained on any of FRESH and NEWEST, it was settled that it takes FORMER's place if
# (1) on at most three of these 46 tables its accuracy is lower than plain retraining's beyond
#     chance, and on at most three its bad flips are more (chance alone gives four or more in 3 %);
# (2) mean bad flips there, in percent of plain retraining's, are at most a point above FORMER's;
# (3) on the six tasks, mean bad flips are at most a point above FORMER's, and mean accuracy is
#     higher.
# What is the default now, with the base's weights and without, is held to (1), too.
FORMER = "warm_start+anchor(a=0.5)+safe_ema"
CANDIDATE = f"weight_decay(strength=0.1)+{FORMER}"
EVERYTHING = (*SINGLE, *BOTH, CANDIDATE)
ON_FRESH = ("control", "safe_ema", FORMER, FROM_ANSWERS, CANDIDATE)
IMAGES = tuple(task for task in RECIPES if task != "phishing")
# What images, whose trainings take hours, leave out of the above: settings of which another is
# tried.
ONLY_ON_TABLES = (
    "anchor(a=0.2)+safe_ema", "anchor(a=0.8)+safe_ema", "focal(a=0.2)+safe_ema",
    "warm_start(a=0.5)+safe_ema", "warm_start+focal(a=0.1)+safe_ema",
    "warm_start+focal(a=0.02, kind='logits')+safe_ema", "project(max_bad_flips=0.005)+safe_ema",
    "longer+anchor(a=0.2)+safe_ema", "longer+anchor(a=0.5)+safe_ema",
    "warm_start(a=0.5)+anchor(a=0.2)+safe_ema", "warm_start(a=0.5)+focal(a=0.2)+safe_ema",
    "warm_start(a=0.5)+focal(a=0.5)+safe_ema",
    "stay(ratio=1)+warm_start(a=0.5)+anchor(a=0.2)+safe_ema",
)  # fmt: skip


def settings(dataset: str) -> tuple[Setting, ...]:
    """All settings to be tried on a dataset."""
    tried: Sequence[str] = EVERYTHING
    if dataset in (*FRESH, *NEWEST):
        tried = ON_FRESH
    elif dataset in IMAGES:
        tried = [text for text in EVERYTHING if text not in ONLY_ON_TABLES]
    return tuple(make_setting(text) for text in tried)


def experiment(dataset: str, methods: Sequence[str] | None = None) -> Experiment:
    """All settings to be tried on a dataset, or some methods by name, from EVERYTHING."""
    check_dataset(UPGRADE, dataset)
    every = tuple(make_setting(text) for text in EVERYTHING)
    tried = settings(dataset) if methods is None else some(UPGRADE, every, methods)
    data, learner = subject(dataset)
    return Experiment(
        data=data,
        parts=make_parts(data, validation=True),
        settings=tried,
        learner=learner,
        runs=BASES * PER_BASE,
        scenario=Upgrade(per_base=PER_BASE),
    )
