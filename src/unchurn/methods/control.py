"""Control: plain training, with no regard to churn."""

from dataclasses import dataclass

from unchurn.methods.base import Method


@dataclass
class Control(Method):
    """Cross-entropy on the labels as they are."""

    changes = "targets"
