"""Content of `--help`: groups of commands, groups of options, and examples.

Add the examples of a new command here, and put a new option into a panel of its command.
"""

from __future__ import annotations

# The panels of `unchurn --help`; each command names its own.
START = "Start: see churn in two minutes"
MEASURE = "Measure: what flips between two models"
DECIDE = "Decide: may the new model be released"
REDUCE = "Reduce: soft labels that make retrainings agree"
STUDY = "Study: which method is worth using on your data"
DATA = "Data"

COLUMNS = {"Columns": "--id --prediction --label --probabilities --positive --threshold"}
TEXT = {"Text files": "--delimiter --decimal --encoding"}
SLICES = {"Slices and clusters": "--slices --min-slice --cluster"}
EXECUTION = {"Execution": "--config --workers --engine --ray-address --dry-run"}
ANSWER = "--json --markdown --flips --html"

# The options of each command by panel, in the order of the help.
PANELS = {
    "demo": {"How much to train": "--runs --epochs --workers", "Output": "--out"},
    "compare": {
        "Input": "--labels --labels-cover --retrains --min-overlap",
        **COLUMNS,
        **SLICES,
        **TEXT,
        "Output": ANSWER,
    },
    "gate": {
        "Policy": "--policy --max-churn --max-bad-flips --max-excess-churn --max-accuracy-loss "
        "--max-excess-loss --max-slice-churn --max-slice-bad-flips --max-slice-accuracy-loss "
        "--max-missing --must-not-flip --explain",
        "Input": "--labels --labels-cover --retrains --min-overlap",
        **COLUMNS,
        **SLICES,
        **TEXT,
        "Output": f"{ANSWER} --junit",
    },
    "blend": {
        "Budget": "--max-bad-flips --max-churn --ratio",
        "Input": "--labels --labels-cover --min-overlap --cluster",
        **COLUMNS,
        **TEXT,
        "Output": "--output --json",
    },
    "plan": {
        "What to detect": "--accuracy-loss --excess --power",
        "Churn of retraining": "--churn --floor-sd --retrains --retrains-count --min-overlap",
        **COLUMNS,
        **TEXT,
        "Output": "--json",
    },
    "smooth": {"Smoothing": "-k -a -b", **TEXT, "Output": "--output"},
    "bench": {
        "Input": "--target --aside --delimiter --decimal --encoding",
        "What to train": "--methods --preset --model --model-args",
        "How to train": "--runs --epochs --batch-size --learning-rate --device --seed",
        "How to choose settings": "--select-on --max-churn --max-bad-flips",
        "What changes between two models": "--scenario --share --same-seed --base-share "
        "--per-base --base-column --time --split --every --base --id",
        **EXECUTION,
        "Output": "--out",
    },
    "report": {"Output": "--output"},
    "reproduce": {
        "What to train": "--dataset --methods --runs --epochs --subset --quick",
        **EXECUTION,
        "Output": "--out",
    },
}

EXAMPLES = {
    "": (
        "unchurn demo",
        "unchurn compare production.parquet candidate.parquet",
        "unchurn gate production.parquet candidate.parquet --max-churn 0.05",
        "unchurn bench table.csv --target label",
    ),
    "demo": ("unchurn demo", "unchurn demo --runs 10 --out ten-runs"),
    "compare": (
        "unchurn compare production.parquet candidate.parquet --labels truth.csv",
        "unchurn compare old.csv new.csv --slices country --flips flips.csv",
        "unchurn compare old.csv new.csv --retrains again1.csv again2.csv again3.csv",
    ),
    "gate": (
        "unchurn gate old.csv new.csv --max-churn 0.05 --max-accuracy-loss 0.002",
        "unchurn gate old.csv new.csv --max-excess-churn 0 --retrains again*.csv",
        "unchurn gate --policy policy.toml --explain",
    ),
    "blend": (
        "unchurn blend old.csv new.csv --max-bad-flips 0.002 -o served.csv",
        "unchurn blend old.csv new.csv --max-churn 0.02 -o served.parquet",
        "unchurn blend old2.csv new2.csv --ratio 3 -o served2.csv",
    ),
    "plan": (
        "unchurn plan --accuracy-loss 0.005 --churn 0.05",
        "unchurn plan --excess 0.01 --retrains again1.csv again2.csv again3.csv",
    ),
    "bench": (
        "unchurn bench table.csv --target label --aside customer_id,day",
        'unchurn bench digits --methods "control,knn_ls(k=5)+ema,mixup" --runs 3',
        "unchurn bench t.csv --target y --scenario upgrade --time year --split 2024",
        "unchurn bench t.csv --target y --scenario replay --time day --every 30d",
        "unchurn bench --model sklearn.ensemble:ExtraTreesClassifier --dry-run",
    ),
    "report": ("unchurn report bench-phishing", "unchurn report bench-phishing -o page.html"),
    "reproduce": (
        "unchurn reproduce table1 --dataset mnist",
        "unchurn reproduce table1 --dataset phishing --runs 2 --epochs 2",
        "unchurn reproduce theorem1 --quick",
    ),
    "smooth": (
        "unchurn smooth logits.npy labels.npy -o soft.npy",
        "unchurn smooth logits.parquet labels.csv -k 5 -a 0.5 -b 0.1 -o soft.parquet",
    ),
    "warmup": ("unchurn warmup",),
    "data": ("unchurn data list", "unchurn data fetch mnist fashion_mnist"),
    "list": ("unchurn data list",),
    "fetch": ("unchurn data fetch mnist", "unchurn data fetch mnist fashion_mnist"),
}


def examples(command: str) -> str:
    """The examples at the end of a command's help, as a Markdown code block."""
    return "\n".join(["Examples:", "", "```", *EXAMPLES[command], "```"])
