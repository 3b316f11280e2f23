"""Replace a model in production by one that was trained on more data, and keep its predictions.

The live model is saved and read back as a service would; the candidate trains on labels that lean
towards what the live model says.
"""

import tempfile
from pathlib import Path

import unchurn
from unchurn.methods import Anchor

data = unchurn.load("digits")
old, labels = data.x_train[:800], data.y_train[:800]

with tempfile.TemporaryDirectory() as folder:
    live = Path(folder) / "production.safetensors"
    unchurn.StableClassifier(method="control", random_state=1).fit(old, labels).save(live)

    retrained = unchurn.StableClassifier(method="control", random_state=2)
    anchored = unchurn.StableClassifier(method=Anchor(a=0.8), reference=live, random_state=2)
    before = unchurn.StableClassifier.load(live).predict(data.x_test)
    for name, model in (("retrained", retrained), ("anchored", anchored)):
        after = model.fit(data.x_train, data.y_train).predict(data.x_test)
        moved = unchurn.flips(before, after, data.y_test)
        print(
            f"{name}: accuracy {moved.accuracy_first:.2%} → {moved.accuracy_second:.2%}, "
            f"churn {moved.churn:.2%}, bad flips {moved.rates['bad_flips']:.2%}"
        )
