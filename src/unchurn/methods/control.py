"""Control: plain training, which does nothing about churn."""

from dataclasses import dataclass

from unchurn.methods.base import Method


@dataclass
class Control(Method):
    """Train plainly, by cross-entropy on the labels; other methods are compared with this."""

    changes = "targets"
