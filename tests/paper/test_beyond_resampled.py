"""Whether the order of recipes holds when the data is drawn anew."""

from types import SimpleNamespace

import pytest

from unchurn.paper.beyond.resampled import Both, Resampled


def resampled(by_sample):
    """Recipes a, b, c … of rising churn with another seed, and plain training, above all."""
    each = [("control", 9.0, 9.0), *((name, i, by_sample[i]) for i, name in enumerate("abcdef"))]
    both = [
        Both(
            retrained=SimpleNamespace(recipe=recipe, ratio=seed),
            resampled=SimpleNamespace(recipe=recipe, ratio=sample),
        )
        for recipe, seed, sample in each
    ]
    return Resampled(["toy"], sorted(both, key=lambda one: one.resampled.ratio))


@pytest.mark.parametrize(
    ("by_sample", "correlation", "words"),
    [
        ([1, 2, 3, 4, 5, 6], 1, "holds"),
        ([3, 2, 1, 4, 6, 5], 1 - 6 * 10 / 210, "holds"),
        ([5, 2, 3, 4, 1, 6], 1 - 6 * 32 / 210, "does not hold"),
        ([4, 2, 3, 1, 5, 6], 1 - 6 * 18 / 210, "holds only in part"),
        ([6, 5, 4, 3, 2, 1], -1, "does not hold"),
    ],
)
def test_the_order_is_that_of_recipes_without_plain_training(by_sample, correlation, words):
    found = resampled(by_sample)
    assert found.correlation == pytest.approx(correlation)
    assert found.order == words
    assert sorted(found.names) == found.names_by_seed == list("abcdef")
    assert found.names[0] == "abcdef"[by_sample.index(1)]
