"""k-NN labels: the mean label of each point's neighbours, exact, with every tie counted.

`labels.py` has the definition and `knn_labels`, `index.py` the index `KNNLabels`, and
`soft_labels.py` the targets made from k-NN labels. A search (`search/`) proposes candidate
neighbours; exact distances decide, in `kernels/` (compiled) or, without Numba, in
`search/proposals.py`.
"""

from unchurn.neighbors.index import KNNLabels
from unchurn.neighbors.labels import knn_labels

__all__ = ["KNNLabels", "knn_labels"]
