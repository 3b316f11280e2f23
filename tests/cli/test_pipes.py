"""Standard input and pipes as files of predictions."""

import io
import json
import os
import sys
import tempfile
import threading

import pytest

BASE = "id,prediction\n1,a\n2,b\n3,b\n4,a\n"
OTHER = "id,prediction\n4,a\n3,a\n2,b\n1,a\n"  # 3 flips


@pytest.fixture
def given(monkeypatch, tmp_path):
    """A file, and a function that gives standard input; temporary files go beside."""
    (tmp_path / "base.csv").write_text(BASE)
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))

    def give(text):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))

    yield give
    assert list((tmp_path / "temporary").iterdir()) == []


@pytest.mark.parametrize("name", ["-", "/dev/stdin"])
@pytest.mark.parametrize("command", ["compare", "gate"])
def test_standard_input_is_a_csv(run, given, name, command):
    given(OTHER)
    limit = ["--max-churn", "1"] if command == "gate" else []
    code, out, err = run(command, "base.csv", name, "--json", *limit)
    assert (code, err) == (0, "")
    assert json.loads(out)["churn"]["value"] == 0.25
    assert "standard input.csv" in json.loads(out)["columns"]


def test_nothing_in_it_is_one_line(run, given):
    for words in (("base.csv", "-"), ("-", "base.csv")):
        given("")
        code, out, err = run("compare", *words)
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert err == "unchurn: standard input.csv: is empty\n"


def test_standard_input_is_not_two_files(run, given):
    given(OTHER)
    code, out, err = run("compare", "-", "-")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "standard input can be read only once" in err


def test_a_pipe_is_read_once(run, given, tmp_path):
    pipe = tmp_path / "63"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_text, args=(OTHER,))
    writer.start()
    code, out, _ = run("compare", "base.csv", str(pipe), "--json")
    writer.join()
    assert (code, json.loads(out)["churn"]["value"]) == (0, 0.25)
    assert "pipe 63.csv" in json.loads(out)["columns"]


def test_labels_may_come_through_it(run, given):
    given("id,label\n1,a\n2,b\n3,b\n4,b\n")
    code, out, _ = run("compare", "base.csv", "base.csv", "--labels", "-", "--json")
    assert (code, json.loads(out)["accuracy_base"]["value"]) == (0, 0.75)
