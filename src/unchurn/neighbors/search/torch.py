"""Proposals by PyTorch, on the tensor's own device.

Tested on the CPU only: a GPU runs the same code, but that is untested.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from scipy.sparse import csr_array

from unchurn.core.arrays import Float64, IntArray
from unchurn.neighbors.search.placement import Placement
from unchurn.neighbors.search.proposals import Proposed


def on_device(points: Float64, histogram: csr_array, device: Any) -> Proposed:
    """The exact search: candidates in float32 on the device, the decision in float64 on the CPU."""
    placement = Placement.of(points)
    rows = torch.from_numpy(placement.place(points, np.float32)).to(device)
    norms = (rows * rows).sum(1)

    @torch.no_grad()
    def propose(queries: Float64, count: int) -> tuple[IntArray, Float64]:
        placed = placement.place(queries, np.float32)
        own = torch.from_numpy(placed).to(device)
        rough = torch.addmm(norms, own, rows.T, alpha=-2) + (own * own).sum(1, keepdim=True)
        values, candidates = rough.topk(count, dim=1, largest=False)
        farthest = values[:, -1].cpu().numpy()
        return candidates.cpu().numpy(), placement.no_less_than(farthest, placed)

    return Proposed(points, histogram, propose, cost=2 * len(points))
