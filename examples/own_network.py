"""Your own network with any method: a function from input shape and classes to a module."""

from torch import nn

import unchurn


def network(shape: tuple[int, ...], n_classes: int) -> nn.Module:
    """A small convolutional network for 8×8 digits."""
    return nn.Sequential(
        nn.Unflatten(1, (1, shape[0])),
        nn.Conv2d(1, 16, 3),
        nn.ReLU(),
        nn.Flatten(),
        nn.Linear(16 * 6 * 6, n_classes),
    )


data = unchurn.load("digits")
models = [
    unchurn.StableClassifier(network, "knn_ls", epochs=10, random_state=seed).fit(
        data.x_train, data.y_train
    )
    for seed in (0, 1)
]
first, second = (model.predict(data.x_test) for model in models)
print(unchurn.flips(first, second, data.y_test))
