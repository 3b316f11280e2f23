"""REDUCE: what there is against churn, a file for each method; METHODS names them."""

from __future__ import annotations

from unchurn.methods.anchor import Anchor, anchor_labels
from unchurn.methods.base import Batch, Fit, Method, Need, Reference, cross_entropy
from unchurn.methods.bi_tempered import BiTempered, bi_tempered_loss, tempered_softmax
from unchurn.methods.codistill import CodistillCE, CodistillKL, codistillation_divergence
from unchurn.methods.combination import Combination, combine
from unchurn.methods.control import Control
from unchurn.methods.decay import Decay, cosine_decay
from unchurn.methods.ema import Ema, ema_decay
from unchurn.methods.ensemble import Ensemble
from unchurn.methods.knn_ls import KnnLS
from unchurn.methods.label_smoothing import LabelSmoothing
from unchurn.methods.lp_reg import L1Reg, L2Reg, lp_penalty
from unchurn.methods.mixup import Mixup, mix
from unchurn.methods.registry import METHODS, make_method

__all__ = [
    "METHODS",
    "Anchor",
    "Batch",
    "BiTempered",
    "CodistillCE",
    "CodistillKL",
    "Combination",
    "Control",
    "Decay",
    "Ema",
    "Ensemble",
    "Fit",
    "KnnLS",
    "L1Reg",
    "L2Reg",
    "LabelSmoothing",
    "Method",
    "Mixup",
    "Need",
    "Reference",
    "anchor_labels",
    "bi_tempered_loss",
    "codistillation_divergence",
    "combine",
    "cosine_decay",
    "cross_entropy",
    "ema_decay",
    "lp_penalty",
    "make_method",
    "mix",
    "tempered_softmax",
]
