"""The scenario replay: history is replayed, and every release is compared with the one before."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from unchurn.core.errors import InputError
from unchurn.core.tables import TextForm
from unchurn.datasets.base import Dataset
from unchurn.datasets.side_columns import times_of
from unchurn.methods import Control, Method
from unchurn.metrics import against_base
from unchurn.metrics.intervals import Interval
from unchurn.metrics.registry import OVER_RELEASES, Metric, Runs
from unchurn.study.design.job import Job
from unchurn.study.design.parts import Mask, Parts
from unchurn.study.results.history import History
from unchurn.study.scenarios.base import UPGRADES, Rows, Scenario, Scene
from unchurn.study.scenarios.periods import HOW, as_every, in_words, make_periods
from unchurn.study.scenarios.release_rows import ReleaseRows, play
from unchurn.study.scenarios.upgrade import Upgrade
from unchurn.training.learners.base import Learner
from unchurn.training.loop.streams import BASE_FIT, release_of

if TYPE_CHECKING:
    import altair as alt

    from unchurn.study.results.result import Result

ALL_SERVE = "{} asks the release before when it serves, which asks the one before: all serve."


@dataclass(frozen=True)
class Replay(Scenario):
    """Every run is a chain of releases; each row is tested by the release in use when it came.

    A release is trained on all rows before its time and tested on those from then until the next.
    Methods with a fixed reference, such as `anchor`, use the same setting's previous release. The
    first release is trained plainly on the first period; within a run, it is the same for all
    settings, so that their chains begin alike. Every release has another seed.

    Parameters
    ----------
    time
        The column of the table with dates, times or numbers.
    every
        How often there is a release: a length of time, counted from the earliest row ("30d", "12h",
        "2w"), or a number of rows, whatever the column's type; rows of equal time stay together.
        Periods without rows are skipped.
    """

    time: str | None = None
    every: str | int | None = None
    _played: ReleaseRows | None = field(default=None, init=False, repr=False, compare=False)

    name: ClassVar[str] = "replay"
    has_base: ClassVar[bool] = True
    churn: ClassVar[str] = "bad_flips"
    charted: ClassVar[str] = "bad_flips"
    limited: ClassVar[Mapping[str, str]] = Upgrade.limited
    churn_words: ClassVar[str] = "bad flips"
    falls: ClassVar[str] = "bad flips fall"
    question: ClassVar[str] = "which training breaks least from release to release?"
    legend: ClassVar[Mapping[tuple[str, ...], str]] = {
        ("churn_to_base",): "Churn: answers that are not those of the release before.",
        ("good_flips",): "Good flips: wrong in the release before and right now.",
        ("bad_flips_first", "churn_first", "accuracy_first"): "First: the first release, which is "
        "plain training.",
    }
    says: ClassVar[str] = "with {} of its predictions wrong where the release before was right"

    def __post_init__(self) -> None:
        if self.time is None:
            raise InputError("which column has the time of a row? Give time=")
        if self.every is None:
            raise InputError(f"how often is there a release? Give every= {HOW}")
        object.__setattr__(self, "every", as_every(self.every))

    @property
    def _every(self) -> str | int:
        return as_every(self.every)

    @property
    def steadier(self) -> tuple[str, ...]:
        """A method that starts from the previous release's weights."""
        return ("warm_start+focal+safe_ema",)

    def recipes(self, learner: Learner, parts: Parts) -> tuple[str, ...]:
        """Those of one upgrade."""
        return UPGRADES

    def units(self, runs: int) -> str:
        """Chains are independent: each has seeds of its own."""
        return "chains of releases"

    @property
    def columns(self) -> tuple[str, ...]:
        """The column of times, which is no feature."""
        return (str(self.time),)

    def scene(self, data: Dataset, *, validation: bool, form: TextForm | None = None) -> Scene:
        """Split all rows by time; the table's own training and test parts do not matter."""
        times = times_of(data, str(self.time))
        periods = make_periods(times, self._every, str(self.time))
        data, parts, played = play(data, periods, validation=validation)
        knowing = replace(self)
        object.__setattr__(knowing, "_played", played)
        return Scene(data=data, parts=parts, scenario=knowing)

    @property
    def _known(self) -> ReleaseRows:
        if self._played is None:
            raise ValueError("nothing is played again before there are data: see `scene`")
        return self._played

    @property
    def history(self) -> History | None:
        """The releases, once `scene` has seen the data."""
        return self._played.history if self._played is not None else None

    def identity(self) -> dict[str, Any]:
        """A digest of the table and of each row's period."""
        return {"scenario": {"name": self.name, "rows": self._known.digest}}

    def chain(self, run: list[Job]) -> list[list[Job]]:
        """The first release, trained plainly, then all others by the method."""
        first = Job(Control(), run[0].run)
        return [
            [first],
            *(
                [replace(job, fit=number * BASE_FIT + job.fit) for job in run]
                for number in self._known.history.tested
            ),
        ]

    def references(self, job: Job) -> list[Job]:
        """The previous release if the reference is fixed; else plain fits of the same release."""
        need = job.method.reference()
        if need is not None and need.is_fixed:
            is_second = job.release == 1
            return [Job(Control(), job.run) if is_second else replace(job, fit=job.fit - BASE_FIT)]
        plain = super().references(job)
        return [replace(one, fit=job.release * BASE_FIT + one.fit) for one in plain]

    def rows(self, seed: int, run: int, fit: int, n: int) -> Rows:
        """Training rows that had come when the release was made."""
        return np.flatnonzero(self._known.periods <= release_of(fit))

    def known_to(self, fit: int) -> Mask | None:
        """Mask of the classes that had come when the release was made; None if all."""
        known: Mask = self._known.known[release_of(fit)]
        return None if known.all() else known

    def note_on(self, method: Method) -> str | None:
        """A note that all releases serve, if the method serves its reference's answers, too."""
        need = method.reference()
        return ALL_SERVE.format("Stay") if need is not None and need.serves else None

    @property
    def metrics(self) -> Mapping[str, Metric]:
        """Metrics against the previous and the first release."""
        return OVER_RELEASES

    def differences(self, ours: Runs, theirs: Runs) -> dict[str, Interval]:
        """Differences in bad flips, churn to the previous release, and accuracy, over chains."""
        return against_base.differences(ours, theirs)

    def note(self, n_test: int) -> str:
        """A note on what a run is, what percentages refer to, and what bad flips are."""
        return (
            f"Every run is a chain of releases, one every {in_words(self._every)} by {self.time}, "
            f"each trained on all rows before it. Percent of the {n_test:,} rows that came after, "
            "each predicted by the release then in use; mean over runs. Bad flips: right in the "
            "release before and wrong now."
        )

    def charts(self, result: Result) -> dict[str, alt.TopLevelMixin]:
        """Charts of metrics by release."""
        from unchurn.study.report import over_time_charts

        return over_time_charts.charts(result)
