"""What the paper hands down to a bench: the preset "paper", and the column of published numbers."""

from __future__ import annotations

from unchurn.core.errors import InputError
from unchurn.paper.published import beside, published
from unchurn.study.settings import Setting, make_setting
from unchurn.study.table import Beside

# Steps that the paper's MNIST training takes: warm-ups keep their share of it in shorter trainings.
PAPERS_STEPS = 20 * 469
PAPERS_COLUMN = Beside(heading="paper", of=beside)


def papers_choice(name: str, dataset: str) -> Setting:
    """The setting that the paper reports for a method on a dataset."""
    row = published().get((dataset, name))
    if row is None:
        make_setting(name)  # says so if there is no such method at all
        known = sorted({dataset for dataset, _ in published()})
        if dataset in known:
            raise InputError(f"the paper has no setting of {name}")
        raise InputError(f"the paper has no setting for {dataset}; it has for {', '.join(known)}")
    return make_setting(name, **row.parameters)
