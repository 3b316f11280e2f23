from itertools import combinations

import numpy as np
import pytest

import toys
from unchurn import InputError
from unchurn.paper.experiments import experiments
from unchurn.paper.explanations import explanations
from unchurn.paper.published import published
from unchurn.paper.quotes import quotes
from unchurn.paper.records import keep, read_all

pytestmark = pytest.mark.usefixtures("small_phishing")


@pytest.fixture
def folder(tmp_path):
    """Six runs of two methods on a little of Phishing, and two of the six."""
    for name, runs in (("many", 6), ("few", 2)):
        (experiment,) = experiments(
            "table1", "phishing", runs=runs, epochs=1, methods=["control", "mixup"]
        ).values()
        keep(tmp_path / "r", name, "table1", toys.carry_out(experiment, tmp_path), "command")
    return tmp_path / "r"


def test_explanations_quote_what_was_measured(folder):
    _, one = read_all(folder)
    control = one.result.settings[0]
    quoted = quotes([one])
    summary = control.summary["test"]
    assert quoted["measured"]("many", "control") == f"{100 * summary.churn.mean:.2f}"
    assert quoted["measured"]("many", "control", "accuracy") == f"{100 * summary.accuracy.mean:.2f}"
    right = control.predictions["test"] == one.result.subject.labels["test"]
    accuracies = [f"{value:.0f}" for value in np.sort(100 * right.mean(axis=1))]
    assert quoted["accuracies"]("many", "control") == accuracies
    assert quoted["agreeing"]("many").endswith(" of 8")
    assert quoted["agreeing"]("many", "control").endswith(" of 4")
    near = [
        abs(100 * getattr(summary, metric).mean - paper.mean[metric]) <= 2 * paper.sd[metric]
        for paper in [published()["phishing", "control"]]
        for metric in paper.mean
    ]
    assert quoted["agreeing"]("many", "control") == f"{sum(near)} of 4"


def test_variants_have_a_lowest_and_a_highest_churn(folder):
    quoted = quotes(read_all(folder))
    churns = [quoted["measured"](name, "control") for name in ("few", "many")]
    assert churns[0] != churns[1]
    assert quoted["spread"]("", "control") == {"low": min(churns), "high": max(churns)}
    assert quoted["spread"]("few", "control") == {"low": churns[0], "high": churns[0]}


def test_of_many_runs_every_five_are_tried(folder):
    _, one = read_all(folder)
    runs = one.result.settings[0].predictions["test"]
    churns = [
        np.mean([100 * np.mean(a != b) for a, b in combinations(runs[list(five)], 2)])
        for five in combinations(range(6), 5)
    ]
    found = quotes([one])["of_five"]("many", "control")
    assert found["low"] == f"{np.quantile(churns, 0.025):.2f}"
    assert found["high"] == f"{np.quantile(churns, 0.975):.2f}"
    theirs = published()["phishing", "control"].mean["churn"]
    assert found["as_high"] == f"{100 * np.mean(np.array(churns) >= theirs):.0f}"


def explained(folder, text):
    block = f"{{% block said %}}\n{text}{{% endblock %}}"
    (folder / "explanations.md.jinja").write_text(block, "utf-8")
    return explanations(folder, read_all(folder))("said", name="a name")


def test_a_block_is_a_paragraph(folder):
    assert explained(folder, "{{ name }}: {{ agreeing('many') }}").endswith(" of 8\n\n")
    assert explained(folder, " \n") == ""
    (folder / "explanations.md.jinja").unlink()
    assert explanations(folder, [])("said") == ""


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{{ measured('none', 'control') }}", "no result 'none'"),
        ("\n{{ measured('many', 'contrl') }}", ":3: many has no 'contrl': it has control, mixup"),
        ("{{ measured('many', 'control', 'mean') }}", "no metric 'mean'"),
        ("{{ agreeing('many', 'contrl') }}", "many has no 'contrl'"),
        ("{{ spread('none', 'control') }}", "no result none…"),
        ("{{ of_five('few', 'control') }}", "few: 'control' needs 5 runs"),
        ("{{ measured() }}", "missing 2 required positional arguments"),
        ("{{ missing }}", ":2: 'missing' is undefined"),
        ("{{ 1 / 0 }}", "division by zero"),
        ("{% if %}", ":2: Expected an expression"),
        ("{{ measured.__globals__ }}", "unsafe"),
        ("{% include 'README.md' %}", "no loader"),
    ],
)
def test_wrong_and_hostile_explanations_are_refused(folder, text, problem):
    with pytest.raises(InputError, match=problem) as error:
        explained(folder, text)
    assert "explanations.md.jinja:" in str(error.value)
    assert "\n" not in str(error.value)


def test_a_block_sees_text_only(folder):
    """An array or a result would let a template write files: numpy's arrays do."""
    for quote in quotes(read_all(folder)).values():
        arguments = ("many",) if quote.__name__ == "agreeing" else ("many", "control")
        answer = quote(*arguments)
        values = answer.values() if isinstance(answer, dict) else [answer]
        flat = [v for value in values for v in (value if isinstance(value, list) else [value])]
        assert {type(value) for value in flat} == {str}
