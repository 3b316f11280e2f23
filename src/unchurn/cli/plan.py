"""`unchurn plan`: how many rows and retrainings are needed to detect a difference?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from unchurn.cli.options import (
    AsJson,
    Decimal,
    Delimiter,
    Encoding,
    Id,
    MinOverlap,
    Prediction,
    Probabilities,
    make_columns,
    make_form,
)
from unchurn.report.numbers import fine_percent, limit_percent

if TYPE_CHECKING:
    from unchurn.gate.sample_size import ExcessPlan, LossPlan, Noise


def plan(
    accuracy_loss: Annotated[
        float | None, typer.Option(help="Loss of accuracy to detect, or to rule out.")
    ] = None,
    excess: Annotated[
        float | None, typer.Option(help="Churn beyond that of retraining alone, to detect.")
    ] = None,
    churn: Annotated[
        float | None, typer.Option(help="Expected churn of a retraining; 0.03 by default.")
    ] = None,
    floor_sd: Annotated[
        float | None,
        typer.Option(help="Standard deviation of churn between retrainings; churn/20 by default."),
    ] = None,
    retrains: Annotated[
        list[Path] | None,
        typer.Option(help="Measure both from retrainings: three files or more, or a bench folder."),
    ] = None,
    retrains_count: Annotated[
        int | None, typer.Option(help="Number of retrainings; if not given, several are planned.")
    ] = None,
    id_: Id = None,
    prediction: Prediction = None,
    probabilities: Probabilities = None,
    min_overlap: MinOverlap = 0.5,
    delimiter: Delimiter = None,
    decimal: Decimal = None,
    encoding: Encoding = None,
    power: Annotated[float, typer.Option(help="Probability of detecting the difference.")] = 0.8,
    as_json: AsJson = False,
) -> None:
    """Plan a comparison: how many rows and retrainings does it take to detect a difference?

    The difference is a loss of accuracy or excess churn. All numbers are fractions: 0.005 is half a
    percentage point.
    """
    options = locals()
    from unchurn.core.errors import InputError
    from unchurn.gate.sample_size import RETRAINS, plan_excess, plan_loss

    if accuracy_loss is None and excess is None:
        raise InputError("what is to be seen? Give --accuracy-loss, --excess or both")
    noise = _noise(retrains or [], options, churn, floor_sd)
    loss = None if accuracy_loss is None else plan_loss(accuracy_loss, noise.churn, power)
    counts = RETRAINS if retrains_count is None else [retrains_count]
    beyond = None if excess is None else plan_excess(excess, noise, power, counts)
    if as_json:
        plans = {"accuracy_loss": loss, "excess": beyond}
        typer.echo(json.dumps({k: p and p.to_dict() for k, p in plans.items()}, indent=1))
        return
    how = "as measured" if retrains else "as expected"
    typer.echo(f"churn of a retraining  {fine_percent(noise.churn)}, {how}; power {power:.0%}")
    if loss is not None:
        _show_loss(loss)
    if beyond is not None:
        _show_excess(beyond)


def _noise(
    files: list[Path], options: dict[str, Any], churn: float | None, floor_sd: float | None
) -> Noise:
    """The churn of retraining: measured from files, as given, or the defaults."""
    from unchurn.core.errors import InputError
    from unchurn.gate.sample_size import CHURN, Noise

    if not files:
        churn = CHURN if churn is None else churn
        return Noise.assumed(churn) if floor_sd is None else Noise(churn, floor_sd)
    if churn is not None or floor_sd is not None:
        raise InputError("--retrains measures churn and its sd: give them or the files, not both")
    from unchurn.comparison.inputs.column_options import asked_of
    from unchurn.comparison.inputs.ids.aliases import split_aliases, with_first_names
    from unchurn.comparison.inputs.ids.joint import with_joint_id
    from unchurn.comparison.inputs.ids.matching import how_joined
    from unchurn.comparison.inputs.predictions import read_predictions
    from unchurn.comparison.inputs.sources import open_source
    from unchurn.comparison.noise.floor import moved_from_each, retraining_files

    columns, form = make_columns(options), make_form(options)
    sources = [open_source(path, str(path), form) for path in retraining_files(files)]
    columns, aliases = split_aliases(columns, sources[0])
    sources = [with_joint_id(with_first_names(s, aliases), columns.id) for s in sources]
    columns, by_index = how_joined(sources, columns)
    if len(sources) < 3:
        raise InputError("--retrains: give three files or more: a base and two to compare with it")
    models = [
        read_predictions(s, s.name, asked_of(s, sources, columns), by_index=by_index)
        for s in sources
    ]
    return Noise.of(*moved_from_each(models, options["min_overlap"]))


def _show_loss(plan: LossPlan) -> None:
    size = limit_percent(plan.loss)
    typer.echo(f"\nlabelled rows to see a loss of accuracy of {size}")
    typer.echo(f"  {plan.to_see:>13,}  so that the 95 % interval excludes zero")
    typer.echo(
        f"  {plan.to_rule_out:>13,}  to pass --max-accuracy-loss {plan.loss:g} when nothing is lost"
    )


def _sd(noise: Noise) -> str:
    """The standard deviation in words; if it was measured, with its uncertainty."""
    from unchurn.gate.sample_size import SURE

    if noise.sd_limit is None:
        return fine_percent(noise.sd)
    limit = f"with a probability of {SURE:.0%} at most {fine_percent(noise.sd_limit)}"
    return f"{fine_percent(noise.sd)} as measured, {limit}: planned with that"


def _show_excess(plan: ExcessPlan) -> None:
    """Print the rows needed for each number of retrainings: the two trade off, up to a point."""
    typer.echo(
        f"\nrows, without labels, to see {limit_percent(plan.excess)} beyond one more retraining"
    )
    typer.echo(f"(the standard deviation of churn between retrainings is {_sd(plan.noise)})")
    typer.echo(f"  {'retrainings':>11}  {'rows':>13}")
    for size in plan.sizes:
        rows = "none enough" if size.rows is None else f"{size.rows:,}"
        note = "" if size.rows is not None else f"  at best seen {size.at_best:.0%} of the time"
        typer.echo(f"  {size.retrains:>11}  {rows:>13}{note}")
    most = max(size.retrains for size in plan.sizes)
    if all(size.rows is None for size in plan.sizes):
        from unchurn.gate.sample_size import least_excess

        least = least_excess(plan.noise, most, plan.power)
        typer.echo(
            "A candidate is itself one draw of training: "
            + (
                f"{most} retrainings show no less than {fine_percent(least)}."
                if least
                else "retrain more."
            )
        )
