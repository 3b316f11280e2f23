"""UCI Phishing Websites: 11,055 web pages, 30 features in {−1, 0, 1}; in the package.

By Rami Mohammad and Lee McCluskey, CC BY 4.0 (NOTICE). An ARFF or CSV file in the user's data
folder takes precedence over the embedded data.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from unchurn.core.arrays import Array
from unchurn.core.errors import InputError
from unchurn.core.files import reading
from unchurn.core.tables import read_table
from unchurn.datasets.base import Dataset, RemoteFile, Source, split
from unchurn.datasets.embedded import unpack
from unchurn.datasets.find import in_data_folder, obtain

FEATURES = (
    "having_IP_Address", "URL_Length", "Shortining_Service", "having_At_Symbol",
    "double_slash_redirecting", "Prefix_Suffix", "having_Sub_Domain", "SSLfinal_State",
    "Domain_registeration_length", "Favicon", "port", "HTTPS_token", "Request_URL",
    "URL_of_Anchor", "Links_in_tags", "SFH", "Submitting_to_email", "Abnormal_URL", "Redirect",
    "on_mouseover", "RightClick", "popUpWidnow", "Iframe", "age_of_domain", "DNSRecord",
    "web_traffic", "Page_Rank", "Google_Index", "Links_pointing_to_page", "Statistical_report",
)  # fmt: skip
TARGET = "Result"  # −1 phishing, 1 legitimate


def load(data_dir: Path | None = None) -> Dataset:
    """Load the unscaled features, split into parts of the paper's sizes, 7,406 and 3,649."""
    import polars as pl

    notes: tuple[str, ...] = ()
    if in_data_folder(ARFF, data_dir):
        (path,), notes = obtain(PHISHING.files, data_dir)
        values = read(path)
    else:
        values = unpack(len(FEATURES) + 1)
    x, y = values[:, :-1].astype(np.float32), (values[:, -1] == 1).astype(np.int64)
    x_train, x_test, y_train, y_test = split(x, y, test_size=0.33, stratify=False)
    return Dataset(
        name="phishing",
        x_train=x_train,
        y_train=y_train,
        x_test=x_test,
        y_test=y_test,
        classes=("phishing", "legitimate"),
        notes=notes,
        test_rows=pl.DataFrame(x_test.astype(np.int8), FEATURES),
    )


def read(path: Path) -> Array:
    """The features and the target of an ARFF or CSV file, (n, 31)."""
    columns = _read_arff(path) if path.suffix.lower() == ".arff" else _read_csv(path)
    missing = [name for name in (*FEATURES, TARGET) if name not in columns]
    if missing:
        raise InputError(f"{path}: no column {', '.join(missing)}")
    values = np.stack([columns[name] for name in (*FEATURES, TARGET)], axis=1)
    if len(values) < 2:
        raise InputError(f"{path}: {len(values)} rows are too few to split")
    if not np.isin(values, (-1, 0, 1)).all() or (values[:, -1] == 0).any():
        raise InputError(f"{path}: features must be −1, 0 or 1 and {TARGET} −1 or 1")
    return values


def _read_arff(path: Path) -> dict[str, Array]:
    """Columns of an ARFF file by name."""
    from scipy.io import arff

    with reading(path, "an ARFF file"):
        table, _ = arff.loadarff(path)
        return {name: table[name].astype(np.int64) for name in table.dtype.names}


def _read_csv(path: Path) -> dict[str, Array]:
    """Columns of a CSV file by name."""
    with reading(path, "a table of numbers"):  # some column types have no NumPy equivalent
        return {column.name: column.to_numpy() for column in read_table(path)}


ARFF = RemoteFile(
    path="phishing/Training Dataset.arff",
    url="https://archive.ics.uci.edu/ml/machine-learning-databases/00327/Training%20Dataset.arff",
    sha256="0dfcd84ccdedca6e1be2ce26452c1f1089ac3f839b9a1b0ab1cdcf6d895f9a70",
    size=800856,
    instead="phishing/phishing.csv",
)
PHISHING = Source(
    name="phishing",
    n_train=7406,
    n_test=3649,
    n_classes=2,
    load=load,
    files=(ARFF,),
    is_embedded=True,
)
