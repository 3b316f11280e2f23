import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import unchurn

FILES = ("logits.npy", "labels.npy")


@pytest.fixture
def inputs(tmp_path):
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 3, 200)
    logits = rng.normal(size=(200, 3)) + np.eye(3)[labels]
    np.save(tmp_path / "logits.npy", logits)
    np.save(tmp_path / "labels.npy", labels)
    return logits, labels


def test_smooth_writes_what_the_function_gives(run, inputs, tmp_path):
    code, out, _ = run("smooth", *FILES, "-k", "5", "-a", "0.8", "-b", "0.3", "-o", "soft.npy")
    assert code == 0
    expected = unchurn.knn_smooth_labels(*inputs, k=5, a=0.8, b=0.3)
    np.testing.assert_array_equal(np.load(tmp_path / "soft.npy"), expected)
    assert str(unchurn.off_label_mass(unchurn.knn_labels(*inputs, 5), inputs[1])) in out
    assert "soft.npy: 200 × 3 soft targets" in out


def test_smooth_prints_names_as_they_are(run, inputs, tmp_path):
    names = np.array(["[/b]", "[red]", ":cat:"])[inputs[1]]
    np.save(tmp_path / "[bold]labels.npy", names)
    code, out, _ = run("smooth", "logits.npy", "[bold]labels.npy", "-o", "soft.csv")
    assert code == 0
    assert "[bold]labels.npy: 3 classes: :cat:, [/b], [red]" in out


def test_smooth_writes_even_if_nobody_reads_what_it_prints(inputs, tmp_path):
    command = [Path(sys.executable).with_name("unchurn"), "smooth", *FILES, "-o", "soft.npy"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.close()
    assert np.load(tmp_path / "soft.npy").shape == (200, 3)


def test_smooth_notes_a_class_without_examples(run, inputs, tmp_path):
    np.save(tmp_path / "logits.npy", np.hstack([inputs[0], inputs[0][:, :1]]))
    _, out, _ = run("smooth", *FILES, "-o", "soft.csv")
    assert "no example of class 3: check the logits' columns" in out


def test_smooth_says_when_logits_look_like_probabilities(run, inputs, tmp_path):
    _, out, _ = run("smooth", *FILES, "-o", "soft.csv")
    assert "look like probabilities" not in out
    p = np.exp(inputs[0])
    np.save(tmp_path / "logits.npy", p / p.sum(axis=1, keepdims=True))
    code, out, _ = run("smooth", *FILES, "-o", "soft.csv")
    assert code == 0
    assert "note    these look like probabilities (0 to 1, rows sum to 1), not logits" in out


def test_smooth_reads_tables_of_any_kind(run, inputs, tmp_path):
    logits = pl.DataFrame(inputs[0], schema=["a", "b", "c"])
    logits.write_csv(tmp_path / "logits.csv", separator=";", decimal_comma=True)
    pl.DataFrame({"label": inputs[1]}).write_excel(tmp_path / "labels.xlsx")
    files = ("logits.csv", "labels.xlsx", "-o", "soft.npy", "--delimiter", ";", "--decimal", ",")
    code, _, err = run("smooth", *files)
    assert (code, err) == (0, "")
    np.testing.assert_array_equal(
        np.load(tmp_path / "soft.npy"), unchurn.knn_smooth_labels(*inputs, k=10, a=0.9, b=0.9)
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("-o soft.txt", "soft.txt: the name must end in"),
        ("-o gone/soft.npy", "there is no folder gone"),
        ("-o logits.npy", "cannot write logits.npy: it is another file of this command"),
        ("-o labels.npy", "cannot write labels.npy: it is another file of this command"),
        ("-o labels.npy/soft.npy", "there is no folder labels.npy"),
        ("-o soft.npy -k 201", "k must be from 1 to the number of points, 200"),
        ("-o soft.npy -a 1.5", "-a must be from 0 to 1"),
    ],
)
def test_smooth_refuses_and_writes_nothing(run, inputs, tmp_path, options, message):
    code, _, err = run("smooth", *FILES, *options.split())
    assert code == 2
    assert message in err
    assert sorted(p.name for p in tmp_path.iterdir()) == ["labels.npy", "logits.npy"]


def test_warmup_compiles_ahead():
    """Also what LeNet5 needs, of any images: nothing is left for the first training."""
    script = """
import sys
from contextlib import suppress
import torch
from unchurn.cli import main
sys.argv = ["unchurn", "warmup"]
with suppress(SystemExit):
    main()
from unchurn.training.networks.kernels.pooled import filter_gradients, input_gradients, pool
from unchurn.training.networks.factories import lenet5
kernels = pool, filter_gradients, input_gradients
before = [len(kernel.signatures) for kernel in kernels]
for shape in ((28, 28), (32, 32, 3)):
    lenet5(shape, 10)(torch.rand(7, *shape)).sum().backward()
print(before, [len(kernel.signatures) for kernel in kernels])
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.stdout.startswith("compiled in ")
    assert done.stdout.endswith("[1, 1, 1] [1, 1, 1]\n")
