"""TABLES: data that nobody here chose, on which defaults are decided; FRESH: more, to check them.

NEWEST: still more, for the next default. Two come with scikit-learn; tables.R, beside this file,
writes the others from R's packages, which Debian has, into the folder `tables` of UNCHURN_DATA.
"""

from __future__ import annotations

import csv
import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from unchurn.core.errors import InputError
from unchurn.datasets import Dataset, load_csv, load_table
from unchurn.datasets.find import data_folder

if TYPE_CHECKING:
    import polars as pl

BEYOND = "beyond"  # what `unchurn reproduce` calls the study …
BEYOND_RESAMPLED = "beyond-resampled"  # … its second part, in which the data is drawn anew
BEYOND_SHORT = "beyond-short"  # … and its third, in which training is short
FOLDER = "tables"
MANY = 5000  # rows: above this, five runs tell as much as ten do on smaller tables


@dataclass(frozen=True, kw_only=True)
class Table:
    """A table: where it is from, what is to be predicted, and how many rows it has."""

    source: str  # R's package, or "scikit-learn"
    target: str
    rows: int
    sha256: str = ""  # of its CSV file

    @property
    def runs(self) -> int:
        """Retrainings of each setting."""
        return 5 if self.rows > MANY else 10


def _of_r(package: str, target: str, rows: int, sha256: str) -> Table:
    return Table(source=package, target=target, rows=rows, sha256=sha256)


TABLES: dict[str, Table] = {
    "wine": Table(source="scikit-learn", target="target", rows=178),
    "Sonar": _of_r(
        "mlbench",
        "Class",
        208,
        "d74c6f0ac25b4872e444960438f2ffeb9326d09cda8e9cba4421e073e54092bb",
    ),
    "Glass": _of_r(
        "mlbench", "Type", 214, "6c1bc5ccf98200009d2d12d72e5fb45e6eac9d3ab7ac5397a8e8d52565156b1f"
    ),
    "Ionosphere": _of_r(
        "mlbench", "Class", 351, "d825dc02ab5c526a6ebdafd11b4730a40810d64f029521449515a0eea79bc7d5"
    ),
    "breast_cancer": Table(source="scikit-learn", target="target", rows=569),
    "Soybean": _of_r(
        "mlbench", "Class", 683, "96eac8047b2034523c57c5d6ae32ecc64ba2da139b1d930a838a35de3cda5ce6"
    ),
    "PimaIndiansDiabetes2": _of_r(
        "mlbench",
        "diabetes",
        768,
        "c3c0c04ee2d13380d1862d4b5d72f7ecc81fa265355741e3d695e7c7455438af",
    ),
    "Vehicle": _of_r(
        "mlbench", "Class", 846, "6ac6c57691c9db640e54a973cde46928366b77b20b9f06341c66cc5a8bcf14c5"
    ),
    "Vowel": _of_r(
        "mlbench", "Class", 990, "a994bb4b8cdb6d1be5dbe57c54116fcd611bfd4b3aaedb78607b37cb86ee8f31"
    ),
    "DNA": _of_r(
        "mlbench",
        "Class",
        3186,
        "279ecaf3353b1b8c1966aec10286ee5888f4de8ca426295720fd0e1eb5615003",
    ),
    "spam": _of_r(
        "kernlab", "type", 4601, "eda6f048183b06c6f7dc530d09549e1cf7932a23f879a1f33e6589140260532b"
    ),
    "Satellite": _of_r(
        "mlbench",
        "classes",
        6435,
        "27ae219dba00d559961c99fcdec7ad0a30db524febcafb438a421fdf7b0107ba",
    ),
    "income": _of_r(
        "kernlab",
        "INCOME",
        8993,
        "d1a2dfaf71ab49a7b979611c25475c26072e633912cc93af87de335d27f13156",
    ),
    "ticdata": _of_r(
        "kernlab",
        "CARAVAN",
        9822,
        "b7a9fc72bac2b041a8205eb1e368d98567bd24dc66c120fbda00b84225e165fa",
    ),
    "LetterRecognition": _of_r(
        "mlbench",
        "lettr",
        20000,
        "b63c465dbba15552b15f1932b259704e5547c1b5a7a39fd9a15ef94c2ba99114",
    ),
    "Shuttle": _of_r(
        "mlbench",
        "Class",
        58000,
        "1a95c027d5a37afee401a5334fc69e863e75cb1cfc22be81dc88b6c8938c8af7",
    ),
}


# All other tables of mlbench and kernlab that have a class to predict and are no text, and those of
# modeldata with 300 rows or more, no text and no thousand columns: nobody here had looked at them
# when a new default was thought of.
FRESH: dict[str, Table] = {
    "Zoo": _of_r(
        "mlbench", "type", 101, "cfb1bcb765c6424df82d7e3bcf080892c00d93e01c16c60a6929b9d0c67634e5"
    ),
    "promotergene": _of_r(
        "kernlab", "Class", 106, "444127a06bab43b08ab53b360ea2448e43c1152f9e7bd759b1d31f09f70f7916"
    ),
    "ad_data": _of_r(
        "modeldata",
        "Class",
        333,
        "8bba79759f074048edea2d40ca00746b301b1356286d2c96f73cca5f03d2fd10",
    ),
    "penguins": _of_r(
        "modeldata",
        "species",
        344,
        "3113b3056fe9988d498a759a4531da260225d7ce449c1dd281e29136aba94362",
    ),
    "HouseVotes84": _of_r(
        "mlbench", "Class", 435, "9347be4bc15ec3b61e80b55ce86881a62b84ca68a1afc9427b7016010a24c8b0"
    ),
    "musk": _of_r(
        "kernlab", "Class", 476, "947e9c85245d16f275d1af04ad12596e91c5ee1c1fcfbf442c577a71fdd0c7bd"
    ),
    "parabolic": _of_r(
        "modeldata",
        "class",
        500,
        "7e0bec036546f58f50384e55a0832c7d832212b771a2d374e5ddb02d85fd54ca",
    ),
    "BreastCancer": _of_r(
        "mlbench", "Class", 699, "80a912da22060c0a5c14b3b6194996e05c4cd2ed0a2b1c4db4ce5a4989f5a98b"
    ),
    "two_class_dat": _of_r(
        "modeldata",
        "Class",
        791,
        "698eeedd13dd2f8d2b5e571a06bd1572ed618c39ce365e60c9f51c5026ce60ca",
    ),
    "attrition": _of_r(
        "modeldata",
        "Attrition",
        1470,
        "29ea5e79efb1936e95f50e684842192d4f468f247cca230b47d81f15d2315f06",
    ),
    "cells": _of_r(
        "modeldata",
        "class",
        2019,
        "65f3dcb16554e7c987d7bd30578f593c5a74b61aa7443c0b841618b3cf2d31b1",
    ),
    "hpc_data": _of_r(
        "modeldata",
        "class",
        4331,
        "7fcf58cc75576645d8112242ebb8ae82da54163bc59ffc0b31d308cbc8fbb8f3",
    ),
    "credit_data": _of_r(
        "modeldata",
        "Status",
        4454,
        "2392f2e9d9ebe7eef1b40b7e3c13fff748783ad64b3ad5af7f04a17556842fd9",
    ),
    "mlc_churn": _of_r(
        "modeldata",
        "churn",
        5000,
        "7eaf98ebcdf529c260539b939b6d1e8f5001b9d3d5266810560ba070c5bc2046",
    ),
    "stackoverflow": _of_r(
        "modeldata",
        "Remote",
        5594,
        "7fd4cb5063e4ac5419402042260639ff503d9956b38c0c43fa6b2e621b83eaf4",
    ),
    "wa_churn": _of_r(
        "modeldata",
        "churn",
        7043,
        "d4323faeaab5cd2826e22eab230ec489d9e210f56ac5505750fb4721fa230ef3",
    ),
    "lending_club": _of_r(
        "modeldata",
        "Class",
        9857,
        "06ce4edfcf2a80d2daceab44b6100034e026df59e9ab2d61c7ab1514bb9a4d3f",
    ),
}


def _newest() -> dict[str, Table]:
    """The tables of newest.csv; tables.R drops columns `without`: ids, or what tells the class."""
    with Path(__file__).with_name("newest.csv").open(encoding="utf-8") as file:
        return {
            row["name"]: _of_r(row["package"], row["target"], int(row["rows"]), row["sha256"])
            for row in csv.DictReader(file)
        }


# Tables of nine other packages of R that Debian has, with a class to predict as their own pages
# have it, of 150 rows or more, none of which is one of the above: nobody here had looked at them
# when `auto_ema` was thought of.
NEWEST: dict[str, Table] = _newest()
ALL_TABLES = {**TABLES, **FRESH, **NEWEST}


def load_other(name: str) -> Dataset:
    """Load a table, split and prepared like any table of a user's own."""
    table = ALL_TABLES[name]
    if table.source == "scikit-learn":
        return load_table(_of_sklearn(name), table.target, name=name)
    return load_csv(_find(name, table), table.target)


def _of_sklearn(name: str) -> pl.DataFrame:
    import polars as pl
    from sklearn import datasets

    frame = {"wine": datasets.load_wine, "breast_cancer": datasets.load_breast_cancer}[name]()
    columns = {str(c): frame.data[:, i] for i, c in enumerate(frame.feature_names)}
    return pl.DataFrame({**columns, "target": frame.target})


def _find(name: str, table: Table) -> Path:
    """The table's file, verified; if it is missing, InputError says how to make it."""
    folder = data_folder(None)
    path = None if folder is None else folder / FOLDER / f"{name}.csv"
    if path is None or not path.exists():
        where = path or f"{FOLDER}/{name}.csv in UNCHURN_DATA"
        script = Path(__file__).with_name("tables.R")
        raise InputError(f'{where} is not there: Rscript {script} "$UNCHURN_DATA/{FOLDER}"')
    if hashlib.sha256(path.read_bytes()).hexdigest() != table.sha256:
        raise InputError(f"{path}: its checksum is not that of {name} of R's {table.source}")
    return path
