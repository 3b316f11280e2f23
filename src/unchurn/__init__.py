"""unchurn: measure, decide on, reduce and study predictive churn.

Predictive churn is what flips when the same classifier is retrained on the same data.
The names below are grouped in the order of the work; each loads its module on first use, so that
`import unchurn` stays light.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from unchurn.errors import InputError as InputError
    from unchurn.metrics import ChurnSummary as ChurnSummary
    from unchurn.metrics import Flips as Flips
    from unchurn.metrics import churn as churn
    from unchurn.metrics import churn_summary as churn_summary
    from unchurn.metrics import flips as flips

_HOME = {
    # measure
    "churn": "metrics",
    "flips": "metrics",
    "churn_summary": "metrics",
    "Flips": "metrics",
    "ChurnSummary": "metrics",
    # what goes wrong
    "InputError": "errors",
}
__all__ = ["__version__", *_HOME]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'unchurn' has no attribute {name!r}")
    value = getattr(import_module(f"unchurn.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
