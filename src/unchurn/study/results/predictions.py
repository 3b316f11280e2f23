"""Write `predictions/`: METHOD-RUN.parquet of every chosen setting, as `unchurn compare` reads it.

Rows have the table's own id, if there is one, else their number (see `ids.py`). Probabilities of
the classes are included if the runs are in a store (see `stored_probabilities.py`).

In the scenario replay, the column `release` has the number of the release in use when a row came,
as in releases.csv.

base-model-RUN.parquet has the predictions of the model that a run is compared with;
base-model-of-METHOD-RUN.parquet if methods have different ones: those of the previous release. No
method's name has a hyphen.

Files of an earlier bench in the same folder are removed, as they would count as retrainings of this
one. written.json lists them by checksum: a file that it does not list, or that was changed since,
is the user's own.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from unchurn.comparison.inputs.columns import PREFIX
from unchurn.core.errors import InputError
from unchurn.core.files import atomic_write, write_text
from unchurn.core.frames import INDEXES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import polars as pl

    from unchurn.core.arrays import Array, IntArray
    from unchurn.study.results.result import Result
    from unchurn.study.results.stored_probabilities import StoredProbabilities
    from unchurn.study.results.subject import Subject

WRITTEN = "written.json"
RELEASE = "release"  # the column of a release's number, as in releases.csv
AGAIN = "then run the same bench again, which keeps its trainings"
Written = dict[str, str | None]  # checksums by file name; None while a file is being written


def write_predictions(
    result: Result, folder: Path, said: StoredProbabilities | None = None
) -> None:
    """Write the files of every chosen setting, and remove those of an earlier bench."""
    files = _files(result, said)
    folder.mkdir(parents=True, exist_ok=True)
    written = _read_written(folder)
    for name, make in files.items():
        path = folder / name
        if not os.path.lexists(path):
            continue
        if not _is_own(path, written if name in written else {name: _checksum(make())}):
            raise InputError(f"{path} is not this bench's own: move it away, {AGAIN}")
    stale = [n for n in written if n not in files and _is_own(folder / n, written)]
    if stale and folder.is_symlink():  # the folder may be somebody else's
        raise InputError(f"{folder} is a link: remove {stale[0]} there yourself, {AGAIN}")
    # Listed before anything is written, so that a kill leaves no file that the list lacks.
    _note(folder, {**written, **dict.fromkeys(files)})
    checksums: Written = {}
    for name, make in files.items():
        content = make()
        with atomic_write(folder / name) as temporary:
            temporary.write_bytes(content)
        checksums[name] = _checksum(content)
    for name in stale:
        (folder / name).unlink(missing_ok=True)
    _note(folder, checksums)


def file_name(text: str) -> str:
    """A text as part of a file's name, other characters replaced by underscores.

    >>> file_name("knn_ls+ema"), file_name("x/../../y")
    ('knn_ls+ema', 'x_.._.._y')
    """
    return re.sub(r"[^\w+.-]", "_", text)


def _files(result: Result, said: StoredProbabilities | None) -> dict[str, Callable[[], bytes]]:
    """Functions that make each file's content, by name, so that one at a time is in memory."""
    import polars as pl

    names = pl.Series(result.subject.data.label_values)  # of the table's own type, to compare
    labels = names.gather(result.subject.labels["test"])
    ids, released = _ids(result.subject), _released(result.subject)

    def content(predicted: IntArray, probabilities: Callable[[], Array] | None) -> bytes:
        columns = {
            **ids,
            **released,
            "prediction": names.gather(predicted),
            "label": labels,
            **({} if probabilities is None else _of_classes(result.subject, probabilities())),
        }
        buffer = io.BytesIO()
        pl.DataFrame(columns).write_parquet(buffer)
        return buffer.getvalue()

    return {
        f"{name}.parquet": partial(content, predicted, probabilities)
        for name, predicted, probabilities in _predictions(result, said)
    }


def _ids(subject: Subject) -> dict[str, pl.Series]:
    """The columns of ids (see `ids.py`): `id`, and the same under the column's own name.

    So these files join each other without options, and the user's tables by --id.
    """
    import polars as pl

    if subject.ids is None:
        return {"id": pl.int_range(len(subject.labels["test"]), eager=True)}
    ids, own = pl.Series(subject.ids), subject.data.id_column
    is_taken = own in ("id", RELEASE, "prediction", "label", *INDEXES)
    return {"id": ids} if is_taken else {"id": ids, own: ids}


def _released(subject: Subject) -> dict[str, IntArray]:
    """The column with the number of the release that tests each row; empty without history."""
    return {} if subject.history is None else {RELEASE: subject.history.tested_by["test"]}


def _of_classes(subject: Subject, probabilities: Array) -> dict[str, Array]:
    """A column of probabilities for each class."""
    each = zip(subject.data.classes, probabilities.T, strict=True)
    return {f"{PREFIX}{name}": column for name, column in each}


def _predictions(
    result: Result, said: StoredProbabilities | None
) -> Iterator[tuple[str, IntArray, Callable[[], Array] | None]]:
    """File name, classes and probabilities of every run, and of the models they are compared with.

    A base that all methods share comes once.
    """
    chosen = {file_name(method): row for method, row in result.chosen.items()}
    for method, row in chosen.items():
        for run, own in enumerate(row.reported.runs["test"].predictions):
            yield f"{method}-{run}", own, partial(said.by_run, row, run) if said else None
    bases = {
        method: base
        for method, row in chosen.items()
        if (base := row.reported.runs["test"].base) is not None
    }
    is_one = len({base.tobytes() for base in bases.values()}) == 1
    for method, base in list(bases.items())[: 1 if is_one else None]:
        of = "" if is_one else f"of-{method}-"
        for run, own in enumerate(base):
            by_base = partial(said.by_base, chosen[method], run) if said else None
            yield f"base-model-{of}{run}", own, by_base


def _read_written(folder: Path) -> Written:
    """The files that an earlier bench listed, except unsafe names; empty if unreadable."""
    try:
        noted = json.loads((folder / WRITTEN).read_text("utf-8"))
        return {
            name: checksum
            for name, checksum in noted.items()
            if Path(name).name == name and name.endswith(".parquet")
        }
    except (OSError, ValueError, AttributeError, RecursionError):
        return {}


def _note(folder: Path, written: Written) -> None:
    write_text(folder / WRITTEN, json.dumps(written, indent=1, sort_keys=True) + "\n")


def _is_own(path: Path, written: Written) -> bool:
    """Whether a file is as a bench wrote it, or was being written when the bench was killed."""
    if path.is_symlink() or not path.is_file() or path.name not in written:
        return False
    noted = written[path.name]
    return noted is None or noted == _checksum(path.read_bytes())


def _checksum(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
