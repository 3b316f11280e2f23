"""A colour for each method, the same in every chart."""

from __future__ import annotations

import colorsys
from collections.abc import Iterable

# Tableau's ten colours for the single models; control is black, the ensemble grey.
COLOURS = {
    "control": "#000000", "label_smoothing": "#f28e2b", "knn_ls": "#e15759", "anchor": "#76b7b2",
    "l1_reg": "#9c755f", "l2_reg": "#59a14f", "bi_tempered": "#edc948", "codistill_ce": "#b07aa1",
    "codistill_kl": "#ff9da7", "mixup": "#4e79a7", "ensemble": "#8c8c8c",
}  # fmt: skip
GOLDEN_RATIO = (5**0.5 - 1) / 2
SEEN = 0.24  # luminance that looks as far from white (1) as from black (0)


def colours(methods: Iterable[str]) -> dict[str, str]:
    """A colour for each method: its fixed one, or else one that no other of these has."""
    found: dict[str, str] = {}
    for name in methods:
        found[name] = COLOURS.get(name) or _another(sum(n not in COLOURS for n in found))
    return found


def _another(number: int) -> str:
    """A colour by number: steps of the golden ratio around the colour wheel stay apart.

    It is neither too light to be seen on white nor too dark to be seen on black.
    """
    hue = (number * GOLDEN_RATIO + 0.55) % 1
    shades = [colorsys.hls_to_rgb(hue, lightness / 100, 0.65) for lightness in range(20, 80)]
    rgb = min(shades, key=lambda shade: abs(_luminance(shade) - SEEN))
    return "#" + "".join(f"{round(255 * part):02x}" for part in rgb)


def _luminance(rgb: tuple[float, float, float]) -> float:
    """Relative luminance from 0 to 1, as in WCAG but with a plain square for gamma."""
    return sum(weight * part**2 for weight, part in zip((0.2126, 0.7152, 0.0722), rgb, strict=True))
