"""k-NN labels: the mean label of each point's neighbours, exact and tie-true.

`labels.py` holds the definition and `knn_labels`, `index.py` the search that both faces share. An
engine (`kdtree.py`, `brute.py`, `faiss.py`, `device.py`) proposes candidate neighbours; exact
distances decide, in `kernels.py` or, without Numba, `proposals.py`.
"""

from unchurn.neighbors.index import KNNLabels
from unchurn.neighbors.labels import knn_labels

__all__ = ["KNNLabels", "knn_labels"]
