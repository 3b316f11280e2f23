"""What tests of how rows are paired share."""

import pandas as pd
import pytest


@pytest.fixture
def frames(rng):
    """Two pandas frames of one test part, the second shuffled; 38 of 1,000 predictions differ."""
    said = rng.integers(0, 20, 1000)
    other = said.copy()
    other[rng.choice(1000, 38, replace=False)] += 20
    order = rng.permutation(1000)
    base = pd.DataFrame({"prediction": said})
    return base, pd.DataFrame({"prediction": other}).iloc[order]
