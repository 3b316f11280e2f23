"""`Networks`: train a successor that is a network, whatever the base is."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, ClassVar

from unchurn.core.arrays import Array
from unchurn.core.frames import is_frame
from unchurn.datasets.preparation import Preparation
from unchurn.methods import Method, make_method
from unchurn.methods.control import Control
from unchurn.methods.cost import serving_cost
from unchurn.methods.registry import FROM_ANSWERS, FROM_WEIGHTS, has_name, with_all
from unchurn.metrics.budget import Budget
from unchurn.training.estimator.budget import Tried
from unchurn.training.estimator.network_part import network_part
from unchurn.training.estimator.references import Model, alike, has_same_order, is_ours
from unchurn.training.estimator.stable_classifier import StableClassifier
from unchurn.training.learners.base import RemarkWarning, levels_up
from unchurn.training.upgrade.options import check_options
from unchurn.training.upgrade.rows import UpgradeRows

KEPT = ("module", "epochs", "batch_size", "learning_rate")  # of a base of ours


@dataclass(frozen=True, kw_only=True)
class Networks:
    """Trains StableClassifiers as successors of a base."""

    base: Model
    budget: Budget
    options: dict[str, Any]  # of StableClassifier, the budget's among them
    preparation: Preparation | None
    can_lean: ClassVar[bool] = True

    @classmethod
    def after(
        cls, base: Model, budget: Budget, options: dict[str, Any], preparation: Preparation | None
    ) -> Networks:
        """Networks that are trained as the base was, if it is one, but for what options say."""
        check_options(options)
        own = {name: getattr(base, name) for name in KEPT} if is_ours(base) else {}
        return cls(base=base, budget=budget, options={**own, **options}, preparation=preparation)

    def usual(self, x: Any, classes: Array) -> str:
        """The recipe for a network of these inputs and classes."""
        base = self.base
        if not is_ours(base) or serving_cost(base.fitted_.method) > 1:
            return FROM_ANSWERS
        own, new = alike(base.classes_, classes)
        is_same = own == new and self.options.get("module") == base.module
        if not (is_same and self._reads_as(base, x)):
            return FROM_ANSWERS
        if not has_name(part := network_part(base.method_)):
            warnings.warn(
                f"the base's network was changed by {part!r}, which no recipe can name: the new "
                "network is trained without it, and not from the base's weights; method= keeps it",
                RemarkWarning,
                stacklevel=levels_up(),
            )
            return FROM_ANSWERS
        return FROM_WEIGHTS

    def _reads_as(self, base: StableClassifier, x: Any) -> bool:
        """Whether the new model has the same inputs as the base."""
        if not is_frame(x):
            return True  # arrays of another shape are refused elsewhere
        if self.preparation is not None:
            return bool(self.preparation == getattr(base, "preparation_", None))
        return bool(base.shape_ == (len(x.columns),)) and has_same_order(base, x)

    @property
    def network(self) -> str:
        """What of the base's method changed the network, such as "smelu(beta=1)"; "" if nothing.

        A successor that starts from the base's weights keeps it: with other activations, the same
        weights would answer differently.
        """
        part = network_part(self.base.method_)
        return "" if type(part) is Control else with_all(part)

    def fit(
        self, how: str | Method, rows: UpgradeRows, unlabelled: Any | None
    ) -> tuple[StableClassifier, Method, tuple[Tried, ...]]:
        """Give a fitted network, its method, and what a budget tried."""
        looks = make_method(how).reference() is not None
        is_used = looks or unlabelled is not None or bool(self.budget.given)
        model = StableClassifier(
            method=how, reference=self.base if is_used else None, **self.options
        )
        model.fit(
            *rows.examples,
            rows.weights,
            X_unlabelled=unlabelled,
            reference_saw=rows.saw,
            preparation=self.preparation,
        )
        return model, model.method_, model.tried_
