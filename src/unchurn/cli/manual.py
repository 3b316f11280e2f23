"""Content of `--help`: the groups of commands and options, and examples.

A new command needs its examples here, a new option its place in a panel of its command.
"""

from __future__ import annotations

# The panels of `unchurn --help`; the commands name theirs.
START = "Start: the point in two minutes"
MEASURE = "Measure: what flips between two models"
DECIDE = "Decide: may it be released"
REDUCE = "Reduce: labels that make retrainings agree"
STUDY = "Study: which method is worth it, on your data"
DATA = "Data"

COLUMNS = {"Columns": "--id --prediction --label --probabilities --positive --threshold"}
TEXT = {"Text files": "--delimiter --decimal --encoding"}
SLICES = {"Slices and clusters": "--slices --min-slice --cluster"}
EXECUTION = {"Execution": "--config --workers --engine --ray-address --dry-run"}
ANSWER = "--json --markdown --flips --html"

# The options of a command by what they are for, in the order in which they are shown.
PANELS = {
    "demo": {"How much is trained": "--runs --epochs --workers", "Output": "--out"},
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
        "What is to be seen": "--accuracy-loss --excess --power",
        "How much retraining moves": "--churn --floor-sd --retrains --retrains-count --min-overlap",
        **COLUMNS,
        **TEXT,
        "Output": "--json",
    },
    "smooth": {"Smoothing": "-k -a -b", **TEXT, "Output": "--output"},
    "bench": {
        "Input": "--target --aside --delimiter --decimal --encoding",
        "What is trained": "--methods --preset --model --model-args",
        "How it is trained": "--runs --epochs --batch-size --learning-rate --device --seed",
        "How a setting is chosen": "--select-on --max-churn --max-bad-flips",
        "What happens between two models": "--scenario --share --same-seed --base-share "
        "--per-base --base-column --time --split --every --base --id",
        **EXECUTION,
        "Output": "--out",
    },
    "report": {"Output": "--output"},
    "reproduce": {
        "What is trained": "--dataset --methods --runs --epochs --subset --quick",
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
    """The end of a command's help, in Markdown: lines that are code stay as they are."""
    return "\n".join(["Examples:", "", "```", *EXAMPLES[command], "```"])
