"""unchurn: measure, decide on, reduce and study predictive churn.

Predictive churn is what flips when the same classifier is retrained on the same data.
The names below are grouped in the order of the work; each loads its module on first use, so that
`import unchurn` stays light.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from unchurn.comparison import Comparison as Comparison
    from unchurn.comparison import compare as compare
    from unchurn.datasets import Dataset as Dataset
    from unchurn.datasets import load as load
    from unchurn.datasets import load_csv as load_csv
    from unchurn.errors import InputError as InputError
    from unchurn.estimator import StableClassifier as StableClassifier
    from unchurn.gate import Policy as Policy
    from unchurn.gate import Verdict as Verdict
    from unchurn.learners import weighted_rows as weighted_rows
    from unchurn.methods import METHODS as METHODS
    from unchurn.metrics import ChurnSummary as ChurnSummary
    from unchurn.metrics import Flips as Flips
    from unchurn.metrics import churn as churn
    from unchurn.metrics import churn_summary as churn_summary
    from unchurn.metrics import flips as flips
    from unchurn.neighbors import KNNLabels as KNNLabels
    from unchurn.neighbors import knn_labels as knn_labels
    from unchurn.predictions import Columns as Columns
    from unchurn.results import Result as Result
    from unchurn.results import bench as bench
    from unchurn.settings import make_setting as make_setting
    from unchurn.targets import OffLabelMass as OffLabelMass
    from unchurn.targets import blend_knn_labels as blend_knn_labels
    from unchurn.targets import knn_smooth_labels as knn_smooth_labels
    from unchurn.targets import off_label_mass as off_label_mass
    from unchurn.targets import smooth_labels as smooth_labels

_HOME = {
    # measure
    "churn": "metrics",
    "flips": "metrics",
    "churn_summary": "metrics",
    "Flips": "metrics",
    "ChurnSummary": "metrics",
    "compare": "comparison",
    "Comparison": "comparison",
    "Columns": "predictions",
    # decide
    "Policy": "gate",
    "Verdict": "gate",
    # data
    "Dataset": "datasets",
    "load": "datasets",
    "load_csv": "datasets",
    # reduce
    "knn_labels": "neighbors",
    "KNNLabels": "neighbors",
    "off_label_mass": "targets",
    "OffLabelMass": "targets",
    "smooth_labels": "targets",
    "blend_knn_labels": "targets",
    "knn_smooth_labels": "targets",
    "METHODS": "methods",
    "StableClassifier": "estimator",
    # study
    "bench": "results",
    "Result": "results",
    "make_setting": "settings",
    "weighted_rows": "learners",
    # what goes wrong
    "InputError": "errors",
}
__all__ = ["__version__", *_HOME]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'unchurn' has no attribute {name!r}")
    try:
        module = import_module(f"unchurn.{_HOME[name]}")
    except ModuleNotFoundError as error:
        if error.name in ("torch", "safetensors"):
            raise ImportError(f"{name} needs PyTorch: pip install 'unchurn[train]'") from error
        raise
    value = getattr(module, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
