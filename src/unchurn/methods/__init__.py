"""The methods: control and the ten ways of the paper to reduce churn. One file each."""

from __future__ import annotations

from unchurn.core.errors import InputError
from unchurn.methods.anchor import Anchor, anchor_labels
from unchurn.methods.base import Method, Reference, cross_entropy
from unchurn.methods.bi_tempered import BiTempered, bi_tempered_loss, tempered_softmax
from unchurn.methods.codistill import CodistillCE, CodistillKL, codistillation_divergence
from unchurn.methods.control import Control
from unchurn.methods.ensemble import Ensemble
from unchurn.methods.knn_ls import KnnLS
from unchurn.methods.label_smoothing import LabelSmoothing
from unchurn.methods.lp_reg import L1Reg, L2Reg, lp_penalty
from unchurn.methods.mixup import Mixup, mix

METHODS: dict[str, type[Method]] = {
    "control": Control,
    "label_smoothing": LabelSmoothing,
    "knn_ls": KnnLS,
    "anchor": Anchor,
    "l1_reg": L1Reg,
    "l2_reg": L2Reg,
    "bi_tempered": BiTempered,
    "codistill_ce": CodistillCE,
    "codistill_kl": CodistillKL,
    "mixup": Mixup,
    "ensemble": Ensemble,
}

__all__ = [
    "METHODS",
    "Anchor",
    "BiTempered",
    "CodistillCE",
    "CodistillKL",
    "Control",
    "Ensemble",
    "KnnLS",
    "L1Reg",
    "L2Reg",
    "LabelSmoothing",
    "Method",
    "Mixup",
    "Reference",
    "anchor_labels",
    "bi_tempered_loss",
    "codistillation_divergence",
    "cross_entropy",
    "lp_penalty",
    "make_method",
    "mix",
    "tempered_softmax",
]


def make_method(method: str | Method) -> Method:
    """A method from its name, at its default setting, or as it is; its parameters checked."""
    if isinstance(method, str):
        if method not in METHODS:
            raise InputError(f"no method {method!r}: there are {', '.join(METHODS)}")
        return METHODS[method]()
    if not isinstance(method, Method):
        raise InputError(f"method must be a name or a Method, not {method!r}")
    method.check()
    return method
