"""k-NN labels: the mean label of each point's neighbours, exact and tie-true.

`labels.py` holds the definition and `knn_labels`; every other file is an engine that proposes
candidate neighbours and never decides.
"""

from unchurn.neighbors.index import KNNLabels
from unchurn.neighbors.labels import knn_labels

__all__ = ["KNNLabels", "knn_labels"]
