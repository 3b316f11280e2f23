"""What the paper hands down to a study: the preset "paper", and the column of published numbers.

Both are found by their entry points (pyproject.toml), so that a study knows nothing of the paper.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from unchurn.core.errors import InputError
from unchurn.methods.registry import named_method, parse_method
from unchurn.paper.published import PAPER_METHODS, beside, published
from unchurn.study.design.settings import Setting, combined_setting
from unchurn.study.report.table import Beside

PAPERS_COLUMN = Beside(heading="paper", of=beside)


def paper(methods: Sequence[str] | None, dataset: str, n_steps: int | None = None) -> list[Setting]:
    """The settings that the paper reports for a dataset; other methods are taken as written."""
    return [_papers_choice(method, dataset) for method in methods or PAPER_METHODS]


def _papers_choice(method: str, dataset: str) -> Setting:
    """One method, or several combined; written parameters override the paper's."""
    return combined_setting(
        [
            (name, named_method(name, **{**_papers(name, dataset), **given}))
            for name, given in parse_method(method)
        ]
    )


def _papers(name: str, dataset: str) -> dict[str, Any]:
    """The paper's parameters of a method; empty if the paper does not have the method."""
    if name not in PAPER_METHODS:
        return {}
    known = sorted({dataset for dataset, _ in published()})
    if dataset not in known:
        raise InputError(f"the paper has no setting for {dataset}; it has for {', '.join(known)}")
    return dict(published()[dataset, name].parameters)
