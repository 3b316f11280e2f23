"""Every verb once, in an environment where unchurn is installed: `python smoke.py EXTRA…`.

It knows nothing of the source: only what was installed with these extras is there. What needs
another one must say so in one line. environments.py makes the environments and runs this in each.
"""

import csv
import os
import random
import shlex
import subprocess
import sys
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path

FOREST = "--model sklearn.ensemble:ExtraTreesClassifier --methods control --runs 2"
NETS = "--methods control,knn_ls+ema --runs 2 --epochs 2"
OFFICE = "http://schemas.openxmlformats.org"
BY_FAISS = """
import numpy, unchurn
points = numpy.random.default_rng(0).normal(size=(300, 4)).astype("float32")
labels = numpy.arange(300) % 3
here = unchurn.knn_labels(points, labels, 5)
print("equal", numpy.array_equal(here, unchurn.knn_labels(points, labels, 5, engine="faiss")))
"""
TRAINED = """
import unchurn
data = unchurn.load("digits")
model = unchurn.StableClassifier(method="knn_ls+ema", epochs=3, random_state=0)
print("good", model.fit(data.x_train, data.y_train).score(data.x_test, data.y_test) > 0.8)
model.save("model.safetensors")
unchurn.StableClassifier.load("model.safetensors").predict(data.x_test)
"""
MEASURED = "import unchurn; print(unchurn.churn([0, 1, 1, 0], [0, 1, 0, 0]))"


@dataclass(frozen=True)
class Check:
    """A command that works where the extras it needs are, and says so where they are not."""

    command: str
    says: str = ""
    needs: str = ""  # by comma
    code: int = 0
    python: str = ""  # a program that is given to the command


CHECKS = (
    Check("unchurn --version", "unchurn "),
    Check("unchurn --help", "compare"),
    Check("python -c", "0.25", python=MEASURED),
    Check("unchurn demo --runs 2 --epochs 1", "open demo/index.html", "train,charts"),
    Check("unchurn compare old.csv new.csv --slices country", "churn"),
    Check("unchurn compare old.csv new.csv --retrains again1.csv again2.csv again3.csv", "noise"),
    Check("unchurn compare old.csv new.csv --html page.html", "churn", "charts"),
    Check("unchurn compare old.xlsx new.csv", "churn", "excel"),
    Check("unchurn gate old.csv new.csv --max-churn 0.5", "PROMOTE"),
    Check("unchurn gate old.csv new.csv --max-churn 0.001", "REJECT", code=1),
    Check("unchurn blend old.csv new.csv --max-bad-flips 0.05 -o served.parquet", "ratio"),
    Check("unchurn plan --accuracy-loss 0.005 --churn 0.05", "labelled rows"),
    Check("unchurn smooth logits.npy labels.npy -k 5 -o soft.npy", "wrote"),
    Check("unchurn warmup", "compiled", "knn"),
    Check("python -c", "equal True", "faiss", python=BY_FAISS),
    Check("unchurn data list", "digits"),
    Check("unchurn data fetch digits", "needs no files"),
    Check(f"unchurn bench digits {FOREST} --out forest", "control"),
    Check(f"unchurn bench own.csv --target label {FOREST} --out own", "control"),
    Check("unchurn report forest", "wrote", "charts"),
    Check(f"unchurn bench digits {FOREST} --engine ray --workers 2 --out far", "control", "ray"),
    Check(f"unchurn bench digits {NETS} --out nets", "control", "train"),
    Check(f"unchurn bench own.csv --target label {NETS} --scenario upgrade --out up",
          "bad flips", "train"),
    Check("python -c", "good True", "train", python=TRAINED),
    Check("unchurn reproduce figure1 --out paper", "figure1", "charts"),
)  # fmt: skip


def main(extras: set[str]) -> int:
    """Run all of them in a folder of its own; give how many went wrong."""
    os.environ.pop("UNCHURN_DATA", None)
    os.environ["COLUMNS"] = "100"
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        write_files()
        wrong = [said for check in CHECKS if (said := run(check, extras))]
        os.chdir("/")
    print(*wrong, sep="\n")
    print(f"{len(CHECKS) - len(wrong)} of {len(CHECKS)} as promised")
    return len(wrong)


def run(check: Check, extras: set[str]) -> str:
    """Run one; say what is wrong with it, if anything."""
    program, *arguments = shlex.split(check.command)
    arguments += [check.python] if check.python else []
    place = Path(sys.executable).with_name(program)
    done = subprocess.run([place, *arguments], capture_output=True, text=True)
    said, errors = done.stdout, done.stderr
    if not check.needs or set(check.needs.split(",")) <= extras:
        fine = done.returncode == check.code and check.says in said and "Warning" not in errors
    else:
        line = errors.strip().splitlines()[-1]
        fine = f"pip install 'unchurn[{check.needs}]'" in line and done.returncode != 0
        fine = fine and (bool(check.python) or errors.count("\n") == 1)
    return "" if fine else f"{check.command}: exit code {done.returncode}\n{said}{errors}"


def write_files() -> None:
    """What the commands read: two models' predictions, retrainings, a table, logits."""
    import numpy as np

    draw = random.Random(0)
    truth = [draw.randrange(2) for _ in range(600)]
    for name in ("old", "new", "again1", "again2", "again3"):
        right = [0.55 + 0.44 * draw.random() - 0.5 * (draw.random() < 0.06) for _ in truth]
        positive = [p if t else 1 - p for t, p in zip(truth, right, strict=True)]
        rows = [
            (f"u{i}", "cat" if p < 0.5 else "dog", ("cat", "dog")[t], "defr"[i % 2 * 2 :][:2],
             f"{1 - p:.4f}", f"{p:.4f}")
            for i, (t, p) in enumerate(zip(truth, positive, strict=True))
        ]  # fmt: skip
        header = ("id", "prediction", "label", "country", "probability_cat", "probability_dog")
        write_csv(name, [header, *rows])
        if name == "old":
            write_workbook(name, [header, *rows])
    numbers = [(draw.gauss(t, 1), draw.gauss(-t, 1), t) for t in truth]
    write_csv("own", [("width", "height", "label"), *numbers])
    np.save("logits.npy", np.array([n[:2] for n in numbers], np.float32))
    np.save("labels.npy", np.array(truth))


def write_csv(name: str, rows: list[tuple[object, ...]]) -> None:
    """A table as text."""
    with Path(f"{name}.csv").open("w", newline="") as file:
        csv.writer(file).writerows(rows)


def write_workbook(name: str, rows: list[tuple[str, ...]]) -> None:
    """A table as the least that is a workbook: reading one needs an extra, writing none does."""
    cell = '<c t="inlineStr"><is><t>{}</t></is></c>'.format
    sheet = "".join(f"<row>{''.join(map(cell, row))}</row>" for row in rows)
    main_, of_parts = f"{OFFICE}/spreadsheetml/2006/main", f"{OFFICE}/package/2006"
    relation = f"{OFFICE}/officeDocument/2006/relationships"
    kind = "application/vnd.openxmlformats-package.relationships+xml"
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{of_parts}/content-types">'
        f'<Default Extension="rels" ContentType="{kind}"/>'
        '<Default Extension="xml" ContentType="application/xml"/></Types>',
        "xl/workbook.xml": f'<workbook xmlns="{main_}" xmlns:r="{relation}">'
        '<sheets><sheet name="one" sheetId="1" r:id="r1"/></sheets></workbook>',
        "xl/worksheets/sheet1.xml": f'<worksheet xmlns="{main_}"><sheetData>{sheet}</sheetData>'
        "</worksheet>",
    }
    for path, target, what in (
        ("_rels/.rels", "xl/workbook.xml", "officeDocument"),
        ("xl/_rels/workbook.xml.rels", "worksheets/sheet1.xml", "worksheet"),
    ):
        parts[path] = (
            f'<Relationships xmlns="{of_parts}/relationships"><Relationship Id="r1" '
            f'Type="{relation}/{what}" Target="{target}"/></Relationships>'
        )
    with zipfile.ZipFile(f"{name}.xlsx", "w") as book:
        for path, text in parts.items():
            book.writestr(path, text)


if __name__ == "__main__":
    sys.exit(main(set(sys.argv[1:])))
