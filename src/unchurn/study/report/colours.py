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
SEEN = 0.24  # of the brightness of white: as far from white as from black, to the eye


def colours(methods: Iterable[str]) -> dict[str, str]:
    """A colour for each method: its own, or one that no other of these has."""
    found: dict[str, str] = {}
    for name in methods:
        found[name] = COLOURS.get(name) or _another(sum(n not in COLOURS for n in found))
    return found


def _another(number: int) -> str:
    """One of endlessly many colours: steps of the golden ratio around the wheel stay apart.

    Each is so light that it is seen on white and on black.
    """
    hue = (number * GOLDEN_RATIO + 0.55) % 1
    shades = [colorsys.hls_to_rgb(hue, lightness / 100, 0.65) for lightness in range(20, 80)]
    rgb = min(shades, key=lambda shade: abs(_luminance(shade) - SEEN))
    return "#" + "".join(f"{round(255 * part):02x}" for part in rgb)


def _luminance(rgb: tuple[float, float, float]) -> float:
    """How bright a colour is to the eye, from 0 to 1 (as WCAG has it, with a plain square)."""
    return sum(weight * part**2 for weight, part in zip((0.2126, 0.7152, 0.0722), rgb, strict=True))
