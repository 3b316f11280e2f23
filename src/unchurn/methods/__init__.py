"""REDUCE: the methods against churn, one file each; METHODS lists them by name."""

from __future__ import annotations

from unchurn.methods.anchor import Anchor
from unchurn.methods.auto_ema import AutoEma
from unchurn.methods.bagging import Bagging
from unchurn.methods.base import Batch, Extras, Fit, HeldOut, Method, cross_entropy
from unchurn.methods.bi_tempered import BiTempered
from unchurn.methods.codistill import (
    CodistillCE,
    CodistillKL,
    CodistillSymmetric,
)
from unchurn.methods.combination import Combination, combine
from unchurn.methods.control import Control
from unchurn.methods.decay import Decay
from unchurn.methods.distill import Distill
from unchurn.methods.early import Early
from unchurn.methods.elodi import Elodi
from unchurn.methods.ema import Ema
from unchurn.methods.ensemble import Ensemble
from unchurn.methods.focal import Focal
from unchurn.methods.knn_ls import KnnLS
from unchurn.methods.label_smoothing import LabelSmoothing
from unchurn.methods.longer import Longer
from unchurn.methods.lp_reg import L1Reg, L2Reg
from unchurn.methods.medoid import Medoid
from unchurn.methods.mixup import Mixup
from unchurn.methods.project import Project
from unchurn.methods.rcp import Rcp
from unchurn.methods.reference import Need, Reference
from unchurn.methods.registry import METHODS, make_method
from unchurn.methods.safe_ema import SafeEma
from unchurn.methods.smelu import Smelu
from unchurn.methods.stay import Stay
from unchurn.methods.swa import Swa
from unchurn.methods.twin import Twin
from unchurn.methods.warm_start import WarmStart
from unchurn.methods.weight_decay import WeightDecay

__all__ = [
    "METHODS",
    "Anchor",
    "AutoEma",
    "Bagging",
    "Batch",
    "BiTempered",
    "CodistillCE",
    "CodistillKL",
    "CodistillSymmetric",
    "Combination",
    "Control",
    "Decay",
    "Distill",
    "Early",
    "Elodi",
    "Ema",
    "Ensemble",
    "Extras",
    "Fit",
    "Focal",
    "HeldOut",
    "KnnLS",
    "L1Reg",
    "L2Reg",
    "LabelSmoothing",
    "Longer",
    "Medoid",
    "Method",
    "Mixup",
    "Need",
    "Project",
    "Rcp",
    "Reference",
    "SafeEma",
    "Smelu",
    "Stay",
    "Swa",
    "Twin",
    "WarmStart",
    "WeightDecay",
    "combine",
    "cross_entropy",
    "make_method",
]
