"""What `--help` shows: options whole at 80 columns, no type of a switch, examples at the end."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from typer.core import TyperCommand, TyperGroup, TyperOption

if TYPE_CHECKING:
    from collections.abc import Iterable

EXAMPLES = {
    "": (
        "unchurn demo",
        "unchurn compare production.parquet candidate.parquet",
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
        "unchurn bench table.csv --target label",
        'unchurn bench digits --methods "control,knn_ls(k=5)+ema,mixup" --runs 3',
        "unchurn bench table.csv --target label --preset grid --dry-run",
        "unchurn bench t.csv --target y --scenario upgrade --time year --split 2024",
        "unchurn bench t.csv --target y --scenario upgrade --base old.csv --id user",
        "unchurn bench t.csv --target y --scenario replay --time day --every 30d",
        "unchurn bench --model sklearn.ensemble:ExtraTreesClassifier",
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
    return "\n".join(["Examples:", "", "```sh", *EXAMPLES[command], "```"])


class Command(TyperCommand):
    """A command whose help leaves room for the names of its options."""

    def get_params(self, ctx: Any) -> list[Any]:
        """All parameters, --help too."""
        return _shortened(super().get_params(ctx))


class Group(TyperGroup):
    """The same for a group of commands."""

    def get_params(self, ctx: Any) -> list[Any]:
        """All parameters, --help too."""
        return _shortened(super().get_params(ctx))


def _shortened(params: Iterable[Any]) -> list[Any]:
    """Parameters whose types take no more room than they are worth: a long name would be cut."""
    params = list(params)
    for param in params:
        if isinstance(param, TyperOption) and param.metavar is None:
            if param.is_flag or param.min is not None or param.max is not None:
                param.metavar = ""  # nothing is given, or its range is shown
            elif param.multiple:
                param.metavar = "<paths>"
    return params
