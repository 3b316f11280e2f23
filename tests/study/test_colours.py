from unchurn.study.report.colours import COLOURS, _luminance, colours


def test_methods_that_have_no_colour_get_one_each():
    names = ["control", "knn_ls", *(f"knn_ls+{i}" for i in range(40))]
    found = colours(names)
    assert list(found) == names
    assert len(set(found.values()) | set(COLOURS.values())) == 40 + len(COLOURS)
    assert {n: found[n] for n in names[:2]} == {n: COLOURS[n] for n in names[:2]}
    assert colours(["mine", "control"])["mine"] == found["knn_ls+0"]


def test_colours_are_seen_on_white_and_on_black():
    for colour in list(colours(f"mine{i}" for i in range(40)).values()):
        parts = tuple(int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
        assert 0.15 < _luminance(parts) < 0.35
