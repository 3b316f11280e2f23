"""In scikit-learn's tools: a pipeline, and a search over a method's own parameters."""

from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

import unchurn
from unchurn.methods import KnnLS

data = unchurn.load("digits")
x_train, x_test = (x.reshape(len(x), -1) for x in (data.x_train, data.x_test))

pipeline = Pipeline(
    [
        ("scale", StandardScaler()),
        ("model", unchurn.StableClassifier(method=KnnLS(k=10), epochs=5, random_state=0)),
    ]
)
search = GridSearchCV(pipeline, {"model__method__a": [0.1, 0.9], "model__method__b": [0.1, 0.9]})
search.fit(x_train, data.y_train)
print(f"best setting: {search.best_params_}")
print(f"accuracy: {search.score(x_test, data.y_test):.3f}")
