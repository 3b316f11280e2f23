"""unchurn: measure, decide on, reduce and study predictive churn.

Predictive churn is what flips when the same classifier is retrained on the same data.
The names below are grouped in the order of the work; each loads its module on first use, so that
`import unchurn` stays light.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from unchurn.core.extras import needed_by
from unchurn.core.version import __version__

if TYPE_CHECKING:
    from unchurn.comparison.compare import compare as compare
    from unchurn.comparison.inputs.columns import Columns as Columns
    from unchurn.comparison.result import Comparison as Comparison
    from unchurn.core.errors import InputError as InputError
    from unchurn.core.tables import TextForm as TextForm
    from unchurn.datasets import Dataset as Dataset
    from unchurn.datasets import load as load
    from unchurn.datasets import load_csv as load_csv
    from unchurn.datasets import load_table as load_table
    from unchurn.gate.blend import Blend as Blend
    from unchurn.gate.blend import blend as blend
    from unchurn.gate.policy import Policy as Policy
    from unchurn.gate.verdict import Verdict as Verdict
    from unchurn.methods import METHODS as METHODS
    from unchurn.methods.activations import replace_relu as replace_relu
    from unchurn.metrics.churn import ChurnSummary as ChurnSummary
    from unchurn.metrics.churn import Flips as Flips
    from unchurn.metrics.churn import churn as churn
    from unchurn.metrics.churn import churn_summary as churn_summary
    from unchurn.metrics.churn import flips as flips
    from unchurn.neighbors import KNNLabels as KNNLabels
    from unchurn.neighbors import knn_labels as knn_labels
    from unchurn.neighbors.soft_labels import OffLabelMass as OffLabelMass
    from unchurn.neighbors.soft_labels import blend_knn_labels as blend_knn_labels
    from unchurn.neighbors.soft_labels import knn_smooth_labels as knn_smooth_labels
    from unchurn.neighbors.soft_labels import off_label_mass as off_label_mass
    from unchurn.neighbors.soft_labels import smooth_labels as smooth_labels
    from unchurn.study.api import bench as bench
    from unchurn.study.design.settings import make_setting as make_setting
    from unchurn.study.results.result import Result as Result
    from unchurn.training.estimator.stable_classifier import StableClassifier as StableClassifier
    from unchurn.training.learners.function import weighted_rows as weighted_rows
    from unchurn.training.upgrade.stay import Stay as Stay
    from unchurn.training.upgrade.upgrade import Upgraded as Upgraded
    from unchurn.training.upgrade.upgrade import upgrade as upgrade

_HOME = {
    # measure
    "churn": "metrics.churn",
    "flips": "metrics.churn",
    "churn_summary": "metrics.churn",
    "Flips": "metrics.churn",
    "ChurnSummary": "metrics.churn",
    "compare": "comparison.compare",
    "Comparison": "comparison.result",
    "Columns": "comparison.inputs.columns",
    "TextForm": "core.tables",
    # decide
    "Policy": "gate.policy",
    "Verdict": "gate.verdict",
    "blend": "gate.blend",
    "Blend": "gate.blend",
    "Stay": "training.upgrade.stay",
    # data
    "Dataset": "datasets",
    "load": "datasets",
    "load_csv": "datasets",
    "load_table": "datasets",
    # reduce
    "knn_labels": "neighbors",
    "KNNLabels": "neighbors",
    "off_label_mass": "neighbors.soft_labels",
    "OffLabelMass": "neighbors.soft_labels",
    "smooth_labels": "neighbors.soft_labels",
    "blend_knn_labels": "neighbors.soft_labels",
    "knn_smooth_labels": "neighbors.soft_labels",
    "METHODS": "methods",
    "replace_relu": "methods.activations",
    "StableClassifier": "training.estimator.stable_classifier",
    "upgrade": "training.upgrade.upgrade",
    "Upgraded": "training.upgrade.upgrade",
    # study
    "bench": "study.api",
    "Result": "study.results.result",
    "make_setting": "study.design.settings",
    "weighted_rows": "training.learners.function",
    # what goes wrong
    "InputError": "core.errors",
}
__all__ = ["__version__", *_HOME]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'unchurn' has no attribute {name!r}")
    with needed_by(name):
        module = import_module(f"unchurn.{_HOME[name]}")
    value = getattr(module, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
