"""`Networks`: train a successor that is a network, whatever the base is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from unchurn.datasets.preparation import Preparation
from unchurn.methods import Method, make_method
from unchurn.metrics.budget import Budget
from unchurn.training.estimator.budget import Tried
from unchurn.training.estimator.references import Model
from unchurn.training.estimator.stable_classifier import StableClassifier
from unchurn.training.upgrade.rows import UpgradeRows


@dataclass(frozen=True, kw_only=True)
class Networks:
    """Trains StableClassifiers as successors of a base."""

    base: Model
    budget: Budget
    options: dict[str, Any]  # of StableClassifier, the budget's among them
    preparation: Preparation | None
    can_lean: ClassVar[bool] = True

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
