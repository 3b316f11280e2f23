"""The paper's Figure 1; the other figures are tried with the page that shows them."""

import numpy as np

from unchurn.paper.figures import smoothing_panels


def test_the_panels_show_how_local_smoothing_mends_swapped_labels():
    spec = smoothing_panels(k=20, a=0.9, b=0.1).to_dict()
    panels = [spec["datasets"][panel["data"]["name"]] for panel in spec["hconcat"]]
    true, globally, locally = ([row["positive"] for row in panel] for panel in panels)
    x = np.array([[row["x"], row["y"]] for row in panels[0]])
    swapped = (np.abs(x.sum(axis=1)) > 2) & ((x.sum(axis=1) < 0) != (np.array(true) == 1))
    assert set(true) == {0, 1}
    assert set(globally) == {0.45, 0.55}
    assert ((np.array(globally) > 0.5) == (np.array(true) > 0.5)).all()
    mended = (np.array(locally) > 0.5) != (np.array(true) > 0.5)
    assert mended[swapped].mean() > 0.95
